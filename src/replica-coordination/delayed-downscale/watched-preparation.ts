import { type Instant, type Millis, type Monotonic, millis } from '#base/units.ts';
import type { PreparationState } from './delayed-downscale-snapshot.ts';

type Prepared = Extract<PreparationState, { kind: 'prepared' }>;

/** What this process has heard of the preparation of a slot's pod, so that no step of the wall clock moves its wait (D-55). */
export interface WatchedPreparation {
  /** The last answer that the pod is prepared; failures after it, of DELETE too, do not make its wait begin again. */
  readonly prepared: Prepared | undefined;
  /** When the pod last said that it is not prepared. */
  readonly cancelledAt: Monotonic | undefined;
}

/** Nothing has been heard. */
export const unwatched: WatchedPreparation = { prepared: undefined, cancelledAt: undefined };

/** One POST that a pod answered. */
interface Answer {
  readonly uid: string;
  /** Since when the pod says that it is prepared. */
  readonly since: Instant;
  readonly now: Instant;
  readonly answeredAt: Monotonic;
}

/** Returns the state of a pod that said to be prepared. */
export function preparedState(watched: WatchedPreparation, answer: Answer): Prepared {
  const { uid, since, answeredAt } = answer;
  const elapsedThen = millis(Math.max(0, elapsedAt(watched, answer)));
  return { kind: 'prepared', uid, since, answeredAt, elapsedThen };
}

/**
 * Returns how long the wait had lasted at an answer. Only for the first one the wall clock says it, and then not longer than
 * since the slot's pod was out of it. Later ones move it by as much as the pod's own time differs from what was said before:
 * not at all as a rule, also where a new pod repeats it, as pods keep it when they restart (DD-26).
 */
function elapsedAt(
  { prepared, cancelledAt }: WatchedPreparation,
  { since, now, answeredAt }: Answer,
): number {
  if (prepared !== undefined) {
    return elapsedOf(prepared, answeredAt) - Math.abs(since - prepared.since);
  }
  return Math.min(now - since, answeredAt - (cancelledAt ?? -Infinity));
}

/** Returns how long the pod of a slot has been prepared at `at`. */
export function elapsedOf({ elapsedThen, answeredAt }: Prepared, at: Monotonic): Millis {
  return millis(elapsedThen + (at - answeredAt));
}
