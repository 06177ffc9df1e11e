import type { JsonObject } from '#base/json.ts';
import { objectsAt, textAt, textMapAt, textsAt } from '../json/read-json.ts';

type Labels = Readonly<Record<string, string>>;

/**
 * Reports whether `labels` meet one requirement of a LabelSelector or of a node selector; an operator that does not exist
 * never.
 */
export function meets(labels: Labels, requirement: JsonObject): boolean {
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
 * Compiles a LabelSelector object (OB-15) as a test of labels. An empty selector matches everything, an absent one nothing,
 * and an operator that does not exist nothing.
 */
export function compileSelector(selector: JsonObject | undefined): (labels: Labels) => boolean {
  if (selector === undefined) return () => false;
  const pairs = Object.entries(textMapAt(selector, 'matchLabels'));
  const requirements = objectsAt(selector, 'matchExpressions');
  return (labels) => {
    for (const [key, value] of pairs) if (labels[key] !== value) return false;
    return requirements.every((requirement) => meets(labels, requirement));
  };
}

/** Reports whether `labels` meet a LabelSelector object; see {@link compileSelector} for tests of many. */
export function selects(selector: JsonObject | undefined, labels: Labels): boolean {
  return compileSelector(selector)(labels);
}
