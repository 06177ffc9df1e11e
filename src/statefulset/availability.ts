import { after, type Instant, type Millis } from '#base/units.ts';
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
