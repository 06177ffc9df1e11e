import type { Monotonic } from '#base/units.ts';
import type { Freshness } from '#kubernetes/informer/freshness.ts';
import type { Lister } from '#kubernetes/informer/informer.ts';
import type { PodView } from '#statefulset/view.ts';
import type { BudgetProof } from '../budget/budget-sight.ts';
import { type Basis, maxDecisionAge, type SetProof } from '../consistent-read/basis.ts';
import type { OpenDisruptions } from '../write/open-disruptions.ts';

/** By what the view of a set, of its pods and of the budgets over them is proven. */
export type WholeProof = SetProof & { readonly budgets: BudgetProof };

/** Reports whether a disruption may rest on what is so proven, at the time `monotonic`. */
export function isProven(
  { pods, statefulSets, budgets }: WholeProof,
  monotonic: Monotonic,
): boolean {
  if (pods === undefined || statefulSets === undefined || budgets.kind === 'unproven') return false;
  const sets = Math.min(pods.provenAt, statefulSets.provenAt);
  const oldest = budgets.kind === 'proven' ? Math.min(sets, budgets.provenAt) : sets;
  return monotonic - oldest <= maxDecisionAge;
}

/** Returns what a request rests on; what needs no proof rests on the object alone, whose resourceVersion it names. */
export function basisOf(
  { pods, statefulSets, budgets }: WholeProof,
  monotonic: Monotonic,
  term: string | undefined,
): Basis {
  const none = { view: '', proof: '', provenAt: monotonic };
  return {
    pods: pods ?? none,
    statefulSets: statefulSets ?? none,
    budgets: budgets.kind === 'unproven' ? { kind: 'not-permitted' } : budgets,
    ...(term !== undefined && { term }),
  };
}

/** What {@link leavingAt} looks at. */
export interface LeavingPorts {
  readonly open: OpenDisruptions;
  readonly pods: { readonly lister: Lister<PodView>; readonly freshness: Freshness };
}

/** Returns the uids of pods with a deletion that was sent and does not show yet, or has no answer (D-7). */
export function leavingAt(now: Monotonic, { open, pods }: LeavingPorts): ReadonlySet<string> {
  return open.leaving({
    now,
    find: (pod) => pods.lister.get(pod.namespace, pod.name),
    hasSeen: (revision) => pods.freshness.hasSeen(revision),
  });
}
