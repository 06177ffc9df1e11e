import type { Clock } from '#base/clock.ts';
import { type Millis, type Monotonic, millis, monotonic, seconds } from '#base/units.ts';
import { isOfTerm, type LeaseRecord, termText } from './lease-record.ts';
import type { LeaseAnswer, LeaseRequests } from './lease-requests.ts';
import type { Leadership } from './plan-lease.ts';

/** How long a process whose Lease was lost tries to write down that nothing of it is under way. */
export const patienceAfterLoss = seconds(60);

/**
 * Returns the term that was `lost`, to be given up all the same: while the Lease still names it nothing else can have begun, and
 * that nothing of it is under way spares the next one its wait.
 */
export function lostTerm(lost: Leadership | undefined, now: Monotonic): Leadership | undefined {
  return lost && { ...lost, heldUntil: monotonic(now + patienceAfterLoss) };
}

/** Reports whether the predecessor of a term was waited out: else its successor's successor has to wait for it, too. */
export function isWaitOver(
  { predecessor }: Leadership,
  { clock, predecessorHorizon }: { readonly clock: Clock; readonly predecessorHorizon: Millis },
): boolean {
  if (predecessor.kind !== 'unclean' || predecessor.requests?.length === 0) return true;
  return clock.monotonic() >= predecessor.countedFrom + predecessorHorizon;
}

/** What {@link giveUp} needs. */
export interface GiveUpOptions {
  readonly clock: Clock;
  readonly requests: LeaseRequests;
  readonly renewDeadline: Millis;
  readonly retryPeriod: Millis;
  /** How often it is tried at most; a conflict costs two requests. @default 4 */
  readonly tries?: number;
}

/**
 * Empties the Lease and writes down that the term ended in good order, in one update that names the revision at which it
 * was still ours.
 *
 * @param last the Lease as it was last seen, if that may be relied on
 * @returns whether it is there; false also where the Lease is in other hands, or the renew deadline passes first
 */
export async function giveUp(
  options: GiveUpOptions,
  leadership: Leadership,
  last: LeaseRecord | undefined,
): Promise<boolean> {
  const { clock, retryPeriod, tries = 4 } = options;
  let record = last;
  for (let tried = 0; tried < tries; tried += 1) {
    if (record !== undefined && !isOfTerm(record, leadership.term)) return false;
    const answer = await send(options, leadership, record);
    switch (answer.kind) {
      case 'record':
        if (record !== undefined) return answer.record.endedTerm === termText(leadership.term);
        ({ record } = answer);
        break;
      case 'conflict':
        record = undefined;
        break;
      case 'failed':
        record = undefined;
        await clock.sleep(retryPeriod, { owner: 'lease' });
        break;
      default:
        return false;
    }
  }
  return false;
}

async function send(
  { clock, requests, renewDeadline }: GiveUpOptions,
  { term, heldUntil }: Leadership,
  record: LeaseRecord | undefined,
): Promise<LeaseAnswer> {
  const { signal } = new AbortController();
  const rest = heldUntil - clock.monotonic();
  // It may be another owner's by now, so that to us it is gone.
  if (rest <= 0) return { kind: 'absent' };
  const timeout = millis(Math.min(renewDeadline / 2, rest));
  return requests.send(
    record === undefined ? { kind: 'read' } : { kind: 'give-up', record, term },
    {
      signal,
      timeout,
      notAfter: heldUntil,
      underWay: undefined,
    },
  );
}
