import type { Problem } from '#base/parsed.ts';
import type { GateQuery } from '../prometheus/ask-queries.ts';
import type { Rule } from '../prometheus/plan-reading.ts';
import type { PrometheusQuestion } from '../prometheus/prometheus.ts';
import type { GateQuerySpec } from '../prometheus/query-spec.ts';
import type { Credentials, KnownCredentials } from './credentials.ts';
import { parseHeaderValue } from './header-value.ts';

/** A query, and by which Secret it is asked. */
export interface SecuredQuery extends GateQuery {
  /** Name of the Secret with credentials; undefined for none. */
  readonly secretRef: string | undefined;
}

/** Returns the query that `spec` describes, called `name` in messages. */
export function securedQuery(name: string, spec: GateQuerySpec): SecuredQuery {
  const { url, expr, insecureSkipVerify, secretRef, headers, bounds, isNoDataGood } = spec;
  const candidate = {
    url,
    expr,
    ...(insecureSkipVerify && { isInsecure: true }),
    ...(headers !== undefined && { headers }),
  };
  const rule: Rule = {
    ...(bounds !== undefined && { bounds }),
    ...(isNoDataGood === true && { onNoData: 'passes' }),
  };
  return { name, candidate, rule, secretRef };
}

/** Returns what keeps `query` from being asked by its Secret in `namespace`; undefined where nothing is known to. */
export function secretProblem(
  query: SecuredQuery,
  namespace: string,
  credentials: Pick<Credentials, 'of'>,
): Problem | undefined {
  const { secretRef } = query;
  const known = secretRef === undefined ? undefined : credentials.of(namespace, secretRef);
  if (secretRef === undefined || known === undefined) return undefined;
  if (known.kind === 'invalid') return known.problem;
  for (const key of secretKeysOf(query)) {
    const parsed = parseHeaderValue(secretRef, key, known.value.values);
    if (parsed.kind === 'invalid') return parsed.problem;
  }
  return undefined;
}

/** Returns `query` with what its Secret in `namespace` was seen to say, which may be nothing. */
export function authorized(
  query: SecuredQuery,
  namespace: string,
  credentials: Pick<Credentials, 'of'>,
): GateQuery<PrometheusQuestion> {
  const { secretRef, candidate, ...rest } = query;
  const known = secretRef === undefined ? undefined : credentials.of(namespace, secretRef);
  if (secretRef === undefined || known?.kind !== 'valid') return { ...rest, candidate };
  return { ...rest, candidate: { ...candidate, ...secretsOf(query, secretRef, known.value) } };
}

function secretsOf(
  query: SecuredQuery,
  secretRef: string,
  { authorization, values }: KnownCredentials,
): Pick<PrometheusQuestion, 'authorization' | 'secretValues'> {
  const secretValues = secretKeysOf(query).flatMap((key) => {
    const parsed = parseHeaderValue(secretRef, key, values);
    return parsed.kind === 'valid' ? [[key, parsed.value] as const] : [];
  });
  return {
    ...(authorization !== undefined && { authorization }),
    ...(secretValues.length > 0 && { secretValues: Object.fromEntries(secretValues) }),
  };
}

function secretKeysOf({ candidate: { headers = [] } }: SecuredQuery): readonly string[] {
  return headers.flatMap((each) => ('secretKey' in each ? [each.secretKey] : []));
}
