import { quoted } from '#base/text/quoted.ts';
import { loadPromQl } from './load-promql.ts';

/**
 * Longer ones are not checked, in UTF-16 code units: from some 700 operands on, which do not fit into as many, the parser
 * gives up what is nested too deep, and would refuse what is right.
 */
const longestChecked = 2_048;

/**
 * Returns what is wrong with a PromQL expression, as `line:column: …`, or undefined. The grammar is that of Prometheus 3.5,
 * as the peer's; types are not looked at, so that what only they forbid is refused by the server that is asked.
 */
export function promqlProblem(expr: string): string | undefined {
  if (expr.length > longestChecked) return undefined;
  const at = firstError(withPlainNumbers(expr));
  if (at === undefined) return undefined;
  // Numbers that are written again move what is behind them.
  const shown = firstError(expr) ?? at;
  const before = expr.slice(0, shown);
  const line = before.split('\n').length;
  const column = shown - before.lastIndexOf('\n');
  const rest = expr.slice(shown).trimStart();
  const what = rest === '' ? 'unexpected end' : `unexpected ${quoted(rest.slice(0, 20))}`;
  return `${line}:${column}: ${what}`;
}

/**
 * Returns the query with numbers that the grammar knows; it lacks some that Go has: `5.`, `1.e2`, `0x1_f`. What this changes
 * in texts does not matter.
 */
function withPlainNumbers(expr: string): string {
  return expr.replaceAll(/\b0x[\da-f_]+/gi, '1').replaceAll(/(\b\d+)\.(?!\d)/g, '$1.0');
}

/** Returns where the first error is; undefined where there is none. */
function firstError(expr: string): number | undefined {
  const cursor = loadPromQl().parser.parse(expr).cursor();
  do {
    if (cursor.type.isError) return cursor.from;
  } while (cursor.next());
  return undefined;
}
