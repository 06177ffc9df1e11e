import type { Ordinal, StatefulSetView } from './view.ts';

const decimal = /^(0|[1-9]\d*)$/;

/** The ordinal of the pod `podName` of the set `setName`; undefined when the name is not one of that set's. */
export function parseOrdinal(podName: string, setName: string): Ordinal | undefined {
  if (!podName.startsWith(`${setName}-`)) return undefined;
  const tail = podName.slice(setName.length + 1);
  return decimal.test(tail) ? ordinal(Number(tail)) : undefined;
}

/** The ordinal `value`, an integer >= 0. */
function ordinal(value: number): Ordinal {
  return value as Ordinal;
}

/**
 * The ordinals that `set` should have, ascending: from `spec.ordinals.start`, as many as the greater of
 * `spec.replicas` and `status.replicas`, so that a slot counts from before its pod exists until after it is gone.
 */
export function ordinalsOf(set: StatefulSetView): readonly Ordinal[] {
  const length = Math.max(set.spec.replicas, set.status.replicas, 0);
  return Array.from({ length }, (_, index) => ordinal(set.spec.ordinalsStart + index));
}
