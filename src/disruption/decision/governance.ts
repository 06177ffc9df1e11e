/** Whether what a plan takes away is permitted: the same judgement as that of the ledger, without asking it. */

import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import type { Instant } from '#base/units.ts';
import type { Ledger } from '../ledger.ts';
import type { ReleaseMoment } from '../release.ts';
import type { Reservation } from '../reservation.ts';
import { type Standing, slotIn } from '../standing.ts';
import { heldIn } from './decide.ts';
import type { Denial } from './denial.ts';
import { explain } from './denial-text.ts';
import { type BudgetQuestion, denialOf } from './judge.ts';
import type { Permission } from './permission.ts';
import { Tally } from './tally.ts';

/** What this process knows of a ledger. */
export type KnownLedger =
  /** Nothing: it has to be read. */
  | { readonly kind: 'unread' }
  /** It is unknown what is given away; `until` then, or until it is corrected. */
  | { readonly kind: 'unclear'; readonly why: string; readonly until: Instant | undefined }
  | { readonly kind: 'known'; readonly ledger: Ledger };

/** One budget as one instant shows it. */
export interface BudgetMoment {
  readonly standing: Standing;
  readonly ledger: KnownLedger;
  /** Whether the ledger is young enough for what is given to be used. */
  readonly isLedgerFresh: boolean;
  /** The same of the view of the pods. */
  readonly isViewFresh: boolean;
  readonly release: ReleaseMoment;
  /** uids of pods whose reservation a write under way may take out. */
  readonly dropping: ReadonlySet<string>;
}

/** What a plan wants of one budget. */
export interface Wanted extends BudgetQuestion {
  readonly by: 'rollout' | 'scale-down';
}

/**
 * Returns what the budget of `moment` says to each of `wanted`, in their order: each counts what those before it take. A
 * reservation of ours that is stored is a permission only as long as nothing prevents it: the world may have changed
 * since.
 */
export function permissionsOn(
  moment: BudgetMoment,
  wanted: readonly Wanted[],
): readonly Permission[] {
  const { standing, ledger, release } = moment;
  const { ref } = standing.budget;
  if (ledger.kind === 'unclear') {
    const { why, until } = ledger;
    const end =
      until === undefined ? 'until that is corrected' : `until ${formatUtcSeconds(until)}`;
    const message = `it is unknown which disruptions the ${ref.kind} ${ref.name} has granted, ${end}: ${why}`;
    return wanted.map(() => ({ kind: 'unclear', message, until }));
  }
  const held = ledger.kind === 'known' ? heldIn(ledger.ledger, standing, release) : [];
  const counted = new Tally(standing, held, release);
  const least = new Tally(standing, leastHeld(moment), release);
  return wanted.map((question): Permission => {
    const denial = denialOf(question, counted);
    if (denial === undefined) {
      if (isGiven(question, held, moment)) return { kind: 'given' };
      const taken = reservationOf(question, moment);
      counted.add(taken);
      least.add(taken);
      return { kind: 'to-ask' };
    }
    if (denialOf(question, least) === undefined) return { kind: 'to-ask' };
    const until = denial.kind === 'disturbed' ? denial.until : undefined;
    return { kind: 'refused', message: explain(denial, ref), until };
  });
}

/** Returns why the pods alone, whatever is granted, rule out `question`; undefined: they do not. */
export function denialByView(
  question: BudgetQuestion,
  standing: Standing,
  now: Instant,
): Denial | undefined {
  return denialOf(question, new Tally(standing, [], { now }));
}

/**
 * Returns what must still be given away: what others were given may have ended since the ledger was read, and what the view
 * shows may have come after a reservation that it was not proven since.
 */
function leastHeld({
  ledger,
  standing,
  release,
  isLedgerFresh,
}: BudgetMoment): readonly Reservation[] {
  if (ledger.kind !== 'known' || !isLedgerFresh) return [];
  return heldIn(ledger.ledger, standing, { ...release, viewProvenAt: release.sightings?.now });
}

function isGiven(
  { pod, by }: Wanted,
  held: readonly Reservation[],
  { isLedgerFresh, isViewFresh, release, dropping }: BudgetMoment,
): boolean {
  if (!isLedgerFresh || !isViewFresh) return false;
  if (release.leader === undefined || dropping.has(pod.uid)) return false;
  const { term } = release.leader;
  const reservation = held.find(({ uid }) => uid === pod.uid);
  return reservation?.claims.some((claim) => claim.by === by && claim.term === term) === true;
}

/** Returns what counts as taken for those that follow. */
function reservationOf({ pod, by }: Wanted, { standing, release }: BudgetMoment): Reservation {
  const term = release.leader?.term ?? '';
  const slot = slotIn(standing, pod.name);
  return { uid: pod.uid, slot, claims: [{ by, term, at: release.now }] };
}
