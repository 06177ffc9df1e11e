/** What a process has seen of a Lease, from one look to the next: since when it is as it is, and who held it last. */
import { type Instant, type Millis, type Monotonic, minutes } from '#base/units.ts';
import type { LeaseRecord } from './lease-record.ts';

/** What was last seen under the name of the Lease. */
export type Sighting =
  | { readonly kind: 'unseen' }
  | {
      readonly kind: 'absent';
      /** When it was first seen to be absent. */
      readonly since: Monotonic;
      /** Whether there was one before: then it was deleted while this process watched. */
      readonly hadOne: boolean;
    }
  | {
      readonly kind: 'present';
      readonly record: LeaseRecord;
      /** When this fingerprint was first seen; the renewal that it shows is at least as old. */
      readonly since: Monotonic;
      /** Who was last seen to hold this Lease, also if it has no holder now. */
      readonly lastHolder: string | undefined;
      /** Whether it had not been renewed for long when this process first saw it, and was not since. */
      readonly isOld?: true;
    };

/** Age of a renewal from which a Lease says nothing of what led last, at least. */
const oldFrom = minutes(2);

/**
 * Reports whether `record` was renewed so long ago, by the wall clock `now`, that a process may have led without a Lease since: such a
 * one waits for `horizon` before it disrupts anything. A clock that is wrong may cost a wait.
 */
function isOld(
  { renewedAt }: LeaseRecord,
  { now, horizon }: { readonly now: Instant; readonly horizon: Millis },
): boolean {
  if (renewedAt === undefined) return true;
  return Math.abs(now - renewedAt) >= Math.max(horizon, oldFrom);
}

/** What one look, or a write of our own, has shown. */
export interface Look {
  /** Undefined: there is none. */
  readonly record: LeaseRecord | undefined;
  readonly at: Monotonic;
  /** Whether it has not been renewed for long. */
  readonly isOld?: true;
}

/** Returns what a look has shown at the time `at`, which is `now` by the wall clock. */
export function lookAt(
  record: LeaseRecord,
  { at, ...age }: { readonly at: Monotonic; readonly now: Instant; readonly horizon: Millis },
): Look {
  return { record, at, ...(isOld(record, age) && { isOld: true }) };
}

/** Returns what is known of the Lease after `look`. */
export function sightingAfter(before: Sighting, look: Look): Sighting {
  const { record, at } = look;
  const known = before.kind === 'present' ? before : undefined;
  if (record === undefined) {
    return before.kind === 'absent'
      ? before
      : { kind: 'absent', since: at, hadOne: known !== undefined };
  }
  // The uid is in the fingerprint, and so is the holder.
  if (known?.record.fingerprint === record.fingerprint) return { ...known, record };
  const seen = { kind: 'present', record, since: at } as const;
  if (known === undefined) {
    return { ...seen, lastHolder: record.holder, ...(look.isOld === true && { isOld: true }) };
  }
  // A renewal that this process has seen is not old.
  const earlierHolder = known.record.uid === record.uid ? known.lastHolder : undefined;
  return { ...seen, lastHolder: record.holder ?? earlierHolder };
}
