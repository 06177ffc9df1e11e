/** Whether what a plan takes away is permitted: the same judgement as that of the ledger, without asking it. */
import type { Instant } from '#base/units.ts';
import { formatUtcSeconds } from '#base/utc-seconds.ts';
import { heldIn } from './decide.ts';
import { explain } from './denial-text.ts';
import { denialOf, type Question } from './judge.ts';
import type { Ledger } from './ledger.ts';
import type { Permission } from './permission.ts';
import type { ReleaseMoment } from './release.ts';
import type { Reservation } from './reservation.ts';
import type { Standing } from './standing.ts';
import { Tally } from './tally.ts';

/** What this process knows of a ledger. */
export type KnownLedger =
  /** Nothing: it has to be read. */
  | { readonly kind: 'unread' }
  /** Nobody knows what is given away; `until` then, or until somebody mends it. */
  | { readonly kind: 'unclear'; readonly why: string; readonly until: Instant | undefined }
  | { readonly kind: 'known'; readonly ledger: Ledger };

/** One budget as one instant shows it. */
export interface BudgetMoment {
  readonly standing: Standing;
  readonly ledger: KnownLedger;
  /** Whether the ledger, and the view of the pods, are young enough for what is given to be used. */
  readonly isFresh: boolean;
  /** Whether the ledger alone is: it denies on a view that nothing proves, and so is believed when it has just been asked. */
  readonly isLedgerFresh: boolean;
  readonly release: ReleaseMoment;
  /** uids of pods whose reservation a write under way may take out. */
  readonly dropping: ReadonlySet<string>;
}

/** What a plan wants of one budget. */
export interface Wanted extends Question {
  readonly by: 'rollout' | 'scale-down';
}

/**
 * What the budget of `moment` says to each of `wanted`, in their order: each counts what those before it take. A reservation
 * of ours that is stored is a permission only as long as nothing stands against it: the world may have changed since.
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
      until === undefined ? 'until somebody mends that' : `until ${formatUtcSeconds(until)}`;
    const message = `nobody knows what the ${ref.kind} ${ref.name} has given away, ${end}: ${why}`;
    return wanted.map(() => ({ kind: 'unclear', message, until }));
  }
  const held = ledger.kind === 'known' ? heldIn(ledger.ledger, standing, release) : [];
  const counted = new Tally(standing, held, release);
  const bare = new Tally(standing, [], release);
  return wanted.map((question): Permission => {
    const denial = denialOf(question, counted);
    if (denial === undefined) {
      if (isGiven(question, held, moment)) return { kind: 'given' };
      counted.add(reservationOf(question, moment));
      return { kind: 'to-ask', budgets: [ref] };
    }
    // What others were given may have ended since the ledger was read.
    const mayHaveEnded = !moment.isLedgerFresh && denialOf(question, bare) === undefined;
    if (mayHaveEnded) return { kind: 'to-ask', budgets: [ref] };
    const until = denial.kind === 'disturbed' ? denial.until : undefined;
    return { kind: 'refused', message: explain(denial, ref), until };
  });
}

function isGiven(
  { pod, by }: Wanted,
  held: readonly Reservation[],
  { isFresh, release, dropping }: BudgetMoment,
): boolean {
  if (!isFresh || release.leader === undefined || dropping.has(pod.uid)) return false;
  const { term } = release.leader;
  const reservation = held.find(({ uid }) => uid === pod.uid);
  return reservation?.claims.some((claim) => claim.by === by && claim.term === term) === true;
}

/** What counts as taken for those that follow. */
function reservationOf({ pod, by }: Wanted, { standing, release }: BudgetMoment): Reservation {
  const slot = standing.places.get(pod.name)?.slot ?? {
    pod: pod.name,
    set: undefined,
    zone: undefined,
  };
  const term = release.leader?.term ?? '';
  return { uid: pod.uid, slot, claims: [{ by, term, at: release.now }] };
}
