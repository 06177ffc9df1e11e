import { assertNever } from '#base/assert-never.ts';
import type { Instant } from '#base/units.ts';
import type { SetProgress, SetRef } from '#control/decision.ts';
import type { SetSnapshot } from '#control/group-sets.ts';
import { setRef } from '#control/refs.ts';
import { parseOrdinal } from '#statefulset/parse-ordinal.ts';
import { isOutdated, targetRevision } from '#statefulset/revision.ts';
import { isUnavailable, type Slot, slotsOf } from '#statefulset/slot.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { isPaused, maxUnavailableOf } from './api.ts';
import { defaultMaxUnavailable, limitOf } from './max-unavailable.ts';
import type { GroupSnapshot } from './snapshot.ts';

/** One StatefulSet of a group as the planner sees it: a zone. */
export interface Zone {
  readonly set: StatefulSetView;
  readonly ref: SetRef;
  readonly isPaused: boolean;
  /** Pods of this set that may be unavailable at once, >= 1. */
  readonly limit: number;
  /** The revision that its pods should run; undefined while unknown. */
  readonly target: string | undefined;
  readonly slots: readonly Slot[];
  readonly unavailable: readonly Slot[];
  /** Slots whose pod runs another revision than `target`, by ordinal, lowest first (RC-43); none while unknown. */
  readonly outdated: readonly Exclude<Slot, { kind: 'missing' }>[];
}

/** The zone that `snapshot` describes at `now`. `leaving`: see {@link GroupSnapshot}. */
export function zoneOf(
  snapshot: SetSnapshot,
  leaving: GroupSnapshot['leaving'],
  now: Instant,
): Zone {
  const { set, pods } = snapshot;
  const target = targetRevision(set);
  const slots = slotsOf({ set, pods, leaving }, now);
  const max = maxUnavailableOf(set);
  return {
    set,
    ref: setRef(set),
    isPaused: isPaused(set),
    limit: limitOf(max.kind === 'valid' ? max.value : defaultMaxUnavailable, set.spec.replicas),
    target,
    slots,
    unavailable: slots.filter(isUnavailable),
    outdated: target === undefined ? [] : outdatedSlots(slots, target),
  };
}

function outdatedSlots(slots: readonly Slot[], target: string): Zone['outdated'] {
  return slots.filter(
    (slot): slot is Zone['outdated'][number] =>
      slot.kind !== 'missing' && isOutdated(slot.pod, target),
  );
}

/** How far the zone is, for gauges and the terminal. */
export function progressOf(zone: Zone): SetProgress {
  let present = 0;
  for (const slot of zone.slots) if (slot.kind !== 'missing') present += 1;
  return {
    set: zone.ref,
    outdated: zone.outdated.length,
    updated: zone.target === undefined ? 0 : present - zone.outdated.length,
    unavailable: zone.unavailable.length,
  };
}

/** The unavailable slots of `zone` in words: up to three pods by name, each with what is wrong, then a count. */
export function describeUnavailable(zone: Zone): string {
  const shown = zone.unavailable.slice(0, 3).map((slot) => describeSlot(zone.set.name, slot));
  const rest = zone.unavailable.length - shown.length;
  return rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', ');
}

function describeSlot(setName: string, slot: Slot): string {
  const name = `${setName}-${slot.ordinal}`;
  switch (slot.kind) {
    case 'missing':
      return `${name} (does not exist)`;
    case 'terminating':
      return `${name} (terminating)`;
    case 'settling':
      return `${name} (ready, but not yet for minReadySeconds)`;
    case 'not-ready':
      return `${name} (${slot.pod.trouble ?? notReadyPhase(slot.pod)})`;
    case 'available':
      return `${name} (available)`;
    default:
      return assertNever(slot);
  }
}

function notReadyPhase(pod: PodView): string {
  return pod.phase === 'Running' ? 'not ready' : pod.phase.toLowerCase();
}

/** When the first settling pod of `zones` becomes available; undefined when none is settling. */
export function nextSettled(zones: readonly Zone[]): Instant | undefined {
  let earliest: Instant | undefined;
  for (const slot of zones.flatMap((zone) => zone.unavailable)) {
    if (slot.kind !== 'settling') continue;
    if (earliest === undefined || slot.availableFrom < earliest) earliest = slot.availableFrom;
  }
  return earliest;
}

/** Names of orphans of `snapshot` that stand where one of its slots should be (bad input of the group). */
export function orphanNames(snapshot: SetSnapshot): readonly string[] {
  return snapshot.orphans.filter((name) => parseOrdinal(name, snapshot.set.name) !== undefined);
}
