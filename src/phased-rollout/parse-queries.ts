import { isJsonObject, type JsonObject } from '#base/json.ts';
import { objectAt } from '#statefulset/parse-fields.ts';
import type { AdditionalQuerySpec, GateQuerySpec } from './api.ts';
import type { SpecFields } from './spec-fields.ts';

/** More would be asked at the same moment than one step has any use for. */
export const mostAdditionalQueries = 16;

const listPath = 'spec.check.additionalQueries';

/** Returns the query that `written` is, which stands at `path`. */
export function queryOf(written: JsonObject, path: string, fields: SpecFields): GateQuerySpec {
  return {
    expr: fields.text(written, `${path}.expr`) ?? '',
    url: fields.text(written, `${path}.url`) ?? '',
    ...judgedBy(written, path, fields),
    ...trustOf(written, path, fields),
  };
}

/**
 * Returns the queries of `check` beside its `first`. One without a URL is asked where the first is, with what that has of
 * certificates and credentials; one with a URL has its own: credentials never go to a server that they were not written for.
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
  const trust = trustOf(written, path, fields);
  if (url === undefined && (trust.secretRef !== undefined || trust.insecureSkipVerify)) {
    const wanted = 'must stand where secretRef or insecureSkipVerify does';
    fields.refuse(`${path}.url`, wanted, undefined);
  }
  const { insecureSkipVerify, secretRef } = url === undefined ? first : trust;
  return {
    name: fields.text(written, `${path}.name`) ?? '',
    expr: fields.text(written, `${path}.expr`) ?? '',
    url: url ?? first.url,
    insecureSkipVerify,
    secretRef,
    ...judgedBy(written, path, fields),
  };
}

function trustOf(
  written: JsonObject,
  path: string,
  fields: SpecFields,
): Pick<GateQuerySpec, 'insecureSkipVerify' | 'secretRef'> {
  return {
    insecureSkipVerify: fields.flag(written, `${path}.insecureSkipVerify`),
    // An empty name is none (P7).
    secretRef: fields.text(written, `${path}.secretRef`, '') || undefined,
  };
}

function judgedBy(
  written: JsonObject,
  path: string,
  fields: SpecFields,
): Pick<GateQuerySpec, 'bounds' | 'isNoDataGood'> {
  const onNoData = fields.word(written, `${path}.onNoData`, ['Fail', 'Pass']);
  return {
    ...boundsOf(written, `${path}.thresholdRange`, fields),
    ...(onNoData === 'Pass' && { isNoDataGood: true }),
  };
}

function boundsOf(
  query: JsonObject,
  path: string,
  fields: SpecFields,
): Pick<GateQuerySpec, 'bounds'> {
  const written = query['thresholdRange'] ?? undefined;
  if (written === undefined) return {};
  const range = objectAt(query, 'thresholdRange');
  const [min, max] = [fields.number(range, `${path}.min`), fields.number(range, `${path}.max`)];
  if (min === undefined && max === undefined) {
    fields.refuse(path, 'must have a number as min, or as max, or both', written);
  }
  if (min !== undefined && max !== undefined && min > max) {
    fields.refuse(`${path}.min`, `must not be above max, which is ${max}`, min);
  }
  return { bounds: { ...(min !== undefined && { min }), ...(max !== undefined && { max }) } };
}
