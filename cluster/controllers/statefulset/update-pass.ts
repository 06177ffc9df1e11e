import type { PassInput, Slot } from './passes.ts';
import { isUnavailable } from './set-status.ts';

/** Returns how many places may be unavailable: a count, or a share of the replicas rounded down, at least 1 (SS-16). */
function unavailableLimit(maxUnavailable: number | string | undefined, replicas: number): number {
  if (maxUnavailable === undefined) return 1;
  if (typeof maxUnavailable === 'number') return Math.max(1, maxUnavailable);
  const percent = Number(maxUnavailable.replace(/%$/, ''));
  return Number.isNaN(percent) ? 1 : Math.max(1, Math.floor((percent * replicas) / 100));
}

function isOut({ snapshot, now }: PassInput, slot: Slot): boolean {
  return slot.pod === undefined || isUnavailable(slot.pod, snapshot.set.minReady, now);
}

/** Returns the places to delete, from the highest index down to the partition, which compares with the index (SS-17). */
function outdated(input: PassInput, revisionAt: (slot: Slot) => string): readonly Slot[] {
  const partition = input.snapshot.set.rollingUpdate?.partition ?? 0;
  const target = input.revisions.update.name;
  return input.roll.slots
    .slice(partition)
    .filter((slot) => revisionAt(slot) !== target && slot.pod?.isTerminating !== true)
    .toReversed();
}

/** Returns the places one at a time: stops at the first unavailable pod on the way down. */
function planOne(input: PassInput, revisionAt: (slot: Slot) => string): readonly Slot[] {
  const { set } = input.snapshot;
  const target = input.revisions.update.name;
  const partition = set.rollingUpdate?.partition ?? 0;
  for (let index = input.roll.slots.length - 1; index >= partition; index -= 1) {
    const slot = input.roll.slots[index];
    if (slot === undefined) break;
    if (revisionAt(slot) !== target && slot.pod?.isTerminating !== true) return [slot];
    if (isOut(input, slot)) return [];
  }
  return [];
}

function planMany(input: PassInput, revisionAt: (slot: Slot) => string): readonly Slot[] {
  const { set, switches } = input.snapshot;
  const limit = unavailableLimit(set.rollingUpdate?.maxUnavailable, set.replicas);
  const unavailable = input.roll.slots.filter((slot) => isOut(input, slot)).length;
  const candidates = outdated(input, revisionAt);
  const isFixed = switches.replacesUnavailableFirst && !set.isOrdered;
  const free = isFixed ? candidates.filter((slot) => isOut(input, slot)) : [];
  const budget = Math.max(0, limit - unavailable);
  const rest = candidates.filter((slot) => !free.includes(slot));
  return [...free, ...rest.slice(0, budget)];
}

/**
 * Returns the places whose pods are deleted so that they return at the update revision (SS-16), in order. Without
 * `maxUnavailable` one at a time; with it as many as the limit leaves, counting unavailable pods of all places.
 */
export function planUpdate(input: PassInput, revisionAt: (slot: Slot) => string): readonly Slot[] {
  return input.snapshot.switches.maxUnavailable
    ? planMany(input, revisionAt)
    : planOne(input, revisionAt);
}
