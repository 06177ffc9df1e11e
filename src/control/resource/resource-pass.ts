import type { Because } from '#base/because.ts';
import { after, type Millis, millis, seconds } from '#base/units.ts';
import type { Requeue } from '../decision/decision.ts';
import type { LookedAt } from '../plan/set-holds.ts';
import type { OpenDisruptions } from '../write/open-disruptions.ts';
import type { UnseenWrite } from '../write/unseen-writes.ts';

/** How a pass ended over a resource that is there. */
export interface EndedPass<T> {
  readonly kind: 'ended';
  readonly resource: T;
  /** What is waited for. */
  readonly holds: readonly Because[];
  readonly requeue: Requeue;
}

/** What a pass over a custom resource came to. */
export type ResourcePassEnd<T, Ended extends EndedPass<T> = EndedPass<T>> =
  | { readonly kind: 'gone' }
  | Ended;

/** How long a write of ours may be missing in its cache before that is reported. */
const patience: Millis = seconds(10);

/**
 * Returns how a pass over `resource` ends while one of `writes` is on its way: nothing is decided on what was before it.
 * Undefined where the caches show all of them.
 */
export function awaitingOwnWrite<T>(
  resource: T,
  writes: readonly (UnseenWrite | undefined)[],
  { now, monotonic }: Pick<LookedAt, 'now' | 'monotonic'>,
): EndedPass<T> | undefined {
  const unseen = writes.find((each) => each !== undefined);
  if (unseen === undefined) return undefined;
  const left = unseen.answeredAt + patience - monotonic;
  if (left > 0) {
    return {
      kind: 'ended',
      resource,
      holds: [],
      requeue: { kind: 'at', at: after(now, millis(left)) },
    };
  }
  const message = `a write that was stored at revision ${unseen.revision} does not show for more than 10 s`;
  const holds = [{ reason: 'AwaitingOwnWrite', message }];
  return { kind: 'ended', resource, holds, requeue: { kind: 'await-change' } };
}

/** Returns when a request for one of `pods` that had no answer counts for nothing any more: nothing else reports that. */
export function unansweredUntil(
  pods: readonly { readonly uid: string }[],
  open: Pick<OpenDisruptions, 'nextHorizon'>,
  { now, monotonic }: Pick<LookedAt, 'now' | 'monotonic'>,
): Requeue {
  const uids = new Set(pods.map(({ uid }) => uid));
  const horizon = open.nextHorizon(({ uid }) => uids.has(uid));
  if (horizon === undefined) return { kind: 'await-change' };
  return { kind: 'at', at: after(now, millis(Math.max(0, horizon - monotonic))) };
}
