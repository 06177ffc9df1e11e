import {
  type ResourceControllerPorts,
  runResources,
  statesOf,
  wakeByPods,
  wakeByViews,
} from '#control/resource/run-resources.ts';
import type { Change } from '#kubernetes/informer/informer.ts';
import { objectKey } from '#kubernetes/object-key.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import { ownerAnnotation, type RolloutView } from './parse-resource.ts';
import { indexes } from './reconcile/phased-indexes.ts';
import { PhasedPasses, type PhasedPassesPorts } from './reconcile.ts';

/** What the controller of PhasedRollouts is made of. */
export interface PhasedControllerPorts extends ResourceControllerPorts, PhasedPassesPorts {
  readonly queue: WorkQueue;
  /** Calls `wake` when what is known of budgets has changed. */
  readonly onBudgetChange: (wake: () => void) => void;
}

/** PhasedRollouts worked on at once: a pass mostly waits, for reads and writes of its own. */
const workers = 64;

/**
 * Watches PhasedRollouts, StatefulSets and pods, and reconciles whatever a change concerns, at once. The informers must
 * have synced. Ends when `signal` aborts, the passes under way have ended, and what was sent is answered.
 *
 * @returns whether every disruption got its answer, and no predecessor is waited for any more
 */
export async function runPhasedRollouts(
  ports: PhasedControllerPorts,
  signal: AbortSignal,
): Promise<{ readonly isSettled: boolean }> {
  const { budgets, letGo, questions } = ports;
  const passes = new PhasedPasses(ports);
  budgets.follow(letGo);
  wakeByChanges(ports);
  const close = (): Promise<void> => questions.close();
  const { isSettled } = await runResources(ports, { passes, workers, close }, signal);
  return { isSettled: isSettled && !passes.hasLostPartition() };
}

/** Wakes whatever a change concerns, and everything once. */
function wakeByChanges(ports: PhasedControllerPorts): void {
  const { queue, rollouts, statefulSets } = ports;
  const wakeTargeting = (key: string): void => {
    for (const each of rollouts.lister.by(indexes.target, key)) queue.add(objectKey(each));
  };
  const wakeSet = (set: StatefulSetView): void => {
    wakeTargeting(objectKey(set));
    const owner = set.annotations[ownerAnnotation];
    if (owner !== undefined) queue.add(objectKey({ namespace: set.namespace, name: owner }));
  };
  rollouts.onChange((change) => {
    for (const rollout of statesOf(change)) queue.add(objectKey(rollout));
    if (!hasLetGo(change)) return;
    // Who waits for the same set may have it now.
    for (const rollout of statesOf(change)) {
      const { namespace } = rollout;
      wakeTargeting(objectKey({ namespace, name: targetOf(rollout) ?? '' }));
    }
  });
  statefulSets.onChange((change) => statesOf(change).forEach(wakeSet));
  wakeByPods(ports, wakeSet);
  ports.onBudgetChange(wakeByViews(ports, rollouts));
}

/** Reports whether a PhasedRollout may have given up the set that it targeted. */
function hasLetGo(change: Change<RolloutView>): boolean {
  if (change.kind === 'deleted') return true;
  return change.kind === 'updated' && targetOf(change.old) !== targetOf(change.object);
}

function targetOf({ spec }: RolloutView): string | undefined {
  return spec.kind === 'valid' ? spec.value.targetRef : undefined;
}
