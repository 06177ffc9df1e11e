import { errorOf } from '#base/error-of.ts';
import { runController } from '#control/run-controller.ts';
import { indexes as setIndexes } from '#control/watch/group-sets.ts';
import type { Change } from '#kubernetes/informer/informer.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import { RevisionWentBackError } from '#kubernetes/revision.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { ownerAnnotation, type RolloutView } from './parse-resource.ts';
import { indexes } from './reconcile/phased-indexes.ts';
import { PhasedReconciler, type PhasedReconcilerPorts } from './reconcile.ts';

/** What the controller of PhasedRollouts is made of. */
export interface PhasedControllerPorts extends PhasedReconcilerPorts {
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
  const { queue, clock, log, rollouts, predecessor, questions } = ports;
  const reconciler = new PhasedReconciler(ports);
  ports.budgets.follow(ports.letGo);
  wakeByChanges(ports);
  try {
    await runController(
      {
        queue,
        clock,
        workers,
        reconcile: (key, passSignal) => reconciler.reconcile(key, passSignal),
        report: (key, error) =>
          log.error('reconcile ended with a fault of this program', { key, err: errorOf(error) }),
        isFatal: (error) => error instanceof RevisionWentBackError,
      },
      signal,
    );
  } finally {
    await Promise.all([questions.close(), reconciler.idle()]);
  }
  const keys = [...rollouts.lister.list()].map(nameOf);
  return { isSettled: !reconciler.hasUnanswered() && !predecessor.isPending(keys) };
}

/** Wakes whatever a change concerns, and everything once. */
function wakeByChanges({
  queue,
  rollouts,
  statefulSets,
  pods,
  onBudgetChange,
}: PhasedControllerPorts): void {
  const wakeTargeting = (key: string): void => {
    for (const each of rollouts.lister.by(indexes.target, key)) queue.add(nameOf(each));
  };
  const wakeSet = (set: StatefulSetView): void => {
    wakeTargeting(nameOf(set));
    const owner = set.annotations[ownerAnnotation];
    if (owner !== undefined) queue.add(`${set.namespace}/${owner}`);
  };
  rollouts.onChange((change) => {
    for (const rollout of statesOf(change)) queue.add(nameOf(rollout));
    if (!hasLetGo(change)) return;
    // Who waits for the same set may have it now.
    for (const rollout of statesOf(change)) {
      wakeTargeting(`${rollout.namespace}/${targetOf(rollout) ?? ''}`);
    }
  });
  statefulSets.onChange((change) => statesOf(change).forEach(wakeSet));
  pods.onChange((change) => {
    const uids = new Set(statesOf(change).flatMap(({ controllerUid }) => controllerUid ?? []));
    for (const uid of uids) statefulSets.lister.by(setIndexes.uid, uid).forEach(wakeSet);
  });
  const wakeAll = (): void => {
    for (const rollout of rollouts.lister.list()) queue.add(nameOf(rollout));
  };
  for (const informer of [rollouts, statefulSets, pods]) informer.onState(wakeAll);
  onBudgetChange(wakeAll);
  wakeAll();
}

/** Reports whether a PhasedRollout may have given up the set that it targeted. */
function hasLetGo(change: Change<RolloutView>): boolean {
  if (change.kind === 'deleted') return true;
  return change.kind === 'updated' && targetOf(change.old) !== targetOf(change.object);
}

function targetOf({ spec }: RolloutView): string | undefined {
  return spec.kind === 'valid' ? spec.value.targetRef : undefined;
}

/** Returns both states of a change: a set that names another owner concerns both. */
function statesOf<T extends PodView | StatefulSetView | RolloutView>(
  change: Change<T>,
): readonly T[] {
  return change.kind === 'updated' ? [change.old, change.object] : [change.object];
}

function nameOf({
  namespace,
  name,
}: {
  readonly namespace: string;
  readonly name: string;
}): string {
  return `${namespace}/${name}`;
}
