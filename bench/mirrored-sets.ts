/** Sets whose replicas follow resources of their own, and how long they take to follow. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import type { EmbeddedCluster } from '#embedded-cluster/create-cluster.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import {
  replicaTemplateDefinition,
  replicaTemplates,
} from '#replica-coordination/replica-template.ts';
import { PodFleet } from '#testing/pod-fleet.ts';
import { PodFleetServer } from '#testing/pod-fleet-server.ts';
import type { ClusterCommands } from './cluster-commands.ts';
import { inTurns } from './in-turns.ts';
import { ScaleWatch } from './scale-watch.ts';
import { namespace, type SetName } from './workload.ts';

/** How long sets may take to follow, in ms. */
const patience = 60_000;

const delays = {
  'grafana.com/rollout-delayed-downscale': '1h',
  'grafana.com/rollout-prepare-delayed-downscale-url': 'http://pod/prepare',
};

/** What {@link MirroredSets} works on. */
export interface MirroredSetsOptions {
  readonly cluster: EmbeddedCluster;
  /** As an administrator. */
  readonly client: Client;
  readonly clock: Clock;
  readonly sets: readonly SetName[];
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
    const type = resourceTypes.customResourceDefinitions;
    await client.create(type, {}, { body: replicaTemplateDefinition });
    await this.#served();
    const first = sets.length - delayed;
    const places = new Map(sets.map(({ name }, place) => [name, place]));
    await inTurns(sets, async ({ name }) => {
      const key = { namespace, name };
      const set = await client.get(resourceTypes.statefulSets, key);
      const { replicas } = set['spec'] as unknown as { readonly replicas: number };
      const body = templateOf(name, replicas);
      await client.create(replicaTemplates, { namespace }, { body });
      const document = { status: { replicas } };
      const status = { body: { kind: 'merge', document }, subresource: 'status' } as const;
      await client.patch(replicaTemplates, key, status);
      const isDelayed = (places.get(name) ?? 0) >= first;
      const annotations = { ...mirrors(name), ...(isDelayed && delays) };
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
    const { clock } = this.#options;
    const chosen = this.#options.sets.slice(0, sets);
    this.#scales.taken();
    this.#turn += 1;
    const change = ({ name }: SetName, place: number): Promise<void> =>
      this.#rescaleOne(name, (place + this.#turn) % 2 === 0 ? 1 : -1);
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
    await Promise.race([this.#scales.done(), this.#tooLong()]);
    const wall = clock.monotonic() - start;
    return { took: this.#scales.taken(), wall };
  }

  /** How often pods were asked since the last call. */
  podCalls(): number {
    return this.#fleet.calls.splice(0).length;
  }

  async close(): Promise<void> {
    if (this.#turn > 0) await this.#pods.close();
  }

  /** As an autoscaler: the scale is read, and put back with another count. */
  async #rescaleOne(name: string, by: number): Promise<void> {
    const { client } = this.#options;
    const key = { namespace, name };
    const template = await client.get(replicaTemplates, key);
    const { replicas } = template['spec'] as unknown as { readonly replicas: number };
    const { resourceVersion } = template.metadata;
    const metadata = { name, namespace, resourceVersion };
    const kind = { apiVersion: 'autoscaling/v1', kind: 'Scale' };
    const body = { ...kind, metadata, spec: { replicas: replicas + by } };
    await client.replace(replicaTemplates, key, { body, subresource: 'scale' });
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

  async #tooLong(): Promise<never> {
    await sleep(patience, undefined, { ref: false });
    throw new Error(`${this.#scales.open} sets have not followed after ${patience} ms`);
  }
}

function mirrors(name: string): Readonly<Record<string, string>> {
  const key = 'grafana.com/rollout-mirror-replicas-from-resource';
  return {
    [`${key}-name`]: name,
    [`${key}-kind`]: 'ReplicaTemplate',
    [`${key}-api-version`]: 'rollout-operator.grafana.com/v1',
  };
}

function templateOf(name: string, replicas: number): JsonObject {
  return {
    apiVersion: 'rollout-operator.grafana.com/v1',
    kind: 'ReplicaTemplate',
    metadata: { name, namespace },
    spec: { replicas },
  };
}
