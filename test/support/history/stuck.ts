import { type Instant, instant, type Millis, minutes, seconds } from '#base/units.ts';
import { isAvailable, type PodFacts, type SetFacts, slotCount } from './facts.ts';
import type { History, View } from './history.ts';

/**
 * Why a pod is stuck (D-48): `broken` by (a), its containers wait for a reason that the kubelet repeats, or it is
 * Pending or Failed; `long` by (b), it has not been ready for very long.
 */
export type Stuck = 'broken' | 'long';

/** Where a pod is looked at. */
export interface Seen {
  readonly history: History;
  readonly view: View;
  /** `-rollout.stuck-after`; 0: never by time. @default 30 min */
  readonly stuckAfter?: Millis;
}

const repeated: ReadonlySet<string> = new Set([
  'CrashLoopBackOff',
  'ImagePullBackOff',
  'ErrImagePull',
  'InvalidImageName',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

/** How long a pod that was ready is given before (a) holds. */
const grace = seconds(60);
/** Times of the API are whole seconds: a condition looks up to a second older than it is. */
const rounding = seconds(1);
const origin = instant(0);

/**
 * Returns why `pod` is stuck, whatever it runs; an outdated one may then be replaced without waiting for the other zones.
 * Undefined when it is not. Written apart from the operator's own reading, which it checks. A pod whose Ready condition is
 * True never is, nor one of which a field that decides is missing or cannot be read.
 */
export function stuckness(pod: PodFacts, seen: Seen): Stuck | undefined {
  if (pod.isTerminating || !isReadable(pod)) return undefined;
  const { hasBeenReady, unreadySince } = readinessOf(pod, seen);
  const unreadyFor = seen.view.now - unreadySince + rounding;
  if (isBroken(pod) && (!hasBeenReady || unreadyFor >= grace)) return 'broken';
  const { stuckAfter = minutes(30) } = seen;
  return stuckAfter !== 0 && unreadyFor >= stuckAfter && isByTime(pod) ? 'long' : undefined;
}

/** Reports whether time alone may make it stuck: not while it starts up, nor while nothing is heard of its node. */
function isByTime({ isStartingUp, ready }: PodFacts): boolean {
  return !isStartingUp && ready !== 'Unknown';
}

/** Reports whether `pod` runs another revision than the one that `set` is known to want. */
export function isOutdated(pod: PodFacts, set: SetFacts): boolean {
  return set.target !== undefined && pod.revision !== undefined && pod.revision !== set.target;
}

function isReadable(pod: PodFacts): boolean {
  if (pod.ready === 'True' || pod.phase === undefined) return false;
  // A pod that no kubelet has taken over yet, or has given up, has no Ready condition; its phase shows it.
  if (pod.ready === undefined) return pod.phase === 'Pending' || pod.phase === 'Failed';
  return pod.readyChangedAt !== undefined;
}

function isBroken({ phase, waiting }: PodFacts): boolean {
  return phase === 'Pending' || phase === 'Failed' || waiting.some((each) => repeated.has(each));
}

interface Readiness {
  readonly hasBeenReady: boolean;
  /** Since when it is not ready: what happened, and where the history began later, what its condition says. */
  readonly unreadySince: Instant;
}

function readinessOf(pod: PodFacts, { history, view }: Seen): Readiness {
  const set = pod.name.slice(0, Math.max(0, pod.name.lastIndexOf('-')));
  const revision = view.pods(set, pod.name);
  /** The beginning of the first version that is known since it was ready, or at all. */
  let first: Instant | undefined;
  for (const { value, from } of history.podVersions(pod, { revision, since: origin })) {
    if (value?.uid !== pod.uid) break;
    if (value.ready === 'True') {
      return { hasBeenReady: !looksNeverReady(pod), unreadySince: first ?? view.now };
    }
    first = from;
  }
  const hasBeenReady = !looksNeverReady(pod) && !isWhole(pod, first);
  // A history that begins in the middle of a pod's life knows less than the pod's condition.
  return { hasBeenReady, unreadySince: earlier(bySelf(pod) ?? view.now, first) };
}

function bySelf({ readyChangedAt, createdAt }: PodFacts): Instant | undefined {
  return readyChangedAt ?? createdAt;
}

function earlier(one: Instant, other: Instant | undefined): Instant {
  return other === undefined || one < other ? one : other;
}

/** Reports whether the history has the pod from its creation on. */
function isWhole({ createdAt }: PodFacts, first: Instant | undefined): boolean {
  return first !== undefined && createdAt !== undefined && first - createdAt <= rounding;
}

/** Reports whether its status reports no change of readiness since its kubelet took it over. */
function looksNeverReady({ ready, readyChangedAt, startedAt, createdAt }: PodFacts): boolean {
  if (ready === undefined) return true;
  const begun = startedAt ?? createdAt;
  return readyChangedAt !== undefined && begun !== undefined && readyChangedAt <= begun;
}

/**
 * Returns the slots of `set` in which a replacement is under way (D-48): terminating or missing, or with an unavailable pod
 * of the target revision. Where pods are made in order, one that is missing above a stuck pod only waits for that.
 */
export function slotsUnderWay(set: SetFacts, seen: Seen): ReadonlySet<number> {
  const found = new Set<number>();
  let isBehindStuck = false;
  for (const ordinal of ordinalsOf(set)) {
    const pod = ownPod(set, ordinal, seen);
    if (pod === undefined) {
      if (!(set.isOrderedReady && isBehindStuck)) found.add(ordinal);
    } else if (isOutdated(pod, set) && stuckness(pod, seen) !== undefined) {
      isBehindStuck = true;
    } else if (pod.isTerminating || isUnfinished(pod, set, seen.view.now)) {
      found.add(ordinal);
    }
  }
  return found;
}

function isUnfinished(pod: PodFacts, set: SetFacts, now: Instant): boolean {
  return pod.revision === set.target && !isAvailable(pod, set, now);
}

/** Reports whether all stuck pods of `set` may go at once: none of its pods is Ready, and all outdated ones are broken (D-48). */
export function isWhollyBroken(set: SetFacts, seen: Seen): boolean {
  return ordinalsOf(set).every((ordinal) => {
    const pod = ownPod(set, ordinal, seen);
    if (pod === undefined) return true;
    if (pod.ready === 'True') return false;
    return pod.isTerminating || !isOutdated(pod, set) || stuckness(pod, seen) === 'broken';
  });
}

function ordinalsOf(set: SetFacts): readonly number[] {
  return Array.from({ length: slotCount(set) }, (_, index) => set.ordinalsStart + index);
}

function ownPod(set: SetFacts, ordinal: number, { history, view }: Seen): PodFacts | undefined {
  const pod = history.slotPod(set, ordinal, view);
  return pod?.controllerUid === set.uid ? pod : undefined;
}
