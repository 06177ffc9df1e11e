import type { GateQuery } from '../prometheus/ask-queries.ts';
import type { Rule } from '../prometheus/plan-reading.ts';
import type { PrometheusQuestion } from '../prometheus/prometheus.ts';
import type { GateQuerySpec } from '../prometheus/query-spec.ts';
import type { Credentials } from './credentials.ts';

/** A query, and by which Secret it is asked. */
export interface SecuredQuery extends GateQuery {
  /** Name of the Secret with credentials; undefined for none. */
  readonly secretRef: string | undefined;
}

/** Returns the query that `spec` describes, called `name` in messages. */
export function securedQuery(name: string, spec: GateQuerySpec): SecuredQuery {
  const { url, expr, insecureSkipVerify, secretRef, bounds, isNoDataGood } = spec;
  const candidate = { url, expr, ...(insecureSkipVerify && { isInsecure: true }) };
  const rule: Rule = {
    ...(bounds !== undefined && { bounds }),
    ...(isNoDataGood === true && { onNoData: 'passes' }),
  };
  return { name, candidate, rule, secretRef };
}

/** Returns `query` with what its Secret in `namespace` was seen to say, which may be nothing. */
export function authorized(
  { secretRef, candidate, ...query }: SecuredQuery,
  namespace: string,
  credentials: Pick<Credentials, 'of'>,
): GateQuery<PrometheusQuestion> {
  const known = secretRef === undefined ? undefined : credentials.of(namespace, secretRef);
  const authorization = known?.kind === 'valid' ? known.value : undefined;
  return {
    ...query,
    candidate: { ...candidate, ...(authorization !== undefined && { authorization }) },
  };
}
