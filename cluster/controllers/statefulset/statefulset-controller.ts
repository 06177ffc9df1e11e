import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { millis } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import type { Cached, Change, Informer, Lister } from '#kubernetes/informer/informer.ts';
import type { WorkQueue } from '#kubernetes/queue/work-queue.ts';
import { runWorkers } from '../run-workers.ts';
import { type ApplyIo, applyPlan } from './apply-plan.ts';
import { canAdopt } from './ownership.ts';
import { planStatefulSet } from './plan-statefulset.ts';
import type { RevisionView, SetPod, SetSnapshot, SetSwitches, SetView } from './views.ts';

/** The caches of the controller, with the indexes that {@link setIndexers} and {@link ownerIndexers} name. */
export interface SetCaches {
  readonly sets: Informer<SetView>;
  readonly pods: Informer<SetPod>;
  readonly revisions: Informer<RevisionView>;
  readonly claims: Informer<Cached>;
}

/** What the StatefulSet controller is made of. */
export interface StatefulSetControllerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly caches: SetCaches;
  readonly queue: WorkQueue;
  readonly events: EventRecorder;
  readonly switches: SetSwitches;
  readonly log: Logger;
  /** Sets worked on at the same time. @default 16 */
  readonly workers?: number;
}

/** Indexes of the StatefulSet cache. */
export const setIndexers = Object.freeze({
  uid: (set: SetView) => [set.uid],
  namespace: (set: SetView) => [set.namespace],
});

function ownerKey(ownerUid: string, namespace: string): string {
  return ownerUid === '' ? `orphan/${namespace}` : ownerUid;
}

/** Indexes of the pod and revision caches: by owning uid, orphans by namespace. */
export const ownerIndexers = Object.freeze({
  owner: (object: SetPod | RevisionView) => [ownerKey(object.ownerUid, object.namespace)],
});

const readyMargin = 1_000;
const collisionLimit = 100;

/** Runs one StatefulSet at a time per key (SS-1): caches and live writes only, no state between passes. */
export class StatefulSetController {
  readonly #options: StatefulSetControllerOptions;
  readonly #io: ApplyIo;

  constructor(options: StatefulSetControllerOptions) {
    this.#options = options;
    const { client, clock, caches, events } = options;
    this.#io = { client, clock, sets: caches.sets.lister, events };
    caches.sets.onChange(({ object }) => this.#wake(object));
    caches.pods.onChange((change) => this.#podChanged(change));
    caches.revisions.onChange((change) => this.#revisionChanged(change));
  }

  /** Reconciles until the queue is shut down; begins when all caches are filled. */
  async run(): Promise<void> {
    const { sets, pods, revisions, claims } = this.#options.caches;
    await Promise.all([sets.synced, pods.synced, revisions.synced, claims.synced]);
    const { queue, log, workers = 16 } = this.#options;
    const reconcile = (key: string): Promise<void> => this.#reconcile(key);
    await runWorkers({ queue, log, count: workers, reconcile });
  }

  #wake(set: SetView): void {
    this.#options.queue.add(`${set.namespace}/${set.name}`);
  }

  #wakeOwner(uid: string): SetView | undefined {
    const [set] = uid === '' ? [] : this.#options.caches.sets.lister.by('uid', uid);
    if (set !== undefined) this.#wake(set);
    return set;
  }

  #podChanged(change: Change<SetPod>): void {
    const { object: pod } = change;
    if (change.kind === 'updated' && change.old.ownerUid !== pod.ownerUid) {
      this.#wakeOwner(change.old.ownerUid);
    }
    if (pod.ownerUid === '') {
      this.#wakeAdopters(pod);
      return;
    }
    const set = this.#wakeOwner(pod.ownerUid);
    const isNewlyReady =
      change.kind === 'updated' &&
      change.old.readySince === undefined &&
      pod.readySince !== undefined;
    if (set === undefined || !isNewlyReady || set.minReady === 0) return;
    // Availability is strict and timestamps are whole seconds: one second more (SS-20).
    this.#options.queue.addAfter(
      `${set.namespace}/${set.name}`,
      millis(set.minReady + readyMargin),
    );
  }

  #wakeAdopters(pod: SetPod): void {
    for (const set of this.#options.caches.sets.lister.by('namespace', pod.namespace)) {
      if (canAdopt(set, pod)) this.#wake(set);
    }
  }

  #revisionChanged({ object }: Change<RevisionView>): void {
    this.#wakeOwner(object.ownerUid);
  }

  #observe(set: SetView): SetSnapshot {
    const { pods, revisions, claims } = this.#options.caches;
    return {
      set,
      pods: claimable(pods.lister, set),
      revisions: claimable(revisions.lister, set),
      hasClaim: (name) => claims.lister.get(set.namespace, name) !== undefined,
      collisionCount: set.status.collisionCount,
      switches: this.#options.switches,
    };
  }

  async #reconcile(key: string): Promise<void> {
    const { caches, clock, queue } = this.#options;
    const slash = key.indexOf('/');
    const set = caches.sets.lister.get(key.slice(0, slash), key.slice(slash + 1));
    if (set === undefined) return;
    let snapshot = this.#observe(set);
    for (let collisions = 0; collisions < collisionLimit; collisions += 1) {
      const plan = planStatefulSet(snapshot, clock.now());
      if ((await applyPlan(this.#io, set, plan)) === 'applied') {
        if (plan.requeueAfter !== undefined) queue.addAfter(key, plan.requeueAfter);
        return;
      }
      snapshot = { ...snapshot, collisionCount: snapshot.collisionCount + 1 };
    }
    throw new Error(
      `Cannot name a revision of StatefulSet "${key}" as ${collisionLimit} names in a row are taken by other data`,
    );
  }
}

/** Returns what the set owns and the orphans of its namespace; without a copy where there are none. */
function claimable<T extends Cached>(lister: Lister<T>, set: SetView): readonly T[] {
  const owned = lister.by('owner', set.uid);
  const orphans = lister.by('owner', ownerKey('', set.namespace));
  return orphans.length === 0 ? owned : [...owned, ...orphans];
}
