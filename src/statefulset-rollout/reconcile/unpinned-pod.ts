import type { Instant } from '#base/units.ts';
import type { GroupBudgets, WantedDisruption } from '#control/budget/group-budgets.ts';
import type { SetProof } from '#control/consistent-read/basis.ts';
import type { PodRef } from '#control/decision/decision.ts';
import { podRef } from '#control/decision/refs.ts';
import { budgetHold, type LookedAt } from '#control/plan/set-holds.ts';
import { type NeedPorts, neededSince, type WholeProof } from '#control/plan/set-proof.ts';
import type { Permission } from '#disruption/decision/permission.ts';
import type { IndexedPod } from '#statefulset/revision.ts';
import type { PodView } from '#statefulset/view.ts';
import { isLowering, type RolloutAction } from '../plan/plan-decision.ts';
import { isPinned, nextUnpinned } from '../plan/plan-pinned-set.ts';
import type { RolloutProgress } from '../progress.ts';
import { type Governance, type RolledSet, ungoverned } from '../snapshot.ts';

/** What is asked about pods that a partition lets go. */
export interface UnpinnedPorts {
  /** Disruption budgets of our own kinds; evictions ask these by the webhook. */
  readonly zoneBudgets: GroupBudgets;
}

/** The pod that a lower partition lets go next, and what our disruption budgets say to that. */
export interface UnpinnedPod {
  readonly next: IndexedPod | undefined;
  readonly permission?: Permission | undefined;
  readonly governance: Governance;
}

/** Returns the pod of `target` that a lower partition lets go next; the set may pin none. */
export function unpinnedOf(
  progress: RolloutProgress,
  target: RolledSet | undefined,
  { now, ports }: { readonly now: Instant; readonly ports: UnpinnedPorts },
): UnpinnedPod {
  const isPinning = target !== undefined && isPinned(progress, target.set);
  const next = isPinning ? nextUnpinned(target) : undefined;
  if (next === undefined) return { next, governance: ungoverned };
  const [permission] = ports.zoneBudgets.judge([unpinning(next.pod)], now);
  const isGoverned = permission !== undefined && permission.kind !== 'ungoverned';
  const hold = budgetHold(permission, now);
  return { next, permission, governance: { isGoverned, ...(hold !== undefined && { hold }) } };
}

/** Returns the disruption that letting `pod` go by a partition is. */
export function unpinning(pod: PodView): WantedDisruption {
  return { pod, by: 'rollout', maxUnavailable: 1 };
}

function goingBy(
  action: RolloutAction | undefined,
  unpinned: Pick<UnpinnedPod, 'next'>,
): readonly PodRef[] {
  if (action?.kind === 'evict' || action?.kind === 'delete-pods') return action.pods;
  const pod = letGoBy(action, unpinned);
  return pod === undefined ? [] : [podRef(pod)];
}

/** Returns the pod that `action` lets go, of those that are asked for one by one; undefined where it lets none go. */
export function letGoBy(
  action: RolloutAction | undefined,
  { next }: Pick<UnpinnedPod, 'next'>,
): PodView | undefined {
  if (next === undefined || action?.kind !== 'set-partition' || !action.isLowering)
    return undefined;
  return action.to !== undefined && action.to <= next.index ? next.pod : undefined;
}

/** Returns by what a request that carries `action` out is proven. */
export function wholeProofOf(
  {
    proof,
    action,
    unpinned,
  }: {
    readonly proof: SetProof;
    readonly action: RolloutAction | undefined;
    readonly unpinned: UnpinnedPod;
  },
  at: LookedAt,
  ports: NeedPorts & UnpinnedPorts,
): WholeProof {
  return {
    ...proof,
    budgets: isLowering(action) ? ports.zoneBudgets.proof(at.key) : { kind: 'not-permitted' },
    neededSince: neededSince(goingBy(action, unpinned), at, ports),
  };
}
