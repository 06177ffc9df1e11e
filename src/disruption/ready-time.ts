import type { Parsed, Problem } from '#base/parsed.ts';
import { parseTimestamp } from '#base/timestamp.ts';
import { after, type Instant, type Millis, millis } from '#base/units.ts';
import { type Moment, watchedTime } from '#statefulset/availability.ts';
import { READY_TIME } from '#statefulset/parse-pod.ts';
import type { PodView } from '#statefulset/view.ts';

/** What the times of a pod say of the delay across zones. */
export interface DelayState {
  /** The first millisecond at which the delay is over; `unknown`: the pod is ready, and nothing tells since when. Undefined: it is over. */
  readonly until: Instant | 'unknown' | undefined;
  /** Why its annotation is passed over; undefined where it is not. */
  readonly problem: Problem | undefined;
}

/**
 * How `pod`, which is ready, stands to the `delay` across zones (Y5). It runs from when the pod became ready: from the Ready
 * condition's transition or the annotation, whichever is later. One that is malformed is passed over. A time to come
 * counts as now, and the delay ends at the latest when this process has watched it pass (D-55); where it saw the pod become
 * ready, only its own clock counts. At its very end the delay is not over yet.
 */
export function delayOf(pod: PodView, delay: Millis, moment: Moment): DelayState {
  const annotation = annotationOf(pod);
  const problem = annotation?.kind === 'invalid' ? annotation.problem : undefined;
  const noted = annotation?.kind === 'valid' ? annotation.value : undefined;
  const passed = readyFor(pod, latest(pod.readySince, noted), moment);
  if (passed === undefined) return { until: 'unknown', problem };
  const until = passed > delay ? undefined : after(moment.now, millis(delay - passed + 1));
  return { until, problem };
}

/** How long the pod, which says that it is ready `since` then, has been so; undefined: nothing tells. */
function readyFor(
  pod: PodView,
  since: Instant | undefined,
  { now, watched }: Moment,
): Millis | undefined {
  const seen = watchedTime(pod, watched);
  if (watched?.witnessed.has(pod.uid) === true) return seen;
  if (since === undefined) return watched?.since.has(pod.uid) === true ? seen : undefined;
  return millis(Math.max(0, now - since, seen));
}

function annotationOf({ name, readyTime }: PodView): Parsed<Instant> | undefined {
  if (readyTime === undefined) return undefined;
  return parseTimestamp(readyTime, `metadata.annotations["${READY_TIME}"] of pod ${name}`);
}

function latest(one: Instant | undefined, other: Instant | undefined): Instant | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one > other ? one : other;
}
