import type { Monotonic } from '#base/units.ts';
import type { DisruptionRequest } from '#disruption/decision/decide.ts';
import type { DisruptionLedger } from './disruption-ledger.ts';
import type { LedgerAnswer } from './ledger-questions.ts';

/** How often a view is proven for one question: what moves faster than it can be looked at is not disrupted. */
const mostProofs = 3;

/** What asking a ledger goes through. */
export interface AskOptions {
  /** Has the view of what the budget governs proven again, since the latest of what it is to show. */
  prove(signal: AbortSignal, since: Monotonic | undefined): Promise<void>;
  readonly signal: AbortSignal;
  /** Whether it is still this budget that has to be asked; looked at at the instant of each decision. @default it is */
  readonly isAsked?: () => boolean;
}

/**
 * Returns the answers of a ledger to `requests`, on a view that is proven where something is given away; `unproven` where
 * that could not be done in a few attempts.
 *
 * @throws what a read or a write fails with; the reason of `signal` when that aborts first
 */
export async function askLedger(
  ledger: Pick<DisruptionLedger, 'ask'>,
  requests: readonly DisruptionRequest[],
  { signal, isAsked, ...view }: AskOptions,
): Promise<readonly LedgerAnswer[]> {
  for (let proofs = 0; ; proofs += 1) {
    const answers = await Promise.all(
      requests.map((request) => ledger.ask(request, signal, isAsked)),
    );
    const unproven = answers.filter((answer) => answer.kind === 'unproven');
    if (unproven.length === 0 || proofs >= mostProofs) return answers;
    const times = unproven.flatMap(({ since }) => since ?? []);
    await view.prove(signal, times.toSorted((a, b) => b - a)[0]);
  }
}
