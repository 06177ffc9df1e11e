/**
 * Selectors of labels and fields, in the forms that requests and objects have them. The folder matches, and reads no
 * store.
 */
import { assertNever } from '#base/assert-never.ts';
import type { JsonObject } from '#base/json.ts';
import { isJsonArray, isJsonObject } from '#base/json.ts';
import { badRequest } from '../errors/status-errors.ts';
import { isLabelValue, isQualifiedName } from '../schema/name-formats.ts';

/** Labels of an object. */
export type Labels = Readonly<Record<string, string>>;

/** One condition of a label selector; `values` is empty for Exists and DoesNotExist, one integer for Gt and Lt. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';
  readonly values: readonly string[];
}

/** A parsed selector: all `requirements` must hold. An `In` of one value may be answered from an index. */
export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[];
  readonly matches: (labels: Labels) => boolean;
}

const everything: LabelSelector = Object.freeze({ requirements: [], matches: () => true });
const nothing: LabelSelector = Object.freeze({ requirements: [], matches: () => false });

/**
 * Returns the predicate of a `labelSelector` parameter (OB-15); empty text matches everything.
 *
 * @throws {StatusError} 400 when the text, a key or a value is malformed
 */
export function parseLabelSelector(text: string): (labels: Labels) => boolean {
  return readLabelSelector(text).matches;
}

/**
 * Returns the parsed form of a `labelSelector` parameter (OB-15), for a store that keeps an equality index.
 *
 * @throws {StatusError} 400 when the text, a key or a value is malformed
 */
export function readLabelSelector(text: string): LabelSelector {
  if (text.trim() === '') return everything;
  return selectorOf(splitTerms(text).map((term) => requirementOf(term, text)));
}

/** Returns the parsed form of a LabelSelector object: absent or null matches nothing, `{}` everything (OB-15). */
export function labelSelectorOf(selector: JsonObject | undefined | null): LabelSelector {
  if (selector === undefined || selector === null) return nothing;
  const requirements = [...equalities(selector), ...expressions(selector)];
  return requirements.length === 0 ? everything : selectorOf(requirements);
}

/** Reports whether a LabelSelector object matches: absent or null matches nothing, `{}` everything (OB-15). */
export function labelSelectorMatches(
  selector: JsonObject | undefined | null,
  labels: Labels,
): boolean {
  return labelSelectorOf(selector).matches(labels);
}

function selectorOf(requirements: readonly LabelRequirement[]): LabelSelector {
  const tests = requirements.map(testOf);
  return {
    requirements,
    matches: (labels) => tests.every((holds) => holds(labels)),
  };
}

function testOf({ key, operator, values }: LabelRequirement): (labels: Labels) => boolean {
  const [only] = values;
  switch (operator) {
    case 'In':
      return values.length === 1
        ? (labels) => labels[key] === only
        : (labels) => values.includes(labels[key] ?? '\0');
    case 'NotIn':
      return (labels) => !values.includes(labels[key] ?? '\0');
    case 'Exists':
      return (labels) => labels[key] !== undefined;
    case 'DoesNotExist':
      return (labels) => labels[key] === undefined;
    case 'Gt':
      return (labels) => Number.parseInt(labels[key] ?? '', 10) > Number(only);
    case 'Lt':
      return (labels) => Number.parseInt(labels[key] ?? '', 10) < Number(only);
    default:
      return assertNever(operator);
  }
}

function equalities(selector: JsonObject): LabelRequirement[] {
  const { matchLabels } = selector;
  if (!isJsonObject(matchLabels)) return [];
  return Object.entries(matchLabels).map(([key, value]) => ({
    key,
    operator: 'In',
    values: typeof value === 'string' ? [value] : [],
  }));
}

function expressions(selector: JsonObject): LabelRequirement[] {
  const { matchExpressions } = selector;
  if (!isJsonArray(matchExpressions)) return [];
  return matchExpressions.filter(isJsonObject).map((expression) => {
    const { key, operator, values } = expression;
    return {
      key: typeof key === 'string' ? key : '',
      operator: operatorOf(operator),
      values: isJsonArray(values) ? values.filter((value) => typeof value === 'string') : [],
    };
  });
}

function operatorOf(value: unknown): LabelRequirement['operator'] {
  switch (value) {
    case 'In':
    case 'NotIn':
    case 'Exists':
    case 'DoesNotExist':
      return value;
    default:
      throw badRequest(`${JSON.stringify(value)} is not a valid label selector operator`);
  }
}

/** Splits at commas outside parentheses. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let isInSet = false;
  let start = 0;
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i];
    if (char === '(') isInSet = true;
    if (char === ')') isInSet = false;
    if (char === ',' && !isInSet) {
      terms.push(text.slice(start, i));
      start = i + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

// For trimmed terms: two runs of white space side by side would take time by the square of their length.
const setTerm = /^([^\s!=<>(),]+)\s+(in|notin)\s*\(([^()]*)\)$/;
const comparison = /^([^\s!=<>(),]+)\s*(==|=|!=|<|>)\s*([^\s!=<>(),]*)$/;
const existence = /^(!?)\s*([^\s!=<>(),]+)$/;

function requirementOf(untrimmed: string, text: string): LabelRequirement {
  const term = untrimmed.trim();
  const requirement = setRequirement(term) ?? compared(term) ?? existing(term);
  if (requirement === undefined) {
    throw badRequest(
      `unable to parse requirement: found '${term}' in "${text}", expected a key, an equality or a set`,
    );
  }
  checkRequirement(requirement);
  return requirement;
}

function setRequirement(term: string): LabelRequirement | undefined {
  const [, key, word, list] = setTerm.exec(term) ?? [];
  if (key === undefined || list === undefined) return undefined;
  const values = list.split(',').map((value) => value.trim());
  return { key, operator: word === 'in' ? 'In' : 'NotIn', values };
}

const comparisons: Readonly<Record<string, LabelRequirement['operator']>> = {
  '=': 'In',
  '==': 'In',
  '!=': 'NotIn',
  '<': 'Lt',
  '>': 'Gt',
};

function compared(term: string): LabelRequirement | undefined {
  const [, key, sign, value] = comparison.exec(term) ?? [];
  const operator = comparisons[sign ?? ''];
  if (key === undefined || operator === undefined || value === undefined) return undefined;
  return { key, operator, values: [value] };
}

function existing(term: string): LabelRequirement | undefined {
  const [, bang, key] = existence.exec(term) ?? [];
  if (key === undefined) return undefined;
  return { key, operator: bang === '!' ? 'DoesNotExist' : 'Exists', values: [] };
}

function checkRequirement({ key, operator, values }: LabelRequirement): void {
  if (!isQualifiedName(key)) {
    throw badRequest(
      `unable to parse requirement: key: Invalid value: "${key}": must be a qualified name of at most 63 characters after an optional DNS prefix`,
    );
  }
  if (operator === 'Gt' || operator === 'Lt') {
    if (/^-?\d+$/.test(values[0] ?? '')) return;
    throw badRequest(
      `unable to parse requirement: values[0]: Invalid value: "${values[0]}": for 'Gt', 'Lt' operators, the value must be an integer`,
    );
  }
  const wrong = values.find((value) => !isLabelValue(value));
  if (wrong !== undefined) {
    throw badRequest(
      `unable to parse requirement: values: Invalid value: "${wrong}": a valid label value has at most 63 characters, begins and ends alphanumeric, with '-', '_' or '.' between`,
    );
  }
}
