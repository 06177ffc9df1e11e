import type { Because } from '#base/because.ts';
import { after, type Instant } from '#base/units.ts';
import type { Requeue } from '#control/decision/decision.ts';
import type { Reason } from '#control/decision/reasons.ts';
import { because } from '#control/decision/refs.ts';
import { sooner } from '#control/plan/group-plan.ts';
import type { SetSnapshot } from '#control/watch/group-sets.ts';
import { canHaveBeenAvailable } from '#statefulset/availability.ts';
import { parseOrdinal } from '#statefulset/parse-ordinal.ts';
import { isOutdated, targetRevision } from '#statefulset/revision.ts';
import { type Slot, settledAt, slotsOf } from '#statefulset/slot.ts';
import { type Stuckness, stuckness } from '#statefulset/stuck.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { type CoordinationMoment, hold, timeOf, type Wish } from '../plan-wish.ts';
import type { CoordinationSnapshot } from '../snapshot.ts';

type ScaleWish = Extract<Wish, { kind: 'scale' }>;

/** When a set is scaled, and at the same time as which others. */
export interface Shrinking extends CoordinationMoment {
  /** The counts that sets of the group are to have, by uid, whether or not they have to wait; only of those that change. */
  readonly wanted: ReadonlyMap<string, number>;
}

/**
 * Returns the wish, or why it has to wait for the sake of others: a write that was refused is not repeated at once (KW-22),
 * and pods go only while no other zone lacks pods that we may have taken away (EXCL-1, D-17).
 */
export function safely(wish: ScaleWish, snapshot: SetSnapshot, moment: Shrinking): Wish {
  const { set } = snapshot;
  const { to } = wish.scale;
  const { group } = moment;
  const { kind: _, scale: __, isFollower: ___, ...keep } = wish;
  const pace = group.paces.get(set.uid);
  if (pace !== undefined && pace.to === to && pace.until > group.takenAt) {
    return { ...hold(set, pace.because, timeOf(moment, pace.until)), ...keep };
  }
  const taken = takenBy(snapshot, to, group);
  if (taken.length === 0) return wish;
  const unanswered = [...group.unanswered].find(([name]) => name !== set.name);
  if (unanswered !== undefined) {
    const [name, { until }] = unanswered;
    const message = `${set.name} does not shrink as a request to lower the replicas of ${name} got no answer`;
    return { ...hold(set, because('AwaitingAnswer', message), until), ...keep };
  }
  const disrupted = disruptedZone(snapshot, taken, moment);
  if (disrupted !== undefined) {
    const requeue = sooner(keep.requeue ?? { kind: 'await-change' }, disrupted.requeue);
    return { ...hold(set, disrupted.why, disrupted.until), ...keep, requeue };
  }
  return { ...wish, scale: { ...wish.scale, takes: taken.length } };
}

/**
 * Returns the pods that go when `snapshot` shrinks to `to`. One that is not ready may be back exactly when it is
 * taken, and one that never was may have become ready since it was seen: all of them count.
 */
function takenBy(
  { set, pods }: SetSnapshot,
  to: number,
  { leaving }: CoordinationSnapshot,
): readonly PodView[] {
  if (to >= set.spec.replicas) return [];
  return pods.filter(
    (pod) => isSurplus(pod, set, to) && !pod.isTerminating && !leaving.has(pod.uid),
  );
}

/** Reports whether `pod` is one that goes when `set` shrinks to `to`. */
function isSurplus(
  pod: PodView,
  { name, spec: { ordinalsStart, replicas } }: StatefulSetView,
  to: number,
): boolean {
  const index = (parseOrdinal(pod.name, name) ?? -1) - ordinalsStart;
  return index >= to && index < replicas;
}

interface DisruptedZone {
  readonly why: Because<Reason>;
  /** When time alone ends it: its pods are ready, and become available. */
  readonly until: Instant | undefined;
  /** When its pods, or those that are to go, count as stuck. */
  readonly requeue: Requeue;
}

function disruptedZone(
  { set }: SetSnapshot,
  taken: readonly PodView[],
  moment: Shrinking,
): DisruptedZone | undefined {
  const { group, now } = moment;
  const { leaving, watched } = group;
  const isAnyToServe = !taken.every((pod) => isStuck(stucknessOf(pod, moment)));
  for (const other of group.sets) {
    if (other.set.uid === set.uid) continue;
    const slots = slotsOf({ ...other, leaving, watched }, now);
    const isRolling = isBeingRolled(other, slots);
    const missing = slots
      .filter((slot) => isPerhapsOurs(slot, other.set, isRolling))
      .filter((slot) => isAnyToServe || !isStuckSurplus(slot, other.set, moment));
    if (missing.length === 0) continue;
    const names = missing.slice(0, 3).map((slot) => `${other.set.name}-${slot.ordinal}`);
    const more = missing.length > 3 ? ` and ${missing.length - 3} more` : '';
    const message =
      `${set.name} does not shrink while ${other.set.name} lacks pods: ` +
      `${names.join(', ')}${more} ${missing.length === 1 ? 'is' : 'are'} not available`;
    const pods = missing.flatMap((slot) => (slot.kind === 'not-ready' ? [slot.pod] : []));
    const requeue = whenStuck([...taken, ...pods], moment);
    return { why: because('ZoneBeingChanged', message), until: settledAt(missing), requeue };
  }
  return undefined;
}

/**
 * Reports whether the slot holds a stuck pod that is itself to go by a scale-down. Where nothing but stuck pods would go,
 * too, neither waits for the other: two zones that were to grow, and could not, would never shrink again (LIVE-3). One still
 * goes after the other, as what terminates counts.
 */
function isStuckSurplus(slot: Slot, set: StatefulSetView, moment: Shrinking): boolean {
  const to = moment.wanted.get(set.uid);
  if (to === undefined || slot.kind !== 'not-ready') return false;
  return isSurplus(slot.pod, set, to) && isStuck(stucknessOf(slot.pod, moment));
}

function stucknessOf(pod: PodView, { group, now }: CoordinationMoment): Stuckness {
  return stuckness(pod, { now, watched: group.watched, stuckAfter: group.stuckAfter });
}

/** Reports whether it is, and has been for long enough not to be a pod that is only being made. */
function isStuck(found: Stuckness): boolean {
  return found.kind === 'stuck-by-time' || (found.kind === 'stuck-by-cause' && !found.isNew);
}

/** Returns when time makes the first of `pods` stuck that is not yet. */
function whenStuck(pods: readonly PodView[], moment: CoordinationMoment): Requeue {
  let first: Requeue = { kind: 'await-change' };
  for (const pod of pods) {
    const found = stucknessOf(pod, moment);
    if (found.kind === 'stuck-by-time' || found.left === undefined) continue;
    first = sooner(first, { kind: 'at', at: after(moment.now, found.left) });
  }
  return first;
}

function isBeingRolled({ set }: SetSnapshot, slots: readonly Slot[]): boolean {
  const target = targetRevision(set);
  if (target === undefined || set.status.currentRevision !== target) return true;
  return slots.some((slot) => slot.kind !== 'missing' && isOutdated(slot.pod, target));
}

/**
 * Reports whether the slot may lack its pod because of us. What is ours is never stored, and neither a rollout nor a count
 * shows it any more once it was taken back; so whatever looks like it counts: a pod that goes, is not there yet, or was
 * never available since it was made. One that was, and broke by itself, counts only where a rollout is under way.
 */
function isPerhapsOurs(slot: Slot, set: StatefulSetView, isRolling: boolean): boolean {
  if (slot.kind === 'available') return false;
  if (slot.kind !== 'not-ready' || isRolling) return true;
  return !canHaveBeenAvailable(slot.pod, set.spec.minReady);
}
