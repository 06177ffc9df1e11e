import { assertNever } from '#base/assert-never.ts';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import { after, type Instant, seconds } from '#base/units.ts';
import type { SetProgress, SetRef } from '#control/decision/decision.ts';
import { setRef } from '#control/decision/refs.ts';
import type { SetSnapshot } from '#control/watch/group-sets.ts';
import { parseOrdinal } from '#statefulset/parse-ordinal.ts';
import { isOutdated, targetRevision } from '#statefulset/revision.ts';
import { isUnavailable, type Slot, slotsOf } from '#statefulset/slot.ts';
import { type StuckMoment, type Stuckness, stuckness } from '#statefulset/stuck.ts';
import type { Ordinal, PodView, StatefulSetView } from '#statefulset/view.ts';
import { isPaused, maxUnavailableOf } from '../api.ts';
import { defaultMaxUnavailable, limitOf } from '../max-unavailable.ts';
import type { GroupSnapshot } from '../snapshot.ts';

/** One StatefulSet of a group as the planner sees it: a zone. */
export interface Zone {
  /** When it was looked at. */
  readonly seenAt: Instant;
  readonly set: StatefulSetView;
  readonly ref: SetRef;
  readonly isPaused: boolean;
  /** What else names the set, so that no controller moves it (D-63). */
  readonly conflicts: readonly string[];
  /** Pods of this set that may be unavailable at once, >= 1. */
  readonly limit: number;
  /** The revision that its pods should run; undefined while unknown. */
  readonly target: string | undefined;
  readonly slots: readonly Slot[];
  readonly unavailable: readonly Slot[];
  /** Slots whose pod runs another revision than `target`, by ordinal, lowest first (RC-43); none while unknown. */
  readonly outdated: readonly FilledSlot[];
  /** Whether the pods of its unavailable slots can become ready by themselves, by ordinal. */
  readonly stuckness: ReadonlyMap<Ordinal, Stuckness>;
}

/** A slot that holds a pod. */
export type FilledSlot = Exclude<Slot, { kind: 'missing' }>;

/** A group as its policies see it. */
export interface Group {
  readonly snapshot: GroupSnapshot;
  /** Sorted in the order of the group. */
  readonly zones: readonly Zone[];
}

/** Returns the zones of `snapshot` at `now`. */
export function groupOf(snapshot: GroupSnapshot, now: Instant): Group {
  return { snapshot, zones: snapshot.sets.map((each) => zoneOf(each, snapshot, now)) };
}

function zoneOf({ set, pods }: SetSnapshot, group: GroupSnapshot, now: Instant): Zone {
  const { leaving, watched, stuckAfter } = group;
  const target = targetRevision(set);
  const slots = slotsOf({ set, pods, leaving, watched }, now);
  const unavailable = slots.filter(isUnavailable);
  const max = maxUnavailableOf(set);
  return {
    seenAt: now,
    set,
    ref: setRef(set),
    isPaused: isPaused(set),
    conflicts: group.conflicts.get(set.uid) ?? [],
    limit: limitOf(max.kind === 'valid' ? max.value : defaultMaxUnavailable, set.spec.replicas),
    target,
    slots,
    unavailable,
    outdated: target === undefined ? [] : outdatedSlots(slots, target),
    stuckness: stucknessOf(unavailable, { now, watched, stuckAfter }),
  };
}

function stucknessOf(unavailable: readonly Slot[], moment: StuckMoment): Zone['stuckness'] {
  if (unavailable.length === 0) return nothingStuck;
  return new Map(
    unavailable.flatMap((slot) =>
      slot.kind === 'missing' ? [] : [[slot.ordinal, stuckness(slot.pod, moment)] as const],
    ),
  );
}

/** One for all zones at rest: every pass over every group asks. */
const nothingStuck: Zone['stuckness'] = new Map();

function outdatedSlots(slots: readonly Slot[], target: string): Zone['outdated'] {
  return slots.filter(
    (slot): slot is FilledSlot => slot.kind !== 'missing' && isOutdated(slot.pod, target),
  );
}

/** Returns how far the zone is, for gauges and the terminal. */
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

/**
 * Returns the unavailable slots of `zone` in words: up to three pods by name, each with what is wrong, then a count. What a
 * person has to do something about comes first, what is on its way by itself last.
 */
export function describeUnavailable(zone: Zone): string {
  const { set, unavailable } = zone;
  const urgency = (slot: Slot): number => urgencyOf(slot, zone);
  const shown = unavailable.toSorted((one, other) => urgency(other) - urgency(one)).slice(0, 3);
  const texts = shown.map((slot) => describeSlot(set.name, slot, zone.seenAt));
  const rest = unavailable.length - shown.length;
  return rest > 0 ? `${texts.join(', ')} and ${rest} more` : texts.join(', ');
}

function urgencyOf(slot: Slot, zone: Zone): number {
  const stuckness = zone.stuckness.get(slot.ordinal);
  if (slot.kind === 'terminating') return isOverdue(slot.pod, zone.seenAt) ? 4 : 0;
  if (slot.kind === 'settling') return 0;
  if (slot.kind !== 'not-ready') return 1;
  if (stuckness !== undefined && stuckness.kind !== 'not-stuck') return 4;
  return slot.pod.trouble === undefined ? 2 : 3;
}

/** How long after its grace period a pod that is still there is overdue: until then its kubelet may only be slow. */
const overdueAfter = seconds(60);

/** Reports whether `pod` should have been gone long ago: its kubelet does not answer, or a finalizer keeps it. */
function isOverdue({ goneBy }: PodView, now: Instant): boolean {
  return goneBy !== undefined && now >= after(goneBy, overdueAfter);
}

function leavingText(pod: PodView, now: Instant): string {
  if (!pod.isTerminating) return 'leaving';
  const { goneBy, unready } = pod;
  if (goneBy === undefined || !isOverdue(pod, now)) return 'terminating';
  const cause =
    unready?.isOutOfReach === true ? 'its node may be lost' : 'a finalizer or its node keeps it';
  return `terminating, should have been gone by ${formatUtcSeconds(goneBy)}: ${cause}`;
}

function describeSlot(setName: string, slot: Slot, now: Instant): string {
  const name = `${setName}-${slot.ordinal}`;
  switch (slot.kind) {
    case 'missing':
      return `${name} (does not exist)`;
    case 'terminating':
      return `${name} (${leavingText(slot.pod, now)})`;
    case 'settling':
      return `${name} (${slot.availableFrom === 'unknown' ? 'ready, but it does not say since when' : 'ready, but not yet for minReadySeconds'})`;
    case 'not-ready':
      return `${name} (${slot.pod.trouble ?? notReadyText(slot.pod)})`;
    case 'available':
      return `${name} (available)`;
    default:
      return assertNever(slot);
  }
}

function notReadyText({ phase, unready }: PodView): string {
  if (unready?.isOutOfReach === true) return 'its node may be out of reach';
  if (unready?.isStartingUp === true) return 'its start-up probe has not succeeded yet';
  return phase === 'Running' ? 'not ready' : phase.toLowerCase();
}

/** Returns when time alone may change what `zones` come to; undefined when it does not. */
export function nextLook(zones: readonly Zone[], now: Instant): Instant | undefined {
  const times = zones.flatMap((zone) => [
    ...zone.unavailable.flatMap((slot) =>
      slot.kind === 'settling' && slot.availableFrom !== 'unknown' ? [slot.availableFrom] : [],
    ),
    ...zone.unavailable.flatMap((slot) => {
      const { goneBy } = slot.kind === 'terminating' ? slot.pod : {};
      const overdueFrom = goneBy === undefined ? now : after(goneBy, overdueAfter);
      return overdueFrom > now ? [overdueFrom] : [];
    }),
    ...stuckTimes(zone, now),
  ]);
  return times.length === 0 ? undefined : times.reduce((one, other) => (other < one ? other : one));
}

/** Returns when pods of `zone` become stuck; of no interest where none is outdated, as then none is replaced. */
function stuckTimes({ outdated, stuckness }: Zone, now: Instant): readonly Instant[] {
  if (outdated.length === 0) return [];
  return [...stuckness.values()].flatMap((each) =>
    each.kind === 'stuck-by-time' || each.left === undefined ? [] : [after(now, each.left)],
  );
}

/** Names of orphans of `snapshot` that are where one of its slots should be (bad input of the group). */
export function orphanNames(snapshot: SetSnapshot): readonly string[] {
  return snapshot.orphans.filter((name) => parseOrdinal(name, snapshot.set.name) !== undefined);
}
