import { contestOf } from '../plan/plan-set.ts';
import { isTerminal } from '../progress.ts';
import type { RolloutMoment } from './rollout-moment.ts';

/** Returns what `moment` waits for, and who else names its set, be there anything to do or not (D-63). */
export function toldHolds({
  rollout,
  plan,
  snapshot,
}: Pick<RolloutMoment, 'rollout' | 'plan' | 'snapshot'>): readonly {
  readonly reason: string;
  readonly message: string;
}[] {
  // Also at rest a set that is gone is news, and stays a reason to look.
  const isWaiting = !isTerminal(plan.progress.phase) || plan.because?.reason === 'SetNotFound';
  const waits =
    isWaiting && plan.action === undefined && plan.because !== undefined ? [plan.because] : [];
  const isContested = !rollout.isDeleting && snapshot.conflicts.length > 0;
  const contest = isContested ? contestOf(snapshot) : undefined;
  if (contest === undefined) return waits;
  return [contest, ...waits.filter(({ reason }) => reason !== contest.reason)];
}
