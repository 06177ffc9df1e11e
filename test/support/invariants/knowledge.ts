import { after, type Instant, type Millis, millis, seconds } from '#base/units.ts';
import type { Call } from '#cluster/event-log.ts';
import type { History } from '../history/history.ts';
import type { Receipts } from './proof.ts';

/** What the sender of a request could know is decided by this. */
export interface Knowledge {
  readonly history: History;
  /** As in `ShownOptions`; undefined: it is unknown. */
  readonly by: Receipts | Millis | undefined;
  /** How old what a decision rests on may be, whatever was shown: `A` of docs/rules/words.md. */
  readonly maxDecisionAge: Millis;
}

/** How long a client may take until what it was shown counts in what it sends (D-57). */
const tolerance = seconds(1);

/**
 * Returns since when something must have been so for the sender of `call` to know it: what it had been shown a second before
 * it sent, and what is older than its view may be. Undefined where that is unknown.
 */
export function knownSince(
  call: Call | undefined,
  { by, history, maxDecisionAge }: Knowledge,
): Instant | undefined {
  if (call === undefined || by === undefined) return undefined;
  const { client, startedAt } = call;
  const before = (span: number): Instant => after(startedAt, millis(0 - span));
  if (typeof by === 'number') return before(by);
  const revision = by.shown(client, 'pods', before(tolerance));
  const unseen = history.nextPodCommit(revision) ?? startedAt;
  // What was so until the first change that it was not shown is what it may have acted on.
  return before(Math.min(Math.max(startedAt - unseen + 1, tolerance), maxDecisionAge));
}
