import { type Instant, type Millis, millis, seconds } from '#base/units.ts';
import { wasNeverReady, watchedTime } from './availability.ts';
import type { PodView, Unready, Watched } from './view.ts';

/** How long a pod that was Ready once is not, before a reason that keeps it so counts: it may be back in a second. */
const patience = seconds(60);

/** When it is, and from when on by time alone. More that is known of nodes would be a further member. */
export interface StuckMoment {
  readonly now: Instant;
  readonly watched: Watched;
  /** How long a pod is not ready without a break before that alone makes it stuck; undefined: never. */
  readonly stuckAfter: Millis | undefined;
}

/** Whether a pod that is not ready can become ready by itself (D-48). */
export type Stuckness =
  /** It may; `left` until time makes it stuck if nothing else changes, undefined where time does not. */
  | { readonly kind: 'not-stuck'; readonly left: Millis | undefined }
  /**
   * It cannot: `cause` says why, such as `CrashLoopBackOff`. `isNew` while it is not that long; then `left` until it
   * will be.
   */
  | {
      readonly kind: 'stuck-by-cause';
      readonly cause: string;
      readonly isNew: boolean;
      readonly left: Millis | undefined;
    }
  /** It is unknown why, but it has not been ready for so long. */
  | { readonly kind: 'stuck-by-time'; readonly time: Millis };

/**
 * Reports whether `pod` is stuck. Never while its Ready condition is True, or because something is missing or cannot be
 * read; by time never while a start-up probe runs, or when its node may be out of reach. Does not ask whether it is
 * terminating.
 */
export function stuckness(pod: PodView, moment: StuckMoment): Stuckness {
  if (pod.unready === undefined) return { kind: 'not-stuck', left: undefined };
  const time = unreadyTime(pod, moment);
  const cause = causeOf(pod);
  const byTime = timeLimitOf(pod.unready, moment);
  if (cause !== undefined) {
    const left = leftUntil(patience, time);
    if (left === 0) return { kind: 'stuck-by-cause', cause, isNew: false, left: undefined };
    if (wasNeverReady(pod)) return { kind: 'stuck-by-cause', cause, isNew: true, left };
  }
  if (time !== undefined && leftUntil(byTime, time) === 0) return { kind: 'stuck-by-time', time };
  const limit = cause === undefined ? byTime : earlier(patience, byTime);
  return { kind: 'not-stuck', left: leftUntil(limit, time) };
}

/**
 * Returns how long it is not ready without a break, by its condition and by what was watched: the shorter counts. Undefined:
 * unreadable.
 */
function unreadyTime(pod: PodView, { now, watched }: StuckMoment): Millis | undefined {
  const { condition, since, isUnscheduled } = pod.unready ?? {};
  if (since === undefined || (condition !== 'False' && isUnscheduled !== true)) return undefined;
  return millis(Math.max(0, Math.min(now - since, watchedTime(pod, watched))));
}

/** Phases of pods that do not run, and of which two never will again. */
const idlePhases: ReadonlySet<PodView['phase']> = new Set(['Pending', 'Failed', 'Succeeded']);

/** Returns why it cannot run, as a person reads it; undefined where nothing is known to keep it from running. */
function causeOf({ unready, trouble, phase }: PodView): string | undefined {
  if (unready?.isBackingOff === true) return trouble;
  return idlePhases.has(phase) ? (trouble ?? phase) : undefined;
}

function timeLimitOf(unready: Unready, { stuckAfter }: StuckMoment): Millis | undefined {
  return unready.isStartingUp || unready.isOutOfReach ? undefined : stuckAfter;
}

/** Returns what is left of `limit` after `time`, >= 0; undefined where there is no limit, or the time is not known. */
function leftUntil(limit: Millis | undefined, time: Millis | undefined): Millis | undefined {
  if (limit === undefined || time === undefined) return undefined;
  return millis(Math.max(0, limit - time));
}

function earlier(one: Millis, other: Millis | undefined): Millis {
  return other === undefined ? one : millis(Math.min(one, other));
}

/** Reports whether `pod`, made in the place of a stuck one, is stuck like it. One that is Pending is at first only being made. */
export function isStuckReplacement(pod: PodView, stuckness: Stuckness): boolean {
  if (stuckness.kind !== 'stuck-by-cause') return stuckness.kind === 'stuck-by-time';
  const isBeingMade = pod.phase === 'Pending' && pod.unready?.isBackingOff !== true;
  return !(isBeingMade && stuckness.isNew);
}
