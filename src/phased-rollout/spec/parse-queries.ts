import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { SpecFields } from '#base/spec-fields.ts';
import { type GateQuerySpec, judgementIn, trustIn } from '#check/prometheus/query-spec.ts';
import type { AdditionalQuerySpec } from '../api.ts';

/** More would be asked at the same time than one step has any use for. */
export const mostAdditionalQueries = 16;

const listPath = 'spec.check.additionalQueries';

/**
 * Returns the queries of `check` in addition to its `first`. One without a URL is asked where the first is, with what that has of
 * certificates, headers and credentials; one with a URL has its own: credentials never go to a server that they were not written for.
 */
export function additionalQueriesOf(
  check: JsonObject,
  first: GateQuerySpec,
  fields: SpecFields,
): { readonly additionalQueries?: readonly AdditionalQuerySpec[] } {
  const written = check['additionalQueries'] ?? [];
  if (!Array.isArray(written)) {
    fields.refuse(listPath, 'must be a list of queries', written);
    return {};
  }
  if (written.length > mostAdditionalQueries) {
    const wanted = `must be a list of at most ${mostAdditionalQueries} queries`;
    fields.refuse(listPath, wanted, written.length);
  }
  const queries = written.slice(0, mostAdditionalQueries).map((each, index) => {
    const path = `${listPath}[${index}]`;
    if (!isJsonObject(each)) fields.refuse(path, 'must be a query with name and expr', each);
    return additionalQueryOf(isJsonObject(each) ? each : {}, { path, first, fields });
  });
  const names = ['query', ...queries.map(({ name }) => name)];
  const again = names.findIndex((name, index) => name !== '' && names.indexOf(name) < index);
  if (again > 0) {
    fields.refuse(
      `${listPath}[${again - 1}].name`,
      'must be the name of no other query of the check, the first of which is "query"',
      names[again],
    );
  }
  return queries.length === 0 ? {} : { additionalQueries: queries };
}

function additionalQueryOf(
  written: JsonObject,
  {
    path,
    first,
    fields,
  }: { readonly path: string; readonly first: GateQuerySpec; readonly fields: SpecFields },
): AdditionalQuerySpec {
  const url = fields.text(written, `${path}.url`, '') || undefined;
  const trust = trustIn(written, path, fields);
  if (url === undefined && !isNothing(trust)) {
    const wanted = 'must be set where secretRef, headers or insecureSkipVerify is';
    fields.refuse(`${path}.url`, wanted, undefined);
  }
  return {
    name: fields.text(written, `${path}.name`) ?? '',
    expr: fields.text(written, `${path}.expr`) ?? '',
    url: url ?? first.url,
    ...(url === undefined ? trustOf(first) : trust),
    ...judgementIn(written, path, fields),
  };
}

type Trust = ReturnType<typeof trustIn>;

function trustOf({ insecureSkipVerify, secretRef, headers }: GateQuerySpec): Trust {
  return { insecureSkipVerify, secretRef, ...(headers !== undefined && { headers }) };
}

function isNothing({ insecureSkipVerify, secretRef, headers }: Trust): boolean {
  return !insecureSkipVerify && secretRef === undefined && headers === undefined;
}
