import { errorOf } from '#base/error-of.ts';
import { runController } from '#control/run-controller.ts';
import { indexes as setIndexes } from '#control/watch/group-sets.ts';
import { OwnDisruptions } from '#control/write/own-disruptions.ts';
import type { Change, Informer } from '#kubernetes/informer/informer.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import { RevisionWentBackError } from '#kubernetes/revision.ts';
import type { NodeView } from '#statefulset/parse-node.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { updatesOf } from './owners.ts';
import type { UpdateView } from './parse-resource.ts';
import { UpdateReconciler, type UpdateReconcilerPorts } from './update-reconcile.ts';

/** What the controller of ZoneAwareUpdates is made of. */
export interface UpdateControllerPorts extends UpdateReconcilerPorts {
  readonly queue: WorkQueue;
  readonly nodes: Pick<Informer<NodeView>, 'onChange'>;
  /** Calls `wake` when what is known of budgets, or of others that name sets, has changed. */
  readonly onBudgetChange: (wake: () => void) => void;
}

/** ZoneAwareUpdates worked on at once: a pass mostly waits, for reads and writes of its own. */
const workers = 64;

/**
 * Watches ZoneAwareUpdates, StatefulSets, pods and nodes, and reconciles whatever a change concerns, at once. The informers
 * must have synced. Ends when `signal` aborts, the passes under way have ended, and what was sent is answered.
 *
 * @returns whether every disruption got its answer, and no predecessor is waited for any more
 */
export async function runZoneAwareUpdates(
  ports: UpdateControllerPorts,
  signal: AbortSignal,
): Promise<{ readonly isSettled: boolean }> {
  const { queue, clock, log, updates, predecessor, questions } = ports;
  const reconciler = new UpdateReconciler(ports);
  ports.budgets.follow(new OwnDisruptions(ports));
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
    await Promise.all([questions.alarm.close(), questions.query.close(), reconciler.idle()]);
  }
  const keys = [...updates.lister.list()].map(nameOf);
  return { isSettled: !reconciler.hasUnanswered() && !predecessor.isPending(keys) };
}

/** Wakes whatever a change concerns, and everything once. */
function wakeByChanges({
  queue,
  updates,
  statefulSets,
  pods,
  nodes,
  onBudgetChange,
}: UpdateControllerPorts): void {
  const wakeSet = (set: { readonly namespace: string; readonly name: string }): void => {
    for (const each of updatesOf(updates, set)) queue.add(nameOf(each));
  };
  const wakeAll = (): void => {
    for (const update of updates.lister.list()) queue.add(nameOf(update));
  };
  updates.onChange((change) => {
    for (const update of statesOf(change)) {
      queue.add(nameOf(update));
      // Who comes first among several may be another one now (W-14).
      if (update.spec.kind === 'valid') {
        wakeSet({ namespace: update.namespace, name: update.spec.value.statefulSet });
      }
    }
  });
  statefulSets.onChange((change) => statesOf(change).forEach(wakeSet));
  pods.onChange((change) => {
    const uids = new Set(statesOf(change).flatMap(({ controllerUid }) => controllerUid ?? []));
    for (const uid of uids) statefulSets.lister.by(setIndexes.uid, uid).forEach(wakeSet);
  });
  nodes.onChange((change) => {
    // The heartbeats of nodes are no news.
    if (change.kind !== 'updated' || change.old.zone !== change.object.zone) wakeAll();
  });
  for (const informer of [updates, statefulSets, pods]) informer.onState(wakeAll);
  onBudgetChange(wakeAll);
  wakeAll();
}

/** Returns both states of a change: a resource that names another set concerns both. */
function statesOf<T extends PodView | StatefulSetView | UpdateView>(
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
