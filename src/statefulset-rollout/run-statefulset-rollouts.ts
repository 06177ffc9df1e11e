import {
  type ResourceControllerPorts,
  runResources,
  wakeByPods,
  wakeByViews,
} from '#control/resource/run-resources.ts';
import type { Change } from '#kubernetes/informer/informer.ts';
import { type NamedObject, objectKey } from '#kubernetes/object-key.ts';
import { rolloutsOf, setsOf } from './owners.ts';
import type { RolloutView } from './parse-resource.ts';
import { RolloutPasses, type RolloutPassesPorts } from './reconcile.ts';

/** What the controller of StatefulsetRollouts is made of. */
export type RolloutControllerPorts = ResourceControllerPorts & RolloutPassesPorts;

/** StatefulsetRollouts worked on at once: a pass mostly waits, for reads and writes of its own. */
const workers = 10;

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
  const passes = new RolloutPasses(ports);
  const ending = new AbortController();
  const telling = ports.slack.run(AbortSignal.any([signal, ending.signal]));
  wakeByChanges(ports);
  // Calls are given up.
  const close = (): Promise<unknown> => {
    ending.abort();
    return Promise.all([ports.callbacks.close(), telling]);
  };
  return runResources(ports, { passes, workers, close }, signal);
}

/** Wakes whatever a change concerns, and everything once. */
function wakeByChanges(ports: RolloutControllerPorts): void {
  const { queue, rollouts, statefulSets, budgets } = ports;
  const wakeSet = (set: NamedObject): void => {
    for (const each of rolloutsOf(rollouts, set)) queue.add(objectKey(each));
  };
  rollouts.onChange((change) => {
    queue.add(objectKey(change.object));
    // Whose the set is may be another one's to say now.
    if (isAboutOwners(change)) setsOf(change).forEach(wakeSet);
  });
  statefulSets.onChange((change) => {
    wakeSet(change.object);
  });
  wakeByPods(ports, wakeSet);
  budgets.onChange(({ object }) => {
    for (const rollout of rollouts.lister.list()) {
      if (rollout.namespace === object.namespace) queue.add(objectKey(rollout));
    }
  });
  wakeByViews(ports, rollouts);
}

/** Reports whether a change is about owners; statuses say nothing of them. */
function isAboutOwners(change: Change<RolloutView>): boolean {
  if (change.kind !== 'updated') return true;
  return (
    change.old.generation !== change.object.generation ||
    change.old.isDeleting !== change.object.isDeleting
  );
}
