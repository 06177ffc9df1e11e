import { after, type Instant, type Millis, millis, seconds } from '#base/units.ts';
import type { PodView, Watched } from './view.ts';

/**
 * Reports whether `pod` serves: Running, condition Ready, all containers ready and running, not terminating (D-10 without
 * the time). Unlike availability this can be said without a clock.
 */
export function isReady(pod: PodView): boolean {
  return (
    pod.phase === 'Running' &&
    !pod.isTerminating &&
    pod.areContainersReady &&
    pod.unready === undefined
  );
}

/** When it is, by the wall clock, and by what this process has watched. */
export interface AvailabilityTime {
  readonly now: Instant;
  /** Without it only the times count that pods carry. */
  readonly watched?: Watched | undefined;
}

/** From when on a pod is available; `unknown`: it is Ready, but since when cannot be read, and it has not been watched. */
export type AvailableFrom = Instant | 'unknown';

/**
 * Returns from when on `pod` is available, if nothing changes; not after `now` when it is. Undefined while it is not ready.
 *
 * Without a `minReady` that is at once, whatever the clocks say. Otherwise `minReady` runs from the Ready condition's
 * transition, one to come counting as now, and ends at the latest when this process has watched it pass (D-55). Where
 * this process saw the pod become Ready, only its own clock counts: another's that is ahead would end the time at once.
 */
export function availableFrom(
  pod: PodView,
  minReady: Millis,
  { now, watched }: AvailabilityTime,
): AvailableFrom | undefined {
  if (!isReady(pod)) return undefined;
  if (minReady <= 0) return now;
  const unwatched = minReady - watchedTime(pod, watched);
  if (pod.readySince === undefined) {
    return watched?.since.has(pod.uid) === true ? after(now, millis(unwatched)) : 'unknown';
  }
  if (watched?.witnessed.has(pod.uid) === true) return after(now, millis(unwatched));
  const told = minReady - Math.max(0, now - pod.readySince);
  return after(now, millis(Math.min(told, unwatched)));
}

/** Returns how long the Ready condition of `pod` has been watched to be as it is now; 0 where it was just seen. */
export function watchedTime({ uid }: PodView, watched: Watched | undefined): Millis {
  const since = watched?.since.get(uid);
  return since === undefined || watched === undefined ? millis(0) : millis(watched.now - since);
}

/** Kubernetes writes times in whole seconds. */
const resolution: Millis = seconds(1);

/**
 * Reports whether `pod`, which is not ready, can have been available before: whether from its start to its last loss of
 * readiness more than `minReady` passed. A pod that was taken away cannot, once it is recreated; where the status does not
 * tell, it counts so (fail closed).
 */
export function canHaveBeenAvailable(pod: PodView, minReady: Millis): boolean {
  return pod.unreadyAfter !== undefined && pod.unreadyAfter > minReady + resolution;
}

/**
 * Reports whether the status of `pod` says that it was never Ready since it was made: it has no node yet, or its Ready
 * condition is False since it was started. Where the status does not say, it was.
 */
export function wasNeverReady({ unready, unreadyAfter }: PodView): boolean {
  if (unready === undefined) return false;
  if (unready.isUnscheduled) return true;
  if (unready.condition !== 'False' || unreadyAfter === undefined) return false;
  return Math.abs(unreadyAfter) <= resolution;
}
