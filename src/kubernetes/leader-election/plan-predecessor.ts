/** What a new holder may conclude of its predecessor, from what the Lease said before it took it. */
import { quoted } from '#base/text/quoted.ts';
import { type Millis, type Monotonic, monotonic } from '#base/units.ts';
import { longestLease } from '#config/config.ts';
import { type LeaseRecord, termText } from './lease-record.ts';
import type { Sighting } from './lease-sighting.ts';

/** Whether anything of a predecessor may still be under way. */
export type Predecessor =
  /** There never was a Lease: nothing of ours ran here. Another program may have. */
  | { readonly kind: 'none' }
  /** It wrote down that all its requests were answered. */
  | { readonly kind: 'ended'; readonly term: string }
  /** It did not say that it ended: what it sent last may arrive until the horizon has passed since `countedFrom`. */
  | {
      readonly kind: 'unclean';
      /** The only requests that may be under way, as its Lease names them; absent where it says nothing. */
      readonly requests?: readonly string[];
      /** No request of it left after this instant, which may be yet to come. */
      readonly countedFrom: Monotonic;
      /** A clause for people: why nothing is known. */
      readonly because: string;
    };

/** What else a conclusion rests on. */
export interface Vantage {
  /** When this process started. */
  readonly startedAt: Monotonic;
  readonly leaseDuration: Millis;
}

/**
 * Returns what may be concluded of the predecessor, where `seen` is what the Lease was just before it was taken.
 *
 * `countedFrom` is never before the start of this process, and never before the one that renewed the Lease last had to stop:
 * that renewal was sent before we saw it, and its sender sends nothing once its renew deadline has passed since. That is
 * a flag of its own, of which we know only that it is less than the duration of its Lease.
 *
 * @throws never: whatever is not understood is `unclean`
 */
export function predecessorOf(seen: Sighting, vantage: Vantage): Predecessor {
  const { startedAt, leaseDuration } = vantage;
  if (seen.kind === 'unseen') {
    return unclean(startedAt, 'the Lease cannot be read');
  }
  if (seen.kind === 'absent') {
    if (!seen.hadOne) return { kind: 'none' };
    return unclean(later(startedAt, seen.since, leaseDuration), 'the Lease was deleted');
  }
  const { record, since } = seen;
  const countedFrom = later(startedAt, since, believedDuration(record, leaseDuration));
  if (seen.isOld === true) return unclean(countedFrom, 'it has not been renewed for long');
  const term = endedTermOf(seen);
  if (term !== undefined) return { kind: 'ended', term };
  const { underWay } = record;
  return {
    ...unclean(countedFrom, clauseOf(record)),
    ...(underWay !== undefined && { requests: underWay }),
  };
}

/**
 * Returns how long a holder of `record` is believed to hold it after it was last seen to renew: what the record says where
 * that is more than our own flag, but not more than ten minutes, which no process of ours can ask for.
 */
export function believedDuration(record: LeaseRecord, own: Millis): Millis {
  const told = record.duration ?? own;
  if (told <= own) return own;
  return told < longestLease ? told : longestLease;
}

/** Returns the term that ended in good order, where the record proves it. */
function endedTermOf({ record, lastHolder }: Sighting & { kind: 'present' }): string | undefined {
  const { holder, endedTerm, uid, transitions } = record;
  if (holder !== undefined || endedTerm === undefined) return undefined;
  const start = termText({ uid, transitions, id: '' });
  if (!endedTerm.startsWith(start) || endedTerm.length === start.length) return undefined;
  const isOfLastHolder = lastHolder === undefined || endedTerm === `${start}${lastHolder}`;
  return isOfLastHolder ? endedTerm : undefined;
}

function clauseOf({ holder, endedTerm }: LeaseRecord): string {
  if (holder !== undefined) return `its holder ${quoted(holder)} did not give it up`;
  if (endedTerm !== undefined) return 'it was given up, but not by its last holder';
  return 'it was given up without a statement that all requests were answered';
}

function later(startedAt: Monotonic, since: Monotonic, span: Millis): Monotonic {
  return monotonic(Math.max(startedAt, since + span));
}

function unclean(countedFrom: Monotonic, because: string): Predecessor & { kind: 'unclean' } {
  return { kind: 'unclean', countedFrom, because };
}
