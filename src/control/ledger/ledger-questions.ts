import type { Instant, Monotonic } from '#base/units.ts';
import type { BudgetAnswer, DisruptionRequest } from '#disruption/decision/decide.ts';
import type { Ledger } from '#disruption/ledger.ts';
import type { Standing } from '#disruption/standing.ts';
import type { ClockReading } from './batched-swaps.ts';

/** How all pods under a budget stand, and since when that is proven. */
export interface ProvenStanding {
  readonly standing: Standing;
  /** When the request was sent that proves it; undefined while nothing does. */
  readonly provenAt: Monotonic | undefined;
}

/** All that a round is decided on. */
export interface RoundMoment {
  readonly ledger: Ledger;
  readonly at: ClockReading;
  readonly view: ProvenStanding;
}

/** What the ledger of a budget says to a request. */
export type LedgerAnswer =
  | BudgetAnswer
  /** Nothing prevents it as far as is seen, and the view is not proven to be fresh: prove it, and ask again. */
  | {
      readonly kind: 'unproven';
      /** When the proof must have been asked for; undefined: lately. */
      readonly since: Monotonic | undefined;
    }
  /** The caller does not ask this any more: the budgets over the pod have changed. */
  | { readonly kind: 'outdated' }
  /** It is unknown what is given away: `until` then, or until it is corrected. */
  | { readonly kind: 'unclear'; readonly why: string; readonly until: Instant | undefined };

/** What is asked of the one order in which a ledger is written. */
export type Asked =
  | {
      readonly kind: 'disruption';
      readonly request: DisruptionRequest;
      readonly isAsked: () => boolean;
    }
  /** Stores what has ended since. */
  | { readonly kind: 'store' }
  /** Finds out what is there; makes the ledger of a budget that was made just now. */
  | { readonly kind: 'look' };

/** Returns pods of which `next` has fewer claims than `before`. */
export function droppedBy(before: Ledger, next: Ledger): ReadonlySet<string> {
  const dropped = [...before.reservations.values()].filter(
    ({ uid, claims }) => (next.reservations.get(uid)?.claims.length ?? 0) < claims.length,
  );
  return new Set(dropped.map(({ uid }) => uid));
}

/** What is asked as of one instant: `outdated` of a budget that has not to be asked for it any more, or for `nothing`. */
export type LedgerQuestion = DisruptionRequest | 'outdated' | 'nothing';

/** Returns `asked` as of now. */
export function questionsOf(asked: readonly Asked[]): readonly LedgerQuestion[] {
  return asked.map((each) => {
    if (each.kind !== 'disruption') return 'nothing';
    return each.isAsked() ? each.request : 'outdated';
  });
}

/** Returns those of `questions` that ask for something. */
export function requestsOf(questions: readonly LedgerQuestion[]): readonly DisruptionRequest[] {
  return questions.filter((each) => typeof each !== 'string');
}

/**
 * Returns `answers` to {@link requestsOf}, each in the place of its question; what asks for nothing gets none that says
 * anything.
 */
export function inOrder(
  questions: readonly LedgerQuestion[],
  answers: readonly LedgerAnswer[],
): readonly LedgerAnswer[] {
  const next = answers.values();
  return questions.map((each) => {
    if (each === 'nothing') return noAnswer;
    return each === 'outdated' ? { kind: 'outdated' } : (next.next().value ?? noAnswer);
  });
}

/** Answers what asked for no permission. */
const noAnswer: LedgerAnswer = { kind: 'unclear', why: 'nothing was asked for', until: undefined };
