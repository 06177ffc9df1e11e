import type { Because } from '#base/because.ts';
import type { Instant } from '#base/units.ts';
import type { SetSnapshot } from '#control/group-sets.ts';
import type { Reason } from '#control/reasons.ts';
import { because } from '#control/refs.ts';
import { canHaveBeenAvailable, wasNeverReady } from '#statefulset/availability.ts';
import { parseOrdinal } from '#statefulset/parse-ordinal.ts';
import { isOutdated, targetRevision } from '#statefulset/revision.ts';
import { type Slot, settledAt, slotsOf } from '#statefulset/slot.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import { hold, type Moment, timeOf, type Wish } from './plan-wish.ts';
import type { CoordinationSnapshot } from './snapshot.ts';

type ScaleWish = Extract<Wish, { kind: 'scale' }>;

/**
 * The wish, or why it has to wait for the sake of others: a write that was refused is not repeated at once (KW-22), and
 * available pods go only while no other zone lacks pods that we may have taken away (EXCL-1, D-17).
 */
export function safely(wish: ScaleWish, snapshot: SetSnapshot, moment: Moment): Wish {
  const { set } = snapshot;
  const { to } = wish.scale;
  const { group } = moment;
  const { kind: _, scale: __, isFollower: ___, ...keep } = wish;
  const pace = group.paces.get(set.uid);
  if (pace !== undefined && pace.to === to && pace.until > group.takenAt) {
    return { ...hold(set, pace.because, timeOf(moment, pace.until)), ...keep };
  }
  const takes = takenBy(snapshot, to, group);
  if (takes === 0) return wish;
  const unanswered = [...group.unanswered].find(([name]) => name !== set.name);
  if (unanswered !== undefined) {
    const [name, { until }] = unanswered;
    const message = `${set.name} does not shrink as a request to lower the replicas of ${name} got no answer`;
    return { ...hold(set, because('AwaitingAnswer', message), until), ...keep };
  }
  const disrupted = disruptedZone(snapshot, moment);
  if (disrupted !== undefined) return { ...hold(set, disrupted.why, disrupted.until), ...keep };
  return { ...wish, scale: { ...wish.scale, takes } };
}

/**
 * How many pods go when `snapshot` shrinks to `to` that may serve. One that is not ready may be back in the moment in
 * which it is taken; only of a pod that never was can that be said not to be.
 */
function takenBy(
  { set, pods }: SetSnapshot,
  to: number,
  { leaving }: CoordinationSnapshot,
): number {
  const { ordinalsStart, replicas } = set.spec;
  if (to >= replicas) return 0;
  return pods.filter((pod) => {
    const index = (parseOrdinal(pod.name, set.name) ?? -1) - ordinalsStart;
    if (index < to || index >= replicas) return false;
    return !pod.isTerminating && !leaving.has(pod.uid) && !wasNeverReady(pod);
  }).length;
}

interface DisruptedZone {
  readonly why: Because<Reason>;
  /** When time alone ends it: its pods are ready, and become available. */
  readonly until: Instant | undefined;
}

function disruptedZone({ set }: SetSnapshot, { group, now }: Moment): DisruptedZone | undefined {
  for (const other of group.sets) {
    if (other.set.uid === set.uid) continue;
    const { leaving, watched } = group;
    const slots = slotsOf({ ...other, leaving, watched }, now);
    const isRolling = isBeingRolled(other, slots);
    const missing = slots.filter((slot) => isPerhapsOurs(slot, other.set, isRolling));
    if (missing.length === 0) continue;
    const names = missing.slice(0, 3).map((slot) => `${other.set.name}-${slot.ordinal}`);
    const more = missing.length > 3 ? ` and ${missing.length - 3} more` : '';
    const message =
      `${set.name} does not shrink while ${other.set.name} is being changed: ` +
      `${names.join(', ')}${more} ${missing.length === 1 ? 'is' : 'are'} not available`;
    return { why: because('ZoneBeingChanged', message), until: settledAt(missing) };
  }
  return undefined;
}

function isBeingRolled({ set }: SetSnapshot, slots: readonly Slot[]): boolean {
  const target = targetRevision(set);
  if (target === undefined || set.status.currentRevision !== target) return true;
  return slots.some((slot) => slot.kind !== 'missing' && isOutdated(slot.pod, target));
}

/**
 * Whether the slot may lack its pod because of us. What is ours is never stored, and neither a rollout nor a count shows
 * it any more once it was taken back; so whatever looks like it counts: a pod that goes, is not there yet, or was never
 * available since it was made. One that was, and broke by itself, counts only where a rollout is under way.
 */
function isPerhapsOurs(slot: Slot, set: StatefulSetView, isRolling: boolean): boolean {
  if (slot.kind === 'available') return false;
  if (slot.kind !== 'not-ready' || isRolling) return true;
  return !canHaveBeenAvailable(slot.pod, set.spec.minReady);
}
