import type { JsonObject } from '#base/json.ts';
import type { Problem } from '#base/parsed.ts';
import { quoted } from '#base/quoted.ts';
import { checkRequestUri } from '#check/prometheus-url.ts';
import { objectAt } from '#statefulset/parse-fields.ts';
import { promqlProblem } from './promql.ts';

/** Paths of the fields that are checked (A3). */
const paths = { expr: 'spec.check.query.expr', url: 'spec.check.query.url' } as const;

/**
 * Returns what the peer's webhook refuses of a PhasedRollout, both at once: an expression that is no PromQL, and a URL that is
 * no request URI (A2). An object that is being deleted is not looked at: it must be able to lose its finalizer (W20).
 */
export function admissionProblems(object: JsonObject): readonly Problem[] {
  if (typeof objectAt(object, 'metadata')['deletionTimestamp'] === 'string') return [];
  const query = objectAt(objectAt(objectAt(object, 'spec'), 'check'), 'query');
  return [...exprProblems(query['expr']), ...urlProblems(query['url'])];
}

function exprProblems(expr: unknown): readonly Problem[] {
  const text = typeof expr === 'string' ? expr : '';
  const why = promqlProblem(text);
  if (why === undefined) return [];
  return [{ path: paths.expr, message: `must be PromQL: got ${quoted(text)}, and at ${why}` }];
}

function urlProblems(url: unknown): readonly Problem[] {
  const parsed = checkRequestUri(typeof url === 'string' ? url : '', paths.url);
  return parsed.kind === 'invalid' ? [parsed.problem] : [];
}
