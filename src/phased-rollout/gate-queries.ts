import { type GateQuery, questionId } from '#check/ask-queries.ts';
import type { Rule } from '#check/plan-reading.ts';
import { readPrometheusUrl } from '#check/prometheus-url.ts';
import type { GateQuerySpec, PhasedRolloutSpec } from './api.ts';

/** One query of a gate, and by which Secret it is asked. */
export interface SecuredQuery extends GateQuery {
  /** Name of the Secret with credentials; undefined for none. */
  readonly secretRef: string | undefined;
}

/** What the gate of one spec asks. */
export interface GateQueries {
  readonly queries: readonly SecuredQuery[];
  /** Names them, see `questionId`. */
  readonly id: string;
  /** Names of the Secrets that they are asked by, each once. */
  readonly secrets: readonly string[];
  /** Why one of them cannot be asked at its URL; undefined where all can be tried. */
  readonly urlProblem: string | undefined;
}

/** By the spec as it was parsed, which is one object for as long as its resource is not changed. */
const known = new WeakMap<PhasedRolloutSpec, GateQueries>();

/**
 * Returns what the gate of `spec` asks: the queries that must all pass. An answer passes where it finds anything (P13); with
 * bounds of ours, where each value is within them.
 */
export function gateQueries(spec: PhasedRolloutSpec): GateQueries {
  const found = known.get(spec) ?? madeOf(spec);
  known.set(spec, found);
  return found;
}

/** A query as it is called, and where it stands in the spec. */
interface Placed {
  readonly name: string;
  readonly path: string;
  readonly query: GateQuerySpec;
}

function placedIn({ query, additionalQueries = [] }: PhasedRolloutSpec): readonly Placed[] {
  return [
    { name: 'query', path: 'spec.check.query', query },
    ...additionalQueries.map((each, index) => ({
      name: each.name,
      path: `spec.check.additionalQueries[${index}]`,
      query: each,
    })),
  ];
}

function madeOf(spec: PhasedRolloutSpec): GateQueries {
  const placed = placedIn(spec);
  const queries = placed.map(queryOf);
  const secrets = queries.flatMap(({ secretRef }) => secretRef ?? []);
  const [urlProblem] = placed.flatMap(({ path, query: { url } }) => {
    const reading = readPrometheusUrl(url);
    return reading.kind === 'malformed' ? [`${path}.url is no URL: ${reading.why}`] : [];
  });
  return { queries, id: questionId(queries), secrets: [...new Set(secrets)], urlProblem };
}

function queryOf({ name, query }: Placed): SecuredQuery {
  const { url, expr, insecureSkipVerify, secretRef, bounds, isNoDataGood } = query;
  const candidate = { url, expr, ...(insecureSkipVerify && { isInsecure: true }) };
  const rule: Rule = {
    ...(bounds !== undefined && { bounds }),
    ...(isNoDataGood === true && { onNoData: 'passes' }),
  };
  return { name, candidate, rule, secretRef };
}
