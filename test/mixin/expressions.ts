/** Reads what an expression of Prometheus asks for; promtool says whether it is one. */

/** One choice of series, such as `up{job="a"}`. */
export interface Selector {
  readonly metric: string;
  readonly matchers: readonly Matcher[];
}

/** One condition on a label. */
export interface Matcher {
  readonly label: string;
  readonly operator: '=' | '!=' | '=~' | '!~';
  readonly value: string;
}

/** What an expression asks for. */
export interface Asked {
  readonly selectors: readonly Selector[];
  /** Labels that it groups or joins by. */
  readonly groupings: readonly string[];
}

const token =
  /"(?:[^"\\]|\\.)*"|[a-zA-Z_:][a-zA-Z0-9_:]*|\d[\w.]*|=~|!~|!=|>=|<=|==|[{}()[\],=+\-*/%^<>:]/g;
const name = /^[a-zA-Z_:]/;
/** How far back, such as `[5m]`. */
const range = /\[[^\]"]*\]/g;
/** Words that are before labels in parentheses. */
const groupingWords = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right']);
/** Words that are between two operands, or after one. */
const otherWords = new Set(['and', 'or', 'unless', 'bool', 'offset', 'inf', 'nan']);

/** What `expression` asks for. @throws {Error} where it has a sign that no expression of the mixin has */
export function asked(expression: string): Asked {
  const tokens = tokensOf(expression.replaceAll(range, ''));
  const selectors: Selector[] = [];
  const groupings: string[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const word = tokens[at] ?? '';
    if (groupingWords.has(word)) {
      const labels = bracketed(tokens, at, '(', ')');
      groupings.push(...labels.filter((each) => name.test(each)));
      at += labels.length + 1;
    } else if (isMetric(tokens, at)) {
      const matchers = bracketed(tokens, at, '{', '}');
      selectors.push({ metric: word, matchers: matchersOf(matchers) });
      // What is behind a metric is no metric.
      at += matchers.length + 1;
    }
  }
  return { selectors, groupings };
}

/** The tokens between the brackets behind `at`; none where there are none. */
function bracketed(
  tokens: readonly string[],
  at: number,
  ...[open, close]: readonly [open: string, close: string]
): readonly string[] {
  return tokens[at + 1] === open ? tokens.slice(at + 2, tokens.indexOf(close, at)) : [];
}

/** Whether a name is that of a metric: no function, no aggregation, no operator. */
function isMetric(tokens: readonly string[], at: number): boolean {
  const word = tokens[at] ?? '';
  const isCalled = tokens[at + 1] === '(' || isAggregation(tokens, at);
  return name.test(word) && !isCalled && !otherWords.has(word);
}

/** `sum by (…)` has its parentheses after the labels. */
function isAggregation(tokens: readonly string[], at: number): boolean {
  const next = tokens[at + 1];
  return next === 'by' || next === 'without';
}

function tokensOf(expression: string): readonly string[] {
  const rest = expression.replace(token, '').trim();
  if (rest !== '') throw new Error(`Cannot read ${JSON.stringify(rest)} in ${expression}`);
  return expression.match(token) ?? [];
}

function matchersOf(tokens: readonly string[]): readonly Matcher[] {
  const matchers: Matcher[] = [];
  for (let at = 0; at < tokens.length; at += 4) {
    const [label = '', operator = '', value = ''] = tokens.slice(at, at + 3);
    matchers.push({ label, operator: operatorOf(operator), value: JSON.parse(value) as string });
  }
  return matchers;
}

function operatorOf(text: string): Matcher['operator'] {
  if (text === '=' || text === '!=' || text === '=~' || text === '!~') return text;
  throw new Error(`"${text}" is no operator of a matcher`);
}

/** Whether a series whose label has `value` is chosen; an absent label has the empty value. */
export function isMatched({ operator, value: wanted }: Matcher, value: string): boolean {
  const isEqual =
    operator === '=' || operator === '!='
      ? value === wanted
      : new RegExp(`^(?:${wanted})$`).test(value);
  return operator.startsWith('=') ? isEqual : !isEqual;
}
