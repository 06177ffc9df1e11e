import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { Problem } from '#base/parsed.ts';
import { quoted } from '#base/text/quoted.ts';
import { checkRequestUri } from '#check/prometheus/prometheus-url.ts';
import { arrayAt, objectAt } from '#statefulset/parse-fields.ts';
import { problemsOfOurs } from '../api.ts';
import { mostAdditionalQueries } from './parse-queries.ts';
import { promqlProblem } from './promql.ts';

/** Where the query is that the peer knows, too. */
const queryPath = 'spec.check.query';

/**
 * Returns what the webhook refuses of a PhasedRollout, all at once. Of what the peer knows that is, as there, an expression that
 * is no PromQL and a URL that is no request URI; of the fields of ours, whatever is wrong. An object that is being deleted is not looked at: it must be able to lose its finalizer.
 */
export function admissionProblems(object: JsonObject): readonly Problem[] {
  if (typeof objectAt(object, 'metadata')['deletionTimestamp'] === 'string') return [];
  const check = objectAt(objectAt(object, 'spec'), 'check');
  const query = objectAt(check, 'query');
  return [
    ...exprProblems(query['expr'], `${queryPath}.expr`),
    ...urlProblems(query['url'], `${queryPath}.url`),
    ...additionalProblems(arrayAt(check, 'additionalQueries')),
    ...problemsOfOurs(object),
  ];
}

/** What is missing, or of a wrong type, is reported by {@link problemsOfOurs}. */
function additionalProblems(queries: readonly JsonValue[]): readonly Problem[] {
  return queries.slice(0, mostAdditionalQueries).flatMap((each, index) => {
    const path = `spec.check.additionalQueries[${index}]`;
    const { expr, url } = isJsonObject(each) ? each : {};
    return [
      ...(isText(expr) ? exprProblems(expr, `${path}.expr`) : []),
      ...(isText(url) ? urlProblems(url, `${path}.url`) : []),
    ];
  });
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== '';
}

function exprProblems(expr: unknown, path: string): readonly Problem[] {
  const text = typeof expr === 'string' ? expr : '';
  const why = promqlProblem(text);
  if (why === undefined) return [];
  return [{ path, message: `must be PromQL: got ${quoted(text)}, and at ${why}` }];
}

function urlProblems(url: unknown, path: string): readonly Problem[] {
  const parsed = checkRequestUri(typeof url === 'string' ? url : '', path);
  return parsed.kind === 'invalid' ? [parsed.problem] : [];
}
