import type { Ordinal, StatefulSetView } from './view.ts';

const ZERO = 48;
const DASH = 45;

/** Returns the ordinal of the pod `podName` of the set `setName`; undefined when the name is not one of that set's. */
export function parseOrdinal(podName: string, setName: string): Ordinal | undefined {
  const dash = setName.length;
  if (podName.charCodeAt(dash) !== DASH || !podName.startsWith(setName)) return undefined;
  return decimalFrom(podName, dash + 1);
}

// By hand: every pass asks it of every pod of the group, and a pattern on a slice costs several times as much.
function decimalFrom(text: string, from: number): Ordinal | undefined {
  const digits = text.length - from;
  if (digits < 1 || (digits > 1 && text.charCodeAt(from) === ZERO)) return undefined;
  let value = 0;
  for (let at = from; at < text.length; at += 1) {
    const digit = text.charCodeAt(at) - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return ordinal(value);
}

/** Returns the ordinal `value`, an integer >= 0. */
function ordinal(value: number): Ordinal {
  return value as Ordinal;
}

/** Replicas of the largest set that is looked at: a list of the slots of a larger one would be a memory of its own. */
export const largestSet = 20_000;

/** Reports whether `set` should have more slots than are looked at (D-56). */
export function isTooLarge({ spec, status }: StatefulSetView): boolean {
  return Math.max(spec.replicas, status.replicas) > largestSet;
}

/**
 * Returns the ordinals that `set` should have, ascending: from `spec.ordinals.start`, as many as the greater of
 * `spec.replicas` and `status.replicas`, so that a slot counts from before its pod exists until after it is gone. Only the
 * first one of a set that is too large.
 */
export function ordinalsOf(set: StatefulSetView): readonly Ordinal[] {
  const length = isTooLarge(set) ? 1 : Math.max(set.spec.replicas, set.status.replicas, 0);
  const ordinals: Ordinal[] = [];
  for (let index = 0; index < length; index += 1) {
    ordinals.push(ordinal(set.spec.ordinalsStart + index));
  }
  return ordinals;
}
