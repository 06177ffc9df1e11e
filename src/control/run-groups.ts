import { type Millis, millis } from '#base/units.ts';
import type { Change } from '#kubernetes/informer/informer.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import { groupKeyOf } from '#statefulset/group.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import { GroupReconciler, type GroupReconcilerPorts } from './reconcile-group.ts';
import { onFault, runController } from './run-controller.ts';
import { indexes } from './watch/group-sets.ts';

/** What the controller of groups is made of. */
export interface GroupPorts extends GroupReconcilerPorts {
  readonly queue: WorkQueue;
  /** Period of the safety resync; reactions do not wait for it. 0 or less: none (D-14). */
  readonly resync: Millis;
  /** Calls `wake` when what capabilities know besides sets and pods may have changed for any group. */
  onOtherChange?(wake: () => void): void;
}

/**
 * Groups worked on at once. A pass mostly waits: for its reads, each of which may take 30 s, so that few workers would let
 * some groups whose reads hang keep all others from being looked at.
 */
const workers = 256;
/** Groups that are woken before other work has its turn. */
const stride = 8;

/**
 * Watches StatefulSets and pods, and reconciles the group that a change concerns, at once (architecture rule 5).
 * Both informers must have synced. Ends when `signal` aborts, the passes under way have ended, and what was sent is answered.
 *
 * @returns whether every disruption got its answer, and no predecessor is waited for any more
 */
export async function runGroups(
  ports: GroupPorts,
  signal: AbortSignal,
): Promise<{ readonly isSettled: boolean }> {
  const { queue, statefulSets, pods, log, clock } = ports;
  const reconciler = new GroupReconciler(ports);
  const owners = (pods: readonly PodView[]): readonly StatefulSetView[] =>
    [...new Set(pods.map((pod) => pod.controllerUid))].flatMap((uid) =>
      uid === undefined ? [] : statefulSets.lister.by(indexes.uid, uid),
    );
  statefulSets.onChange((change) => wake(statesOf(change), queue));
  pods.onChange((change) => {
    wake(owners(statesOf(change)), queue);
    for (const pod of statesOf(change)) for (const key of reconciler.keysOf(pod)) queue.add(key);
  });
  const ending = new AbortController();
  const wakeAll = (): void => {
    const keys = keysOf(statefulSets.lister.list(), reconciler.knownKeys());
    // Nothing in it can fail but a bug, which then ends the process.
    void wakeInTurns([...keys], ports, AbortSignal.any([signal, ending.signal]));
  };
  ports.onOtherChange?.(wakeAll);
  wakeAll();
  const resync = resyncEvery(ports, wakeAll);
  const ended = runController(
    {
      queue,
      clock,
      workers,
      reconcile: (key, passSignal) => reconciler.reconcile(key, passSignal),
      ...onFault(log),
    },
    signal,
  );
  try {
    await ended;
  } finally {
    ending.abort();
    resync.cancel();
    await reconciler.idle();
  }
  const { predecessor, writes } = ports;
  const isAwaited = predecessor.isPending(keysOf(statefulSets.lister.list()));
  return { isSettled: !reconciler.hasUnanswered() && !writes.hasUnanswered() && !isAwaited };
}

/** Both states of a change: a set that moved to another group concerns both groups. */
function statesOf<T extends PodView | StatefulSetView>(change: Change<T>): readonly T[] {
  return change.kind === 'updated' ? [change.old, change.object] : [change.object];
}

function wake(sets: Iterable<StatefulSetView>, queue: WorkQueue): void {
  for (const key of keysOf(sets)) queue.add(key);
}

/** Each key once: a second add of a key that a worker took at once would cost it another pass. */
function keysOf(
  sets: Iterable<StatefulSetView>,
  further: readonly string[] = [],
): ReadonlySet<string> {
  const keys = new Set(further);
  for (const set of sets) {
    const key = groupKeyOf(set);
    if (key !== undefined) keys.add(key);
  }
  return keys;
}

/** Wakes a few keys at a time, so that a change that comes meanwhile does not wait for the passes over all of them. */
async function wakeInTurns(
  keys: readonly string[],
  { queue, clock }: Pick<GroupPorts, 'queue' | 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  for (let start = 0; start < keys.length && !signal.aborted; start += stride) {
    for (const key of keys.slice(start, start + stride)) queue.add(key);
    await clock.yield();
  }
}

function resyncEvery(ports: GroupPorts, wakeAll: () => void): { cancel(): void } {
  const { clock, resync } = ports;
  if (resync <= 0) return { cancel: () => undefined };
  const options = { owner: 'group resync', background: true };
  const state = { timer: clock.timer(resync, () => fire(), options) };
  const fire = (): void => {
    wakeAll();
    state.timer = clock.timer(millis(resync), () => fire(), options);
  };
  return { cancel: () => state.timer.cancel() };
}
