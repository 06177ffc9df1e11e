import { isJsonObject, type JsonObject } from '#base/json.ts';
import { arrayField, textField, textMapField, textsField } from '../json/json-fields.ts';

const OPERATORS: Readonly<Record<string, string>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: '',
  DoesNotExist: '!',
};

/** Returns a LabelSelector in its text form, requirements in the order of their keys. */
export function selectorText(selector: JsonObject): string {
  const labels = Object.entries(textMapField(selector, 'matchLabels')).map(
    ([key, value]) => [key, `${key}=${value}`] as const,
  );
  const expressions = arrayField(selector, 'matchExpressions')
    .filter(isJsonObject)
    .map((expression) => [textField(expression, 'key'), expressionText(expression)] as const);
  return [...labels, ...expressions]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, text]) => text)
    .join(',');
}

function expressionText(expression: JsonObject): string {
  const key = textField(expression, 'key');
  const operator = OPERATORS[textField(expression, 'operator')] ?? '';
  if (operator === '' || operator === '!') return `${operator}${key}`;
  return `${key} ${operator} (${textsField(expression, 'values').toSorted().join(',')})`;
}
