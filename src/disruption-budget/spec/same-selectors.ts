import type { KnownBudget } from './known-budgets.ts';

/**
 * Reports whether some pod may be governed by both, which are of one namespace: those that want two values of one label have
 * none together.
 */
export function mayOverlap(one: KnownBudget, other: KnownBudget): boolean {
  const [labels, others] = [one.matchLabels, other.matchLabels];
  // What cannot be known may be any pod of the namespace.
  if (labels === undefined || others === undefined) return true;
  return [...labels].every(([key, value]) => (others.get(key) ?? value) === value);
}

/** Reports whether both select by the same labels. */
export function isSameSelector(one: KnownBudget, other: KnownBudget | undefined): boolean {
  const [labels, others] = [one.matchLabels, other?.matchLabels];
  if (labels === undefined || others === undefined) return labels === others;
  return (
    labels.size === others.size && [...labels].every(([key, value]) => others.get(key) === value)
  );
}
