import type { JsonObject, JsonValue } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import type { Cause } from '../../errors/status-error.ts';
import { listAt, objectAt, textAt } from '../../json/members.ts';
import { isLabelValue, isQualifiedName } from '../../schema/name-formats.ts';
import { forbiddenField, invalidValue, required } from './causes.ts';

/** Causes of a LabelSelector object at `path` that cannot be evaluated. */
export function validateSelector(selector: JsonObject, path: string): readonly Cause[] {
  const labels = objectAt(selector, 'matchLabels') ?? {};
  return [
    ...Object.keys(labels).flatMap((key) => labelCauses(key, textAt(labels, key), path)),
    ...listAt(selector, 'matchExpressions').flatMap((expression, index) =>
      expressionCauses(expression, `${path}.matchExpressions[${index}]`),
    ),
  ];
}

function labelCauses(key: string, value: string, path: string): readonly Cause[] {
  const field = `${path}.matchLabels`;
  return [
    ...(isQualifiedName(key) ? [] : [invalidValue(field, key, 'must be a qualified name')]),
    ...(isLabelValue(value) ? [] : [invalidValue(field, value, 'must be a label value')]),
  ];
}

function expressionCauses(expression: JsonValue, path: string): readonly Cause[] {
  if (!isJsonObject(expression)) return [];
  const key = textAt(expression, 'key');
  const ofKey = isQualifiedName(key)
    ? []
    : [invalidValue(`${path}.key`, key, 'must be a qualified name')];
  return [...ofKey, ...operatorCauses(expression, path)];
}

function operatorCauses(expression: JsonObject, path: string): readonly Cause[] {
  const count = listAt(expression, 'values').length;
  const operator = textAt(expression, 'operator');
  switch (operator) {
    case 'In':
    case 'NotIn':
      return count > 0
        ? []
        : [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      return count === 0
        ? []
        : [
            forbiddenField(
              `${path}.values`,
              "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            ),
          ];
    default:
      return [invalidValue(`${path}.operator`, operator, 'not a valid selector operator')];
  }
}
