import type { JsonObject } from '#base/json.ts';
import { objectsAt, textAt, textMapAt, textsAt } from './read-json.ts';

type Labels = Readonly<Record<string, string>>;

function meets(labels: Labels, requirement: JsonObject): boolean {
  const value = labels[textAt(requirement, 'key')];
  const values = textsAt(requirement, 'values');
  switch (textAt(requirement, 'operator')) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false;
  }
}

/**
 * Whether `labels` meet a LabelSelector object (OB-15). An empty selector matches everything, an absent one
 * nothing, and an operator that does not exist nothing.
 */
export function selects(selector: JsonObject | undefined, labels: Labels): boolean {
  if (selector === undefined) return false;
  for (const [key, value] of Object.entries(textMapAt(selector, 'matchLabels'))) {
    if (labels[key] !== value) return false;
  }
  return objectsAt(selector, 'matchExpressions').every((requirement) => meets(labels, requirement));
}
