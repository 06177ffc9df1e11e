import type { LedgerAnswer } from '#control/disruption-ledger.ts';
import type { DisruptionRequest } from '#disruption/decide.ts';
import type { BudgetLedger } from './budget-ledgers.ts';
import type { GovernedSets } from './governed-sets.ts';

/** How often a view is proven for one question: what moves faster than it can be looked at is not disrupted. */
const mostProofs = 3;

/**
 * Returns the answers of a ledger to `requests`, on a view that is proven where something is given away; `unproven` where
 * that could not be done in a few attempts.
 *
 * @throws what a read or a write fails with; the reason of `signal` when that aborts first
 */
export async function askLedger(
  { ledger, scope }: BudgetLedger,
  requests: readonly DisruptionRequest[],
  { sets, signal }: { readonly sets: Pick<GovernedSets, 'prove'>; readonly signal: AbortSignal },
): Promise<readonly LedgerAnswer[]> {
  for (let proofs = 0; ; proofs += 1) {
    const answers = await Promise.all(requests.map((request) => ledger.ask(request, signal)));
    const isProven = answers.every(({ kind }) => kind !== 'unproven');
    if (isProven || proofs >= mostProofs) return answers;
    await sets.prove(scope, signal);
  }
}
