import type { JsonObject } from '#base/json.ts';
import type { SpecFields } from '#base/spec-fields.ts';
import { objectAt } from '#statefulset/parse-fields.ts';
import type { Bounds } from './plan-reading.ts';
import { type QueryHeader, queryHeadersOf } from './query-headers.ts';

/** One query of Prometheus that a resource names. */
export interface GateQuerySpec {
  /** PromQL, as it is written. */
  readonly expr: string;
  /** As it is written; see `readPrometheusUrl`. */
  readonly url: string;
  readonly insecureSkipVerify: boolean;
  /** Name of the Secret with credentials; undefined for none. */
  readonly secretRef: string | undefined;
  /** Headers that are sent with it; at least one where they are there. Ours. @default none */
  readonly headers?: readonly QueryHeader[];
  /** What every value must be within, both ends in; absent: any data passes. Ours. */
  readonly bounds?: Bounds;
  /** Whether a query that finds nothing passes. Ours. @default false */
  readonly isNoDataGood?: boolean;
}

/** Returns the query that `written` is, which is at `path`. */
export function querySpecOf(written: JsonObject, path: string, fields: SpecFields): GateQuerySpec {
  return {
    expr: fields.text(written, `${path}.expr`) ?? '',
    url: fields.text(written, `${path}.url`) ?? '',
    ...judgementIn(written, path, fields),
    ...trustIn(written, path, fields),
  };
}

/** Returns how the server of a query is trusted, and by which Secret and with which headers it is asked. */
export function trustIn(
  written: JsonObject,
  path: string,
  fields: SpecFields,
): Pick<GateQuerySpec, 'insecureSkipVerify' | 'secretRef' | 'headers'> {
  // The peer takes an empty name for none.
  const secretRef = fields.text(written, `${path}.secretRef`, '') || undefined;
  const { headers } = queryHeadersOf(written, path, fields);
  if (secretRef === undefined && headers?.some((each) => 'secretKey' in each) === true) {
    fields.refuse(`${path}.secretRef`, 'must be set where a header has a secretKey', undefined);
  }
  return {
    insecureSkipVerify: fields.flag(written, `${path}.insecureSkipVerify`),
    secretRef,
    ...(headers !== undefined && { headers }),
  };
}

/** Returns how the answer to a query is judged. */
export function judgementIn(
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
