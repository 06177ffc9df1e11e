import { type SecuredQuery, securedQuery } from '#check/credentials/secured-query.ts';
import { questionId } from '#check/prometheus/ask-queries.ts';
import { readPrometheusUrl } from '#check/prometheus/prometheus-url.ts';
import type { GateQuerySpec } from '#check/prometheus/query-spec.ts';
import type { PhasedRolloutSpec } from '../api.ts';

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

/** Keyed by the spec as it was parsed, which is one object for as long as its resource is not changed. */
const known = new WeakMap<PhasedRolloutSpec, GateQueries>();

/**
 * Returns what the gate of `spec` asks: the queries that must all pass. An answer passes where it finds anything; with
 * bounds of ours, where each value is within them.
 */
export function gateQueries(spec: PhasedRolloutSpec): GateQueries {
  const found = known.get(spec) ?? madeOf(spec);
  known.set(spec, found);
  return found;
}

/** A query as it is called, and where it is in the spec. */
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
  const queries = placed.map(({ name, query }) => securedQuery(name, query));
  const secrets = queries.flatMap(({ secretRef }) => secretRef ?? []);
  const [urlProblem] = placed.flatMap(({ path, query: { url } }) => {
    const reading = readPrometheusUrl(url);
    return reading.kind === 'malformed' ? [`${path}.url is not a URL: ${reading.why}`] : [];
  });
  return { queries, id: questionId(queries), secrets: [...new Set(secrets)], urlProblem };
}
