/** Sets whose replicas follow resources of their own, and how long they take to follow. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#base/clock.ts';
import { millis } from '#base/units.ts';
import type { EmbeddedCluster } from '#cluster/create-cluster.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import {
  autoscale,
  createReplicaTemplate,
  delayAnnotations,
  installReplicaTemplates,
  mirrorAnnotations,
} from '#support/objects/scaling.ts';
import { PodFleet } from '#support/pods/pod-fleet.ts';
import { PodFleetServer } from '#support/pods/pod-fleet-server.ts';
import type { ClusterCommands, Preparation } from './cluster-commands.ts';
import { inTurns } from './in-turns.ts';
import { ScaleWatch } from './scale-watch.ts';
import { namespace, type SetName } from './workload.ts';

/** How long sets may take to follow, in ms. */
const patience = 60_000;

/** What {@link MirroredSets} works on. */
export interface MirroredSetsOptions {
  readonly cluster: EmbeddedCluster;
  /** As an administrator. */
  readonly client: Client;
  readonly clock: Clock;
  readonly sets: readonly SetName[];
  readonly podsPerSet: number;
}

/** One ReplicaTemplate for each set. */
export class MirroredSets {
  readonly #options: MirroredSetsOptions;
  readonly #scales: ScaleWatch;
  readonly #fleet: PodFleet;
  readonly #pods: PodFleetServer;
  #turn = 0;

  constructor(options: MirroredSetsOptions) {
    const { clock } = options;
    this.#options = options;
    this.#scales = new ScaleWatch(() => clock.monotonic());
    this.#fleet = new PodFleet(clock);
    this.#pods = new PodFleetServer(this.#fleet, clock);
  }

  /** Creates the resources, the last `delayed` of them with pods that are asked first. */
  async create({ delayed }: { readonly delayed: number }): Promise<{ readonly proxy: string }> {
    const { client, sets, cluster } = this.#options;
    await installReplicaTemplates(client);
    await this.#served();
    const first = sets.length - delayed;
    const places = new Map(sets.map(({ name }, place) => [name, place]));
    await inTurns(sets, async ({ name }) => {
      const key = { namespace, name };
      const set = await client.get(resourceTypes.statefulSets, key);
      const { replicas } = set['spec'] as unknown as { readonly replicas: number };
      await createReplicaTemplate(client, key, replicas);
      const document = { status: { replicas } };
      const status = { body: { kind: 'merge', document }, subresource: 'status' } as const;
      await client.patch(resourceTypes.replicaTemplates, key, status);
      const isDelayed = (places.get(name) ?? 0) >= first;
      const annotations = { ...mirrorAnnotations(name), ...(isDelayed && delayAnnotations('1h')) };
      const write = { body: { kind: 'merge', document: { metadata: { annotations } } } } as const;
      await client.patch(resourceTypes.statefulSets, key, write);
    });
    cluster.eventLog.onCommit((commit) => this.#scales.committed(commit));
    return { proxy: (await this.#pods.listen()).href };
  }

  /** Changes the replicas of so many resources, up and down by turns, and waits until their sets have followed. */
  async rescale({
    sets,
    perSecond,
  }: Parameters<ClusterCommands['rescale']>[0]): ReturnType<ClusterCommands['rescale']> {
    const { clock, client } = this.#options;
    const chosen = this.#options.sets.slice(0, sets);
    this.#scales.taken();
    this.#turn += 1;
    const change = ({ name }: SetName, place: number): Promise<void> =>
      autoscale(client, { type: resourceTypes.replicaTemplates, namespace, name }, (replicas) =>
        (place + this.#turn) % 2 === 0 ? replicas + 1 : replicas - 1,
      );
    const start = clock.monotonic();
    if (perSecond === 'all at once') {
      await Promise.all(chosen.map(change));
    } else {
      for (const [place, set] of chosen.entries()) {
        const due = start + (place * 1_000) / perSecond;
        await sleep(Math.max(0, due - clock.monotonic()));
        await change(set, place);
      }
    }
    const why = (): string => `${this.#scales.open} sets have not followed`;
    await Promise.race([this.#scales.done(), tooLong(why)]);
    const wall = clock.monotonic() - start;
    return { took: this.#scales.taken(), wall };
  }

  /** Asks every pod of every set to prepare, each answering so many ms late. */
  async prepare({ answerAfter }: Parameters<ClusterCommands['prepare']>[0]): Promise<Preparation> {
    const { client, clock, sets, podsPerSet } = this.#options;
    const behaves = { kind: 'application' } as const;
    this.#fleet.behave({ kind: 'late', after: millis(answerAfter), behaves });
    this.#fleet.calls.length = 0;
    const pods = sets.length * podsPerSet;
    const start = clock.monotonic();
    const asked = this.#fleet.received(pods);
    const type = resourceTypes.replicaTemplates;
    await inTurns(sets, ({ name }) => autoscale(client, { type, namespace, name }, () => 0));
    await Promise.race([asked, tooLong(() => `Not all of ${pods} pods were asked`)]);
    const wall = clock.monotonic() - start;
    const ofSets = sets.map(({ name }) => this.#fleet.mostOpen(`${namespace}/${name}`));
    return {
      pods,
      wall,
      mostOfSet: Math.max(...ofSets),
      mostInAll: this.#fleet.mostOpen(),
      connections: this.#pods.mostConnections,
    };
  }

  /** How often pods were asked since the last call. */
  podCalls(): number {
    return this.#fleet.calls.splice(0).length;
  }

  async close(): Promise<void> {
    await this.#pods.close();
  }

  async #served(): Promise<void> {
    const path = '/apis/rollout-operator.grafana.com/v1';
    for (;;) {
      try {
        await this.#options.client.raw({ method: 'GET', path });
        return;
      } catch {
        // Not yet.
        await sleep(50);
      }
    }
  }
}

async function tooLong(why: () => string): Promise<never> {
  await sleep(patience, undefined, { ref: false });
  throw new Error(`${why()} after ${patience} ms`);
}
