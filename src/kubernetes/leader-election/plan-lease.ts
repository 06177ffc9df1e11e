/**
 * Who holds the Lease, as a state machine without a clock: what was seen goes in, the next request comes out.
 *
 *     candidate --create, acquire--> leading --renewed in time--> leading
 *         ^  \--holder renews: wait     |--deadline passed, Lease gone or in other hands--> lost
 *
 * Two never hold it at once: a holder stops `renewDeadline` after it *sent* its last successful renewal, and no other process
 * takes it before `leaseDuration` after that renewal was *seen*, by a clock of their own. Only a holder's word that
 * it ended shortens that. All instants are monotonic; the times in the Lease are never compared with a clock.
 */
import { quoted } from '#base/text/quoted.ts';
import { type Millis, type Monotonic, monotonic } from '#base/units.ts';
import { isOfTerm, type LeaseRecord, nextTransitions, type Term } from './lease-record.ts';
import { type Look, type Sighting, sightingAfter } from './lease-sighting.ts';
import { believedDuration, type Predecessor, predecessorOf } from './plan-predecessor.ts';
import { denialLife } from './role-denial.ts';

/** Who takes part, and how patient it is. */
export interface ElectionSettings {
  /** The random identity of this process. */
  readonly id: string;
  readonly leaseDuration: Millis;
  /** Shorter than `leaseDuration`. */
  readonly renewDeadline: Millis;
  /** From the start of one round of requests to the next; less than `renewDeadline`. */
  readonly retryPeriod: Millis;
  /** How long a predecessor is waited for: the end of an own term is not clean before that is over. */
  readonly predecessorHorizon: Millis;
}

/** An acquisition that was sent, and whose answer has not been seen. */
export interface Attempt {
  /** The revision that it replaces; undefined for a creation. */
  readonly replaces: string | undefined;
  /** `leaseTransitions` that it writes. */
  readonly transitions: number;
  readonly predecessor: Predecessor;
}

/** The Lease is ours. */
export interface Leadership {
  readonly term: Term;
  readonly predecessor: Predecessor;
  /** `renewDeadline` after the last successful renewal was sent; from then on it is not ours. */
  readonly heldUntil: Monotonic;
}

/** All that one process knows of its Lease. */
export interface ElectionMemory {
  readonly startedAt: Monotonic;
  readonly sighting: Sighting;
  /** Whether `sighting` may be acted on: it was read in this round, or is our own last write. */
  readonly isCurrent: boolean;
  /** Whether this process disrupted without a Lease: then another may have done the same. */
  readonly hasLedWithout: boolean;
  readonly attempt: Attempt | undefined;
  readonly leadership: Leadership | undefined;
}

/** What to do next. */
export type LeaseStep =
  | { readonly kind: 'read' }
  | { readonly kind: 'create'; readonly attempt: Attempt }
  | { readonly kind: 'acquire'; readonly record: LeaseRecord; readonly attempt: Attempt }
  | { readonly kind: 'renew'; readonly record: LeaseRecord; readonly predecessor: Predecessor }
  /** Nothing before the next round. */
  | { readonly kind: 'wait'; readonly because: string }
  /** It was ours, and is not any more. */
  | { readonly kind: 'lost'; readonly because: string };

/** A step that is a request. */
export type LeaseRequest = Exclude<LeaseStep, { kind: 'wait' | 'lost' }>;

/** What came of a request, as far as it shows something of the Lease. */
export type LeaseNews =
  | (Look & { readonly kind: 'read' })
  | {
      readonly kind: 'written';
      readonly record: LeaseRecord;
      readonly predecessor: Predecessor;
      /** When it was handed to the connection, or before. */
      readonly sentAt: Monotonic;
      readonly at: Monotonic;
    }
  /** A write was refused because the Lease had changed, or has no answer: what is there must be read. */
  | { readonly kind: 'unsure' };

/** Returns what a process knows that has just started. */
export function newMemory(startedAt: Monotonic): ElectionMemory {
  return {
    startedAt,
    sighting: { kind: 'unseen' },
    isCurrent: false,
    hasLedWithout: false,
    attempt: undefined,
    leadership: undefined,
  };
}

/** Reports whether the Lease is ours at `now`; false from the very instant of the deadline. */
export function isHeldAt({ leadership }: ElectionMemory, now: Monotonic): boolean {
  return leadership !== undefined && now < leadership.heldUntil;
}

/** Returns the next step at `now`; total: every memory has one. */
export function planLease(
  memory: ElectionMemory,
  settings: ElectionSettings,
  now: Monotonic,
): LeaseStep {
  const { leadership, sighting } = memory;
  if (leadership !== undefined && now >= leadership.heldUntil) {
    const span = settings.renewDeadline / 1_000;
    return { kind: 'lost', because: `it was not renewed for ${span} s` };
  }
  if (!memory.isCurrent || sighting.kind === 'unseen') return { kind: 'read' };
  if (leadership !== undefined) return planHolder(leadership, sighting);
  return sighting.kind === 'absent'
    ? planAbsent(memory, sighting, { settings, now })
    : planCandidate(memory, sighting, { settings, now });
}

/** Returns `memory` with `news`. */
export function learn(
  memory: ElectionMemory,
  settings: ElectionSettings,
  news: LeaseNews,
): ElectionMemory {
  switch (news.kind) {
    case 'unsure':
      return { ...memory, isCurrent: false };
    case 'read':
      return {
        ...memory,
        isCurrent: true,
        sighting: sightingAfter(memory.sighting, news),
        attempt: attemptAfter(memory.attempt, { id: settings.id, record: news.record }),
      };
    default:
      return written(memory, settings, news);
  }
}

/** Returns what this process may conclude of its predecessor, if it takes the Lease at `now` or leads without it. */
function predecessorAt(
  memory: ElectionMemory,
  settings: ElectionSettings,
  now: Monotonic,
): Predecessor {
  const { sighting, startedAt, hasLedWithout } = memory;
  // While nothing is seen of a Lease, no process can have gained it: it is the same work that goes on.
  if (!hasLedWithout || sighting.kind === 'unseen')
    return predecessorOf(sighting, { ...settings, startedAt });
  const because = 'this process had no Lease before, and another may have had none either';
  // The other one may go on until its last denial is too old.
  const countedFrom = monotonic(now + denialLife(settings));
  return { kind: 'unclean', countedFrom, because };
}

/**
 * Returns the same for a process that leads without a Lease: whatever that says, and where there is none, others may have led without
 * one, too.
 */
export function predecessorWithout(
  memory: ElectionMemory,
  settings: ElectionSettings,
  now: Monotonic,
): Predecessor {
  const found = predecessorAt(memory, settings, now);
  if (found.kind === 'unclean' && found.requests === undefined) return found;
  const countedFrom = found.kind === 'unclean' ? found.countedFrom : memory.startedAt;
  const because = 'what led without a Lease has told nobody how it ended';
  return { kind: 'unclean', countedFrom, because };
}

function planHolder({ term, predecessor }: Leadership, sighting: Sighting): LeaseStep {
  if (sighting.kind !== 'present') return { kind: 'lost', because: 'it was deleted' };
  const { record } = sighting;
  if (isOfTerm(record, term)) return { kind: 'renew', record, predecessor };
  if (record.uid !== term.uid) {
    return { kind: 'lost', because: 'it was deleted and made again' };
  }
  const holder = record.holder === undefined ? 'no process' : quoted(record.holder);
  return { kind: 'lost', because: `it is held by ${holder} in term ${record.transitions}` };
}

interface Moment {
  readonly settings: ElectionSettings;
  readonly now: Monotonic;
}

function planAbsent(
  memory: ElectionMemory,
  { since, hadOne }: Sighting & { kind: 'absent' },
  { settings, now }: Moment,
): LeaseStep {
  // The holder of the one that is gone may not know yet.
  if (hadOne && now - since < settings.leaseDuration) {
    return { kind: 'wait', because: 'it was deleted, and its holder may not know yet' };
  }
  const predecessor = predecessorAt(memory, settings, now);
  return { kind: 'create', attempt: { replaces: undefined, transitions: 0, predecessor } };
}

function planCandidate(
  memory: ElectionMemory,
  { record, since }: Sighting & { kind: 'present' },
  { settings, now }: Moment,
): LeaseStep {
  const { attempt, startedAt } = memory;
  if (attempt !== undefined && hasLanded(attempt, settings.id, record)) {
    return { kind: 'renew', record, predecessor: attempt.predecessor };
  }
  const hasEnded = predecessorOf(memory.sighting, { ...settings, startedAt }).kind === 'ended';
  if (!hasEnded && now - since < believedDuration(record, settings.leaseDuration)) {
    const { holder } = record;
    const because =
      holder === undefined
        ? 'it has no holder, but its last one may not know yet'
        : `it is held by ${quoted(holder)}`;
    return { kind: 'wait', because };
  }
  const predecessor = predecessorAt(memory, settings, now);
  const transitions = nextTransitions(record);
  const replaces = record.resourceVersion;
  return { kind: 'acquire', record, attempt: { replaces, transitions, predecessor } };
}

function hasLanded({ transitions }: Attempt, id: string, record: LeaseRecord): boolean {
  return record.holder === id && record.transitions === transitions;
}

/** An attempt whose revision is gone can land no more, unless what is there is its very outcome. */
function attemptAfter(
  attempt: Attempt | undefined,
  { id, record }: { readonly id: string; readonly record: LeaseRecord | undefined },
): Attempt | undefined {
  if (attempt === undefined || hasSame(attempt, record)) return attempt;
  return record !== undefined && hasLanded(attempt, id, record) ? attempt : undefined;
}

function hasSame({ replaces }: Attempt, record: LeaseRecord | undefined): boolean {
  return replaces === record?.resourceVersion;
}

function written(
  memory: ElectionMemory,
  settings: ElectionSettings,
  news: LeaseNews & { kind: 'written' },
): ElectionMemory {
  const { record, sentAt, at } = news;
  const sighting = sightingAfter(memory.sighting, news);
  const heldUntil = monotonic(sentAt + settings.renewDeadline);
  // An answer that comes too late to gain by it: the next round reads that it is ours, and renews.
  const isLate = memory.leadership === undefined && at >= heldUntil;
  if (record.holder !== settings.id || isLate) {
    return { ...memory, sighting, isCurrent: false };
  }
  const { uid, transitions } = record;
  const term = { uid, transitions, id: settings.id };
  const leadership = { term, predecessor: predecessorOfTerm(memory, settings, news), heldUntil };
  return { ...memory, sighting, isCurrent: true, attempt: undefined, leadership };
}

/** What was concluded at the attempt is too old where this process disrupted without a Lease until now. */
function predecessorOfTerm(
  memory: ElectionMemory,
  settings: ElectionSettings,
  { predecessor, at }: LeaseNews & { kind: 'written' },
): Predecessor {
  const isGained = memory.leadership === undefined;
  return isGained && memory.hasLedWithout ? predecessorAt(memory, settings, at) : predecessor;
}
