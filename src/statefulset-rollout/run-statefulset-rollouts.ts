import { errorOf } from '#base/error-of.ts';
import { runController } from '#control/run-controller.ts';
import { indexes as setIndexes } from '#control/watch/group-sets.ts';
import type { Change } from '#kubernetes/informer/informer.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import { RevisionWentBackError } from '#kubernetes/revision.ts';
import { rolloutsOf, setsOf } from './owners.ts';
import type { RolloutView } from './parse-resource.ts';
import { RolloutReconciler, type RolloutReconcilerPorts } from './reconcile.ts';

/** What the controller of StatefulsetRollouts is made of. */
export interface RolloutControllerPorts extends RolloutReconcilerPorts {
  readonly queue: WorkQueue;
}

/** StatefulsetRollouts worked on at once: a pass mostly waits, for reads and writes of its own. */
const workers = 10;

interface Named {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Watches StatefulsetRollouts, StatefulSets, pods and budgets, and reconciles whatever a change concerns, at once. The informers
 * must have synced. Ends when `signal` aborts, the passes under way have ended, and what was sent is answered.
 *
 * @returns whether every disruption got its answer, and no predecessor is waited for any more
 */
export async function runStatefulsetRollouts(
  ports: RolloutControllerPorts,
  signal: AbortSignal,
): Promise<{ readonly isSettled: boolean }> {
  const { queue, clock, log, rollouts, predecessor } = ports;
  const reconciler = new RolloutReconciler(ports);
  const ending = new AbortController();
  const telling = ports.slack.run(AbortSignal.any([signal, ending.signal]));
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
    ending.abort();
    await Promise.all([reconciler.idle(), telling]);
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
  budgets,
}: RolloutControllerPorts): void {
  const wakeSet = (set: Named): void => {
    for (const each of rolloutsOf(rollouts, set)) queue.add(nameOf(each));
  };
  const wakeAll = (): void => {
    for (const rollout of rollouts.lister.list()) queue.add(nameOf(rollout));
  };
  rollouts.onChange((change) => {
    queue.add(nameOf(change.object));
    // Whose the set is may be another one's to say now.
    if (isAboutOwners(change)) setsOf(change).forEach(wakeSet);
  });
  statefulSets.onChange((change) => {
    wakeSet(change.object);
  });
  pods.onChange((change) => {
    const { controllerUid } = change.object;
    if (controllerUid === undefined) return;
    statefulSets.lister.by(setIndexes.uid, controllerUid).forEach(wakeSet);
  });
  budgets.onChange(({ object }) => {
    for (const rollout of rollouts.lister.list()) {
      if (rollout.namespace === object.namespace) queue.add(nameOf(rollout));
    }
  });
  for (const informer of [rollouts, statefulSets, pods]) informer.onState(wakeAll);
  wakeAll();
}

/** Reports whether a change is about owners; statuses say nothing of them. */
function isAboutOwners(change: Change<RolloutView>): boolean {
  if (change.kind !== 'updated') return true;
  return (
    change.old.generation !== change.object.generation ||
    change.old.isDeleting !== change.object.isDeleting
  );
}

function nameOf({ namespace, name }: Named): string {
  return `${namespace}/${name}`;
}
