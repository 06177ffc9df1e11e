import type { Cached, Change, Informer } from '#kubernetes/informer/informer.ts';
import { objectKey } from '#kubernetes/object-key.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import type { PredecessorWait } from '../plan/predecessor-wait.ts';
import { onFault, runController } from '../run-controller.ts';
import { indexes } from '../watch/group-sets.ts';
import type { EndedPass } from './resource-pass.ts';
import {
  type ResourcePasses,
  ResourceReconciler,
  type ResourceReconcilerPorts,
} from './resource-reconciler.ts';

/** What the controller of custom resources of one kind is made of. */
export interface ResourceControllerPorts extends ResourceReconcilerPorts {
  readonly queue: WorkQueue;
  readonly statefulSets: Informer<StatefulSetView>;
  readonly pods: Informer<PodView>;
  /** Until when an earlier process is waited for. */
  readonly predecessor: PredecessorWait;
}

/** How the resources of one kind are worked on. */
export interface ResourceControl<T extends Cached, Ended extends EndedPass<T>> {
  readonly passes: ResourcePasses<T, Ended>;
  /** Resources worked on at once; one is never worked on twice at a time. */
  readonly workers: number;
  /** Ends what goes on besides passes; resolves when it has ended. */
  readonly close: () => Promise<unknown>;
}

/**
 * Reconciles the resources of one kind as `ports.queue` names them. The informers must have synced. Ends when `signal` aborts,
 * the passes under way have ended, and what was sent is answered.
 *
 * @returns whether every disruption got its answer, and no predecessor is waited for any more
 */
export async function runResources<T extends Cached, Ended extends EndedPass<T>>(
  ports: ResourceControllerPorts,
  { passes, workers, close }: ResourceControl<T, Ended>,
  signal: AbortSignal,
): Promise<{ readonly isSettled: boolean }> {
  const { queue, clock, log, predecessor } = ports;
  const reconciler = new ResourceReconciler(ports, passes);
  const reconcile = (key: string, ending: AbortSignal) => reconciler.reconcile(key, ending);
  try {
    await runController({ queue, clock, workers, reconcile, ...onFault(log) }, signal);
  } finally {
    await Promise.all([close(), reconciler.idle()]);
  }
  const keys = [...passes.resources.lister.list()].map(objectKey);
  return { isSettled: !reconciler.hasUnanswered() && !predecessor.isPending(keys) };
}

/** Wakes the sets whose pods change, by `wakeSet`: also the one that a pod belonged to before. */
export function wakeByPods(
  { pods, statefulSets }: Pick<ResourceControllerPorts, 'pods' | 'statefulSets'>,
  wakeSet: (set: StatefulSetView) => void,
): void {
  pods.onChange((change) => {
    const uids = new Set(statesOf(change).flatMap(({ controllerUid }) => controllerUid ?? []));
    for (const uid of uids) statefulSets.lister.by(indexes.uid, uid).forEach(wakeSet);
  });
}

/** Wakes all `resources` whenever it may be reported again how fresh a view is, and now. @returns what wakes them all */
export function wakeByViews(
  { queue, statefulSets, pods }: Pick<ResourceControllerPorts, 'queue' | 'statefulSets' | 'pods'>,
  resources: Pick<Informer<Cached>, 'lister' | 'onState'>,
): () => void {
  const wakeAll = (): void => {
    for (const each of resources.lister.list()) queue.add(objectKey(each));
  };
  for (const informer of [resources, statefulSets, pods]) informer.onState(wakeAll);
  wakeAll();
  return wakeAll;
}

/** Returns both states of a change: an object that names another one now concerns both. */
export function statesOf<T extends Cached>(change: Change<T>): readonly T[] {
  return change.kind === 'updated' ? [change.old, change.object] : [change.object];
}
