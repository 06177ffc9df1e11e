import { after, type Instant, type Millis, seconds } from '#base/units.ts';
import type { PodView } from './view.ts';

/**
 * Whether `pod` serves: Running, condition Ready, all containers ready and running, not terminating (D-10
 * without the time). Unlike availability this can be said without a clock.
 */
export function isReady(pod: PodView): boolean {
  return (
    pod.phase === 'Running' &&
    !pod.isTerminating &&
    pod.areContainersReady &&
    pod.readySince !== undefined
  );
}

/**
 * When `pod` is available, if nothing changes: the Ready condition's transition plus `minReady`; undefined while
 * it is not ready. Our clock is compared with the kubelet's, so a time to come is "not yet" (D-10).
 */
export function availableFrom(pod: PodView, minReady: Millis): Instant | undefined {
  return isReady(pod) && pod.readySince !== undefined ? after(pod.readySince, minReady) : undefined;
}

/** Kubernetes writes times in whole seconds. */
const resolution: Millis = seconds(1);

/**
 * Whether `pod`, which is not ready, can have been available before: whether from its start to its last loss of
 * readiness more than `minReady` passed. A pod that was taken away cannot, once it is made anew; where the status does
 * not tell, it counts so (fail closed).
 */
export function canHaveBeenAvailable(pod: PodView, minReady: Millis): boolean {
  return pod.unreadyAfter !== undefined && pod.unreadyAfter > minReady + resolution;
}
