import { type GateQuery, questionId } from '#check/ask-queries.ts';
import type { Rule } from '#check/plan-reading.ts';
import { readPrometheusUrl } from '#check/prometheus-url.ts';
import type { PhasedRolloutSpec } from './api.ts';

/** What the gate of one spec asks. */
export interface GateQueries {
  readonly queries: readonly GateQuery[];
  /** Names them, see `questionId`. */
  readonly id: string;
  /** Why nothing can be asked at that URL; undefined where it can be tried. */
  readonly urlProblem: string | undefined;
}

/** By the spec as it was parsed, which is one object for as long as its resource is not changed. */
const known = new WeakMap<PhasedRolloutSpec, GateQueries>();

/**
 * Returns what the gate of `spec` asks: one query, whose answer passes where it finds anything (P13); with bounds of ours, where
 * each value is within them.
 */
export function gateQueries(spec: PhasedRolloutSpec): GateQueries {
  const found = known.get(spec) ?? madeOf(spec);
  known.set(spec, found);
  return found;
}

function madeOf({ query }: PhasedRolloutSpec): GateQueries {
  const { url, expr, insecureSkipVerify, bounds, isNoDataGood } = query;
  const candidate = { url, expr, ...(insecureSkipVerify && { isInsecure: true }) };
  const rule: Rule = {
    ...(bounds !== undefined && { bounds }),
    ...(isNoDataGood === true && { onNoData: 'passes' }),
  };
  const queries = [{ name: 'query', candidate, rule }];
  const reading = readPrometheusUrl(url);
  const urlProblem =
    reading.kind === 'malformed' ? `spec.check.query.url is no URL: ${reading.why}` : undefined;
  return { queries, id: questionId(queries), urlProblem };
}
