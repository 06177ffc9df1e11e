import { type Millis, millis } from '#base/units.ts';
import { runController } from '#control/run-controller.ts';
import type { Change, Informer } from '#kubernetes/informer.ts';
import type { WorkQueue } from '#kubernetes/work-queue.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { groupOf } from './api.ts';
import { GroupReconciler, type GroupReconcilerPorts } from './reconcile.ts';
import { groupKey, indexes } from './snapshot.ts';

/** What the controller of rollout groups is made of. */
export interface RolloutGroupPorts extends GroupReconcilerPorts {
  readonly pods: Informer<PodView>;
  readonly statefulSets: Informer<StatefulSetView>;
  readonly queue: WorkQueue;
  /** Period of the safety resync; reactions do not wait for it. 0 or less: none (D-14). */
  readonly resync: Millis;
}

/** Groups worked on at once. */
const workers = 8;

/**
 * Watches StatefulSets and pods, and reconciles the group that a change concerns, at once (architecture rule 5).
 * Both informers must have synced. Ends when `signal` aborts and the passes under way have ended.
 */
export async function runRolloutGroups(
  ports: RolloutGroupPorts,
  signal: AbortSignal,
): Promise<void> {
  const { queue, statefulSets, pods, log, clock } = ports;
  const reconciler = new GroupReconciler(ports);
  const wake = (uid: string | undefined): void => {
    if (uid === undefined) return;
    for (const set of statefulSets.lister.by(indexes.uid, uid)) wakeGroup(set, queue);
  };
  statefulSets.onChange((change) => {
    for (const set of statesOf(change)) wakeGroup(set, queue);
  });
  pods.onChange((change) => {
    for (const pod of statesOf(change)) wake(pod.controllerUid);
  });
  const wakeAll = (): void => {
    const keys = new Set(reconciler.knownKeys());
    for (const set of statefulSets.lister.list()) {
      const group = groupOf(set);
      if (group !== undefined) keys.add(groupKey(set.namespace, group));
    }
    keys.forEach((key) => queue.add(key));
  };
  wakeAll();
  const resync = resyncEvery(ports, wakeAll);
  await runController(
    {
      queue,
      clock,
      workers,
      reconcile: (key, passSignal) => reconciler.reconcile(key, passSignal),
      report: (key, error) =>
        log.error('reconcile ended with a fault of this program', {
          key,
          err: error instanceof Error ? error : new Error(String(error)),
        }),
    },
    signal,
  );
  resync.cancel();
}

/** Both states of a change: a set that moved to another group concerns both groups. */
function statesOf<T extends PodView | StatefulSetView>(change: Change<T>): readonly T[] {
  return change.kind === 'updated' ? [change.old, change.object] : [change.object];
}

function wakeGroup(set: StatefulSetView, queue: WorkQueue): void {
  const group = groupOf(set);
  if (group !== undefined) queue.add(groupKey(set.namespace, group));
}

function resyncEvery(ports: RolloutGroupPorts, wakeAll: () => void): { cancel(): void } {
  const { clock, resync } = ports;
  if (resync <= 0) return { cancel: () => undefined };
  const options = { owner: 'rollout-group resync', background: true };
  const state = { timer: clock.timer(resync, () => fire(), options) };
  const fire = (): void => {
    wakeAll();
    state.timer = clock.timer(millis(resync), () => fire(), options);
  };
  return { cancel: () => state.timer.cancel() };
}
