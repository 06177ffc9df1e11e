import type { PodSelector, Requirement } from './selector.ts';

/** Returns whether some pod may be selected by both; only of two that want different values of one label it is known that none is. */
export function mayOverlap(one: PodSelector, other: PodSelector): boolean {
  if (one === undefined || other === undefined) return false;
  return !one.some((requirement) => other.some((each) => areExclusive(requirement, each)));
}

/** Returns whether both demand the same, in the same words. */
export function isSameSelector(one: PodSelector, other: PodSelector): boolean {
  return selectorText(one) === selectorText(other);
}

function areExclusive(one: Requirement, other: Requirement): boolean {
  if (one.key !== other.key || one.operator !== 'In' || other.operator !== 'In') return false;
  return ![...one.values].some((value) => other.values.has(value));
}

/** Returns the words of `selector`; `null` where there is none. */
export function selectorText(selector: PodSelector): string {
  const words = selector?.map((each) => ({
    ...each,
    values: 'values' in each ? [...each.values] : [],
  }));
  return JSON.stringify(words ?? null);
}
