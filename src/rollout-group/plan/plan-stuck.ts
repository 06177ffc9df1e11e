import { assertNever } from '#base/assert-never.ts';
import { formatGoDuration } from '#base/time/go-duration.ts';
import { after, type Instant, type Millis, millis, seconds } from '#base/units.ts';
import type { Decision } from '#control/decision/decision.ts';
import { because, podRef } from '#control/decision/refs.ts';
import { successorRevision } from '#statefulset/revision.ts';
import type { Slot } from '#statefulset/slot.ts';
import { isStuckReplacement, type Stuckness } from '#statefulset/stuck.ts';
import type { Watched } from '#statefulset/view.ts';
import { areStuckPodsHeld, hold } from './plan-policy.ts';
import type { FilledSlot, Group, Zone } from './plan-zone.ts';

type NotReadySlot = Extract<Slot, { kind: 'not-ready' }>;

/** A pod that cannot become ready by itself, and why. */
interface StuckPod {
  readonly slot: NotReadySlot;
  readonly stuckness: Exclude<Stuckness, { kind: 'not-stuck' }>;
}

/**
 * Returns what is done about outdated pods that are stuck (D-48): they are replaced without waiting for other zones to be
 * available, one zone after the other, so that a corrected template reaches what it corrects (KW-1, LIVE-3). A pod that is
 * only not ready is left alone: it may be back in a second, and to delete it takes minutes.
 */
export function planStuckPods(group: Group): readonly Decision[] {
  if (group.zones.every((zone) => stuckPodsOf(zone).length === 0)) return [];
  const zones = group.zones.filter((zone) => !areStuckPodsHeld(zone, group));
  return [...replacements(zones, group), ...zones.flatMap(keptPods)];
}

/** Returns the deletions in the one zone whose turn it is. */
function replacements(zones: readonly Zone[], group: Group): readonly Decision[] {
  for (const zone of zones) {
    const others = zones.filter((other) => other !== zone);
    const stuck = candidatesOf(zone, others);
    if (stuck.length === 0) continue;
    const chosen = withinLimit(zone, stuck);
    // What was made instead is stuck like what it replaced: nothing comes of waiting for it here.
    if (chosen.length === 0 && !isOnTheMove(zone)) continue;
    const isHeld = group.zones.some((other) => other !== zone && isLosingStuckPods(other, group));
    return isHeld ? [] : chosen.map((pod) => replacement(zone, pod));
  }
  return [];
}

function stuckPodsOf({ outdated, stuckness }: Zone): readonly StuckPod[] {
  return outdated.flatMap((slot) => {
    const found = stuckness.get(slot.ordinal);
    const isStuck = found !== undefined && found.kind !== 'not-stuck';
    return isStuck && slot.kind === 'not-ready' ? [{ slot, stuckness: found }] : [];
  });
}

/** Reports whether the pod that is made in the place of `slot`'s would run another revision than this one does. */
function isChangedByReplacement({ set }: Zone, { ordinal, pod }: NotReadySlot): boolean {
  const successor = successorRevision(set, ordinal);
  return successor !== undefined && pod.revision !== undefined && successor !== pod.revision;
}

/**
 * Returns the stuck pods of `zone` that may go, lowest ordinal first. One that is stuck by time alone may be at work all the
 * same, so it waits while another zone is being changed; then an ordered set begins with nothing above it either.
 */
function candidatesOf(zone: Zone, others: readonly Zone[]): readonly StuckPod[] {
  const stuck = stuckPodsOf(zone).filter(({ slot }) => isChangedByReplacement(zone, slot));
  if (stuck.every(isByCause) || !others.some(isOnTheMove)) return stuck;
  const first = stuck.findIndex((pod) => !isByCause(pod));
  return zone.set.spec.isOrdered ? stuck.slice(0, first) : stuck.filter(isByCause);
}

function isByCause({ stuckness }: StuckPod): boolean {
  return stuckness.kind === 'stuck-by-cause';
}

/**
 * Reports whether a pod of `zone`, unless that is paused, is going that may have been stuck: it is still there, and so the
 * turn is still that zone's; or is just gone, and nothing is in its place. While it goes its containers end, and do not say
 * any more what they were, nor does its revision once the template was changed again; so it was, unless it was seen to
 * serve.
 */
function isLosingStuckPods(zone: Zone, { snapshot: { watched } }: Group): boolean {
  if (zone.isPaused) return false;
  return zone.unavailable.some((slot) => {
    if (!isSlotWanted(zone, slot)) return false;
    if (slot.kind === 'missing') return leftOfAbsence(zone, slot, watched) > 0;
    if (slot.kind !== 'terminating') return false;
    return slot.pod.unready?.isOutOfReach === false && !watched.served.has(slot.pod.uid);
  });
}

/** How long a stuck pod that is gone counts until another is made: perhaps none can be, as where a quota forbids it. */
const absence = seconds(60);

/** Returns how long the empty `slot` still counts as one whose stuck pod has just gone, >= 0; of an unseen one, it may have. */
function leftOfAbsence({ set }: Zone, { ordinal }: Slot, { gone, begun, now }: Watched): Millis {
  const at = gone.get(`${set.name}-${ordinal}`) ?? begun;
  return millis(Math.max(0, absence - (now - at)));
}

/** Returns when time alone may let stuck pods go that wait for empty slots of another zone; undefined when it does not. */
export function nextStuckLook({ zones, snapshot }: Group, now: Instant): Instant | undefined {
  if (zones.every((zone) => stuckPodsOf(zone).length === 0)) return undefined;
  const lefts = zones.flatMap((zone) =>
    underWayOf(zone)
      .missing.map((slot) => leftOfAbsence(zone, slot, snapshot.watched))
      .filter((left) => left > 0),
  );
  return lefts.length === 0 ? undefined : after(now, millis(Math.min(...lefts)));
}

/** Returns the first of `stuck` that leave no more than the limit under way; all of them where nothing is lost by that. */
function withinLimit(zone: Zone, stuck: readonly StuckPod[]): readonly StuckPod[] {
  if (isAllBroken(zone)) return stuck;
  const { filled, missing } = underWayOf(zone);
  const { isOrdered } = zone.set.spec;
  const candidates = new Set<number>(stuck.map(({ slot }) => slot.ordinal));
  const staying = stuckOrdinals(zone).find((ordinal) => !candidates.has(ordinal)) ?? Infinity;
  let gaps = 0;
  const end = stuck.findIndex(({ slot }, index) => {
    // Once the pods before it have gone, an ordered controller fills the gaps up to this one.
    const bound = isOrdered ? Math.min(staying, slot.ordinal) : Infinity;
    while ((missing[gaps]?.ordinal ?? Infinity) < bound) gaps += 1;
    return filled.length + gaps + index >= zone.limit;
  });
  return end < 0 ? stuck : stuck.slice(0, end);
}

/** Reports whether no pod of the set is Ready, and nothing but a new template helps those that are outdated. */
function isAllBroken({ slots, outdated, stuckness }: Zone): boolean {
  const isAnyReady = slots.some(
    (slot) => slot.kind !== 'missing' && slot.pod.unready === undefined,
  );
  if (isAnyReady) return false;
  // One whose deletion was only sent still says what it was when that was decided.
  return outdated.every(
    ({ ordinal, pod }) => pod.isTerminating || stuckness.get(ordinal)?.kind === 'stuck-by-cause',
  );
}

interface UnderWay {
  /** Slots whose pod is going, or is of the target revision and not available. */
  readonly filled: readonly FilledSlot[];
  /** Slots without a pod, ascending. */
  readonly missing: readonly Extract<Slot, { kind: 'missing' }>[];
}

/** Returns the slots of `zone` that are between two pods, without those that a scale-down takes away (D-17). */
function underWayOf(zone: Zone): UnderWay {
  const wanted = zone.unavailable.filter((slot) => isSlotWanted(zone, slot));
  return {
    filled: wanted
      .filter((slot) => slot.kind !== 'missing')
      .filter(({ kind, pod }) => kind === 'terminating' || pod.revision === zone.target),
    missing: wanted.filter((slot) => slot.kind === 'missing'),
  };
}

function isSlotWanted({ set }: Zone, { ordinal }: Slot): boolean {
  return ordinal < set.spec.ordinalsStart + set.spec.replicas;
}

/** Returns the ordinals of all stuck pods of `zone`, of whatever revision, ascending. */
function stuckOrdinals({ unavailable, stuckness }: Zone): readonly number[] {
  return unavailable.flatMap(({ kind, ordinal }) => {
    const found = kind === 'not-ready' ? stuckness.get(ordinal) : undefined;
    return found === undefined || found.kind === 'not-stuck' ? [] : [ordinal];
  });
}

/** Reports whether a slot of `zone` is on its way to an available pod, as far as can be seen. */
function isOnTheMove(zone: Zone): boolean {
  const { filled, missing } = underWayOf(zone);
  // An ordered controller makes no pod above one that is not ready.
  const [lowest = Infinity] = zone.set.spec.isOrdered ? stuckOrdinals(zone) : [];
  if (missing.some(({ ordinal }) => ordinal < lowest)) return true;
  return filled.some((slot) => {
    if (slot.pod.unready?.isOutOfReach === true) return false;
    const found = zone.stuckness.get(slot.ordinal);
    return (
      slot.kind === 'terminating' || found === undefined || !isStuckReplacement(slot.pod, found)
    );
  });
}

function replacement(zone: Zone, { slot, stuckness }: StuckPod): Decision {
  const { pod } = slot;
  const message =
    `${pod.name} cannot become ready by itself (${stuckText(stuckness)}) and runs ${pod.revision ?? 'no known revision'} ` +
    `instead of ${zone.set.status.updateRevision}; it is replaced without waiting for other zones`;
  return {
    kind: 'delete-pod',
    set: zone.ref,
    pod: podRef(pod),
    costs: 'nothing',
    maxUnavailable: zone.limit,
    because: because('StuckPodReplaced', message),
  };
}

function stuckText(stuckness: StuckPod['stuckness']): string {
  switch (stuckness.kind) {
    case 'stuck-by-cause':
      return stuckness.cause;
    case 'stuck-by-time': {
      const whole = seconds(Math.floor(stuckness.time / 1_000));
      return `not ready for ${formatGoDuration(whole)}`;
    }
    default:
      return assertNever(stuckness);
  }
}

/** Returns the holds of stuck pods that would come back as they are, or may do so. */
function keptPods(zone: Zone): readonly Decision[] {
  return stuckPodsOf(zone)
    .filter(({ slot }) => !isChangedByReplacement(zone, slot))
    .map(({ slot: { ordinal, pod }, stuckness }) => {
      const runs = pod.revision ?? 'a revision that it does not name';
      const successor = successorRevision(zone.set, ordinal) ?? 'a revision that is not known';
      const message =
        `${pod.name} is stuck (${stuckText(stuckness)}) and is left alone: ` +
        `it runs ${runs}, and in its place a pod on ${successor} would be made`;
      return hold(zone, 'StuckPodKept', message);
    });
}
