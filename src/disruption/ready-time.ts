import type { Parsed, Problem } from '#base/parsed.ts';
import { parseTimestamp } from '#base/time/timestamp.ts';
import { after, type Instant, instant, type Millis, millis } from '#base/units.ts';
import { type AvailabilityTime, watchedTime } from '#statefulset/availability.ts';
import { READY_TIME } from '#statefulset/parse-pod.ts';
import type { PodView } from '#statefulset/view.ts';

/** What the times of a pod say of the delay across zones. */
export interface DelayState {
  /** The first millisecond at which the delay is over; `unknown`: the pod is ready, and nothing says since when. Undefined: it is over. */
  readonly until: Instant | 'unknown' | undefined;
  /** Why its annotation is passed over; undefined where it is not. */
  readonly problem: Problem | undefined;
}

/**
 * Returns how `pod`, which is ready, stands to the `delay` across zones. It runs from when the pod became ready: from the
 * Ready condition's transition or the annotation, whichever is later. One that is malformed is passed over. A time to come
 * counts as now, and the delay ends at the latest when this process has watched it pass (D-55); where it saw the pod become
 * ready, only its own clock counts. At its very end the delay is not over yet.
 */
export function delayOf(pod: PodView, delay: Millis, moment: AvailabilityTime): DelayState {
  const annotation = annotationOf(pod);
  const problem = annotation?.kind === 'invalid' ? annotation.problem : undefined;
  const noted = annotation?.kind === 'valid' ? annotation.value : undefined;
  const end = endOf(pod, { delay, since: latest(pod.readySince, noted) }, moment);
  if (end === undefined) return { until: 'unknown', problem };
  return { until: end > moment.now ? end : undefined, problem };
}

/** Returns when the delay is over that began `since` then, if the pod stays ready; undefined: nothing says. */
function endOf(
  pod: PodView,
  { delay, since }: { readonly delay: Millis; readonly since: Instant | undefined },
  { now, watched }: AvailabilityTime,
): Instant | undefined {
  const hasWatched = watched?.since.has(pod.uid) === true;
  const seen = hasWatched ? after(now, millis(delay - watchedTime(pod, watched) + 1)) : undefined;
  if (seen !== undefined && watched?.witnessed.has(pod.uid) === true) return seen;
  const told = since === undefined ? undefined : after(since, millis(delay + 1));
  if (seen === undefined || told === undefined) return seen ?? told;
  return instant(Math.min(seen, told));
}

function annotationOf({ name, readyTime }: PodView): Parsed<Instant> | undefined {
  if (readyTime === undefined) return undefined;
  return parseTimestamp(readyTime, `metadata.annotations["${READY_TIME}"] of pod ${name}`);
}

function latest(one: Instant | undefined, other: Instant | undefined): Instant | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one > other ? one : other;
}
