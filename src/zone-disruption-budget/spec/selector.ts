/** One thing that a selector demands of the labels of a pod. */
export type Requirement =
  | {
      readonly operator: 'In' | 'NotIn';
      readonly key: string;
      readonly values: ReadonlySet<string>;
    }
  | { readonly operator: 'Exists' | 'DoesNotExist'; readonly key: string };

/** What a budget demands of pods; without any requirement it selects all, and where there is no selector, none. */
export type PodSelector = readonly Requirement[] | undefined;

/** Returns whether `selector` selects a pod of its namespace that has `labels`. */
export function selects(selector: PodSelector, labels: Readonly<Record<string, string>>): boolean {
  if (selector === undefined) return false;
  return selector.every((requirement) => isMet(requirement, labels));
}

function isMet(requirement: Requirement, labels: Readonly<Record<string, string>>): boolean {
  const { key, operator } = requirement;
  // A key may be called as what every object has.
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && requirement.values.has(value);
    case 'NotIn':
      return value === undefined || !requirement.values.has(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return operator satisfies never;
  }
}
