import { type Instant, type Millis, type Monotonic, millis } from '#base/units.ts';
import type { PreparationState } from './delayed-downscale-snapshot.ts';

type Prepared = Extract<PreparationState, { kind: 'prepared' }>;

/** What this process has seen of the preparation of a pod, so that no step of the wall clock moves its wait (D-55). */
export interface WatchedPreparation {
  /** The last answer that the pod is prepared; failures after it do not make its wait begin anew. */
  readonly prepared: Prepared | undefined;
  /** A moment after which the pod has said that it is not prepared. */
  readonly cancelled: { readonly uid: string; readonly startedAt: Monotonic } | undefined;
}

/** Nothing has been seen. */
export const unwatched: WatchedPreparation = { prepared: undefined, cancelled: undefined };

/** One POST that a pod answered. */
interface Answer {
  readonly uid: string;
  /** Since when the pod says that it is prepared. */
  readonly since: Instant;
  readonly now: Instant;
  readonly answeredAt: Monotonic;
}

/**
 * Returns the state of a pod that said to be prepared. Its wait is counted from the first such answer on; how long it had
 * lasted by then is what the wall clock says, but not longer than since the pod was out of it.
 */
export function preparedState(
  { prepared, cancelled }: WatchedPreparation,
  { uid, since, now, answeredAt }: Answer,
): Prepared {
  if (prepared?.uid === uid && prepared.since === since) return { ...prepared, answeredAt };
  const most = cancelled?.uid === uid ? answeredAt - cancelled.startedAt : Infinity;
  const elapsedThen = millis(Math.max(0, Math.min(now - since, most)));
  return { kind: 'prepared', uid, since, heardAt: answeredAt, elapsedThen, answeredAt };
}

/** Returns how long the pod of a slot has been prepared at `at`. */
export function elapsedOf({ elapsedThen, heardAt }: Prepared, at: Monotonic): Millis {
  return millis(elapsedThen + (at - heardAt));
}
