import type { Monotonic } from '#base/units.ts';
import type { Freshness } from '#kubernetes/informer/freshness.ts';
import type { Lister } from '#kubernetes/informer/informer.ts';
import type { PodView } from '#statefulset/view.ts';
import type { BudgetProof } from '../budget/budget-sight.ts';
import { type Basis, maxDecisionAge, type SetProof } from '../consistent-read/basis.ts';
import type { PodRef } from '../decision/decision.ts';
import type { OpenDisruptions } from '../write/open-disruptions.ts';
import type { Refusals } from '../write/refusals.ts';
import type { PredecessorWait } from './predecessor-wait.ts';

/** By what the view of a set, of its pods and of the budgets over them is proven. */
export type WholeProof = SetProof & {
  readonly budgets: BudgetProof;
  /** After what time the pods and the set must have been read, whatever their age; absent: after none. */
  readonly neededSince?: Monotonic;
};

/** Reports whether a disruption may rest on what is so proven, at the time `monotonic`. */
export function isProven(
  { pods, statefulSets, budgets, neededSince }: WholeProof,
  monotonic: Monotonic,
): boolean {
  if (pods === undefined || statefulSets === undefined || budgets.kind === 'unproven') return false;
  const sets = Math.min(pods.provenAt, statefulSets.provenAt);
  if (neededSince !== undefined && sets < neededSince) return false;
  const oldest = budgets.kind === 'proven' ? Math.min(sets, budgets.provenAt) : sets;
  return monotonic - oldest <= maxDecisionAge;
}

/** What says how new a view must be besides its age. */
export interface NeedPorts {
  readonly open: Pick<OpenDisruptions, 'madeAgainSince'>;
  readonly refusals: Pick<Refusals, 'outrunAt'>;
  readonly predecessor: Pick<PredecessorWait, 'neededSince'>;
}

/**
 * Returns after what time the view of `key` must have been read for `pods` to go on it: after this process began to lead, as an older
 * view may lack what its predecessor did last, after the server last said that its world had moved, and after one of them was noticed
 * that was made just like one that we took (REV-3).
 */
export function neededSince(
  pods: Iterable<PodRef>,
  { key, monotonic: now }: { readonly key: string; readonly monotonic: Monotonic },
  { open, refusals, predecessor }: NeedPorts,
): Monotonic {
  const times = [
    refusals.outrunAt(key),
    ...Array.from(pods, (pod) => open.madeAgainSince(pod, now)),
  ];
  return times
    .filter((at) => at !== undefined)
    .reduce((latest, at) => (at > latest ? at : latest), predecessor.neededSince);
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
