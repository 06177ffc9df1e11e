import type { Instant } from '#base/units.ts';
import { type AvailableFrom, availableFrom } from './availability.ts';
import { isTooLarge, ordinalsOf, parseOrdinal } from './parse-ordinal.ts';
import type { Ordinal, PodView, StatefulSetView, Watched } from './view.ts';

/**
 * One place of a set that should hold an available pod (docs/rules/words.md). Everything but `available` counts as
 * unavailable; a pod that is about to go, by our deletion or by a scale-down (D-17), counts as `terminating` before the
 * cache shows it.
 */
export type Slot =
  | { readonly kind: 'available'; readonly ordinal: Ordinal; readonly pod: PodView }
  /** Ready, but not yet for `minReadySeconds`. */
  | {
      readonly kind: 'settling';
      readonly ordinal: Ordinal;
      readonly pod: PodView;
      readonly availableFrom: AvailableFrom;
    }
  | { readonly kind: 'not-ready'; readonly ordinal: Ordinal; readonly pod: PodView }
  | { readonly kind: 'terminating'; readonly ordinal: Ordinal; readonly pod: PodView }
  | { readonly kind: 'missing'; readonly ordinal: Ordinal };

/** What {@link slotsOf} reads. */
export interface SlotsInput {
  readonly set: StatefulSetView;
  /** Pods that the set controls. */
  readonly pods: readonly PodView[];
  /** uids of pods whose deletion was asked for but not yet seen (D-7). */
  readonly leaving: ReadonlySet<string>;
  /** Without it only the times count that pods carry. */
  readonly watched?: Watched;
}

/**
 * Returns the slots of a set at `now`, by ordinal. Pods outside the set's ordinals, or with foreign names, fill none. Of a
 * set that is too large to be looked at there is one slot, without a pod: it is unknown whether it is available.
 */
export function slotsOf(input: SlotsInput, now: Instant): readonly Slot[] {
  const { set, pods } = input;
  const { ordinalsStart, replicas } = set.spec;
  const ordinals = ordinalsOf(set);
  if (isTooLarge(set)) return ordinals.map((ordinal) => ({ kind: 'missing', ordinal }));
  // An array, not a map by ordinal: every pass over every group makes one for each of its sets.
  const podAt: (PodView | undefined)[] = ordinals.map(() => undefined);
  for (const pod of pods) {
    const ordinal = parseOrdinal(pod.name, set.name);
    const index = ordinal === undefined ? -1 : ordinal - ordinalsStart;
    if (index >= 0 && index < podAt.length) podAt[index] = pod;
  }
  const end = ordinalsStart + replicas;
  return ordinals.map((ordinal, index) => {
    const pod = podAt[index];
    if (pod !== undefined && ordinal >= end) return { kind: 'terminating', ordinal, pod };
    if (pod === undefined) return { kind: 'missing', ordinal };
    return slotWith({ ordinal, pod }, input, now);
  });
}

function slotWith(
  { ordinal, pod }: { readonly ordinal: Ordinal; readonly pod: PodView },
  { set, leaving, watched }: SlotsInput,
  now: Instant,
): Slot {
  if (pod.isTerminating || leaving.has(pod.uid)) return { kind: 'terminating', ordinal, pod };
  const from = availableFrom(pod, set.spec.minReady, { now, watched });
  if (from === undefined) return { kind: 'not-ready', ordinal, pod };
  return from === 'unknown' || from > now
    ? { kind: 'settling', ordinal, pod, availableFrom: from }
    : { kind: 'available', ordinal, pod };
}

/** Reports whether the slot holds no available pod. */
export function isUnavailable(slot: Slot): boolean {
  return slot.kind !== 'available';
}

/**
 * Returns when the last of `unavailable` becomes available, if settling is all that is wrong with them; undefined: that
 * is unknown.
 */
export function settledAt(unavailable: readonly Slot[]): Instant | undefined {
  let latest: Instant | undefined;
  for (const slot of unavailable) {
    if (slot.kind !== 'settling' || slot.availableFrom === 'unknown') return undefined;
    if (latest === undefined || slot.availableFrom > latest) latest = slot.availableFrom;
  }
  return latest;
}
