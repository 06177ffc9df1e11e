import type { Monotonic } from '#base/units.ts';
import type { BudgetAnswer } from '#disruption/decision/decide.ts';
import type { LedgerAnswer } from './ledger-questions.ts';

/** How old the view is that answers rest on, in addition to the ledger. */
interface ViewSight {
  /** Returns the time from which the ledger has what the view does not show; undefined where it shows all. */
  readonly unshownSince: () => Monotonic | undefined;
  /** Returns the answers to the same requests if the view were proven right now. */
  readonly asIfShown: () => readonly BudgetAnswer[];
}

/**
 * Returns `answers` as far as they hold: what stands in the way only because the view is older than the ledger may have
 * ended long ago, so that the view has to be proven before that is said.
 */
export function heldAnswers(
  answers: readonly BudgetAnswer[],
  { unshownSince, asIfShown }: ViewSight,
): readonly LedgerAnswer[] {
  if (answers.every(({ kind }) => kind === 'allowed')) return answers;
  const since = unshownSince();
  if (since === undefined) return answers;
  const shown = asIfShown();
  return answers.map((answer, index): LedgerAnswer => {
    const mayBeOver = answer.kind === 'denied' && shown[index]?.kind === 'allowed';
    return mayBeOver ? { kind: 'unproven', since } : answer;
  });
}

/** Returns what of `answers` may be said on a view that nothing proves: it is good enough to deny on, and gives nothing away. */
export function denialsIn(answers: readonly LedgerAnswer[]): readonly LedgerAnswer[] {
  return answers.map((answer) =>
    answer.kind === 'allowed' ? { kind: 'unproven', since: undefined } : answer,
  );
}
