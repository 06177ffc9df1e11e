import type { JsonObject, JsonValue } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import { arrayAt, objectAt, objectsIn, stringAt } from './parse-fields.ts';

type Labels = Readonly<Record<string, string>>;

function textsIn(values: readonly JsonValue[]): readonly string[] {
  return values.filter((value) => typeof value === 'string');
}

/**
 * Returns the string form of a `LabelSelector`, as the `labelSelector` query parameter takes it; empty when the selector has
 * no requirement.
 *
 * @see https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#api
 */
export function formatLabelSelector(selector: JsonObject): string {
  const equalities = Object.entries(objectAt(selector, 'matchLabels')).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : ''}`,
  );
  const expressions = objectsIn(arrayAt(selector, 'matchExpressions')).map(formatExpression);
  return [...equalities, ...expressions].join(',');
}

function formatExpression(expression: JsonObject): string {
  const key = stringAt(expression, 'key') ?? '';
  const values = textsIn(arrayAt(expression, 'values')).join(',');
  switch (stringAt(expression, 'operator')) {
    case 'In':
      return `${key} in (${values})`;
    case 'NotIn':
      return `${key} notin (${values})`;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return key;
  }
}

/**
 * Reports whether `labels` satisfy the `LabelSelector` object `selector`: null or absent matches nothing, `{}` everything.
 * An operator that the API does not know matches, so that what is unclear counts as governed.
 */
export function matchesLabelSelector(selector: JsonValue | undefined, labels: Labels): boolean {
  if (!isJsonObject(selector)) return false;
  const equal = Object.entries(objectAt(selector, 'matchLabels')).every(
    ([key, value]) => labels[key] === value,
  );
  return (
    equal &&
    objectsIn(arrayAt(selector, 'matchExpressions')).every((expression) =>
      matchesExpression(expression, labels),
    )
  );
}

function matchesExpression(expression: JsonObject, labels: Labels): boolean {
  const value = labels[stringAt(expression, 'key') ?? ''];
  const values = textsIn(arrayAt(expression, 'values'));
  switch (stringAt(expression, 'operator')) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return true;
  }
}
