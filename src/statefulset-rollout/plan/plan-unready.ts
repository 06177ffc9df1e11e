import type { RolloutSnapshot } from '../snapshot.ts';
import { because, type Step } from './plan-outcome.ts';
import { namesOf, type Place } from './plan-places.ts';

/** Which pods are to go, and the snapshot of the rollout. */
interface Going {
  readonly pass: { readonly snapshot: Pick<RolloutSnapshot, 'budgets'> };
  readonly candidates: readonly Place[];
}

/**
 * Returns `obstacle` with what lets pods go that cannot become ready, where a budget keeps them: by its usual policy the API
 * server evicts no pod that is not ready while fewer are ready than the budget wants, and these pods themselves are why.
 */
export function withAdvice(
  obstacle: Pick<Step, 'because' | 'until'>,
  { pass, candidates }: Going,
): Pick<Step, 'because' | 'until'> {
  const { reason, message } = obstacle.because;
  const broken = candidates.filter(({ stuckBy }) => stuckBy !== undefined);
  const budget = pass.snapshot.budgets.find(({ evictsUnready }) => !evictsUnready);
  if (reason !== 'PDBBlocked' || broken.length === 0 || budget === undefined) return obstacle;
  const advice =
    `${namesOf(broken)} cannot become ready, and PodDisruptionBudget ${budget.name} keeps pods that are not ready, too, ` +
    'while fewer are ready than it wants: set its spec.unhealthyPodEvictionPolicy to AlwaysAllow to let them go';
  return { ...obstacle, because: because(reason, `${message}; ${advice}`) };
}
