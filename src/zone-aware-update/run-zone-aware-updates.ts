import {
  type ResourceControllerPorts,
  runResources,
  statesOf,
  wakeByPods,
  wakeByViews,
} from '#control/resource/run-resources.ts';
import { OwnDisruptions } from '#control/write/own-disruptions.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import { type NamedObject, objectKey } from '#kubernetes/object-key.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import type { NodeView } from '#statefulset/parse-node.ts';
import { updatesOf } from './owners.ts';
import { UpdatePasses, type UpdatePassesPorts } from './update-reconcile.ts';

/** What the controller of ZoneAwareUpdates is made of. */
export interface UpdateControllerPorts extends ResourceControllerPorts, UpdatePassesPorts {
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
  const { alarm, query } = ports.questions;
  const passes = new UpdatePasses(ports);
  ports.budgets.follow(new OwnDisruptions(ports));
  wakeByChanges(ports);
  const close = (): Promise<unknown> => Promise.all([alarm.close(), query.close()]);
  return runResources(ports, { passes, workers, close }, signal);
}

/** Wakes whatever a change concerns, and everything once. */
function wakeByChanges(ports: UpdateControllerPorts): void {
  const { queue, updates, statefulSets, nodes } = ports;
  const wakeSet = (set: NamedObject): void => {
    for (const each of updatesOf(updates, set)) queue.add(objectKey(each));
  };
  updates.onChange((change) => {
    for (const update of statesOf(change)) {
      queue.add(objectKey(update));
      // Who comes first among several may be another one now (W-14).
      if (update.spec.kind === 'valid') {
        wakeSet({ namespace: update.namespace, name: update.spec.value.statefulSet });
      }
    }
  });
  statefulSets.onChange((change) => statesOf(change).forEach(wakeSet));
  wakeByPods(ports, wakeSet);
  const wakeAll = wakeByViews(ports, updates);
  nodes.onChange((change) => {
    // The heartbeats of nodes are no news.
    if (change.kind !== 'updated' || change.old.zone !== change.object.zone) wakeAll();
  });
  ports.onBudgetChange(wakeAll);
}
