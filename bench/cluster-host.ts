import { setTimeout as sleep } from 'node:timers/promises';
import { millis } from '#base/units.ts';
import type { User } from '#embedded-cluster/cluster.ts';
import {
  type Controllers,
  startControllers,
} from '#embedded-cluster/controllers/start-controllers.ts';
import { createCluster, type EmbeddedCluster } from '#embedded-cluster/create-cluster.ts';
import type { Call } from '#embedded-cluster/event-log.ts';
import type { Delays } from '#embedded-cluster/kubelet/delays.ts';
import { type Kubelet, startKubelet } from '#embedded-cluster/kubelet/start-kubelet.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { replicaTemplates } from '#replica-coordination/replica-template.ts';
import { createLogger } from '#telemetry/line-logger.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { follow, type Judge } from '#testing/judge.ts';
import { PodFleet } from '#testing/pod-fleet.ts';
import { PodFleetServer } from '#testing/pod-fleet-server.ts';
import {
  autoscale,
  createReplicaTemplate,
  delayAnnotations,
  installReplicaTemplates,
  mirrorAnnotations,
} from '#testing/scaling.ts';
import type {
  Access,
  ClusterCommands,
  Preparation,
  Requests,
  RestartOptions,
  Rollout,
} from './cluster-commands.ts';
import { fillSet } from './fill.ts';
import { GroupWatch } from './group-watch.ts';
import { ScaleWatch } from './scale-watch.ts';
import {
  type GroupsOptions,
  images,
  namespace,
  operatorUser,
  type SetName,
  setNames,
} from './workload.ts';

const seed = 1;

/** Sets that are created or patched at the same time. */
const atOnce = 16;

/** How long the operator gets, after the last Ready, to write what it still has to. */
const settling = 1_000;

/** How long sets may take to follow, in ms. */
const scalePatience = 60_000;

/** What the process of the cluster does on command. */
export class ClusterHost implements ClusterCommands {
  readonly #clock = systemClock();
  readonly #log = createLogger({
    format: 'logfmt',
    level: 'warn',
    clock: this.#clock,
    sink: (line) => void process.stderr.write(`cluster: ${line}\n`),
  });
  readonly #watch = new GroupWatch(() => this.#clock.monotonic());
  readonly #scales = new ScaleWatch(() => this.#clock.monotonic());
  readonly #fleet = new PodFleet(this.#clock);
  readonly #pods = new PodFleetServer(this.#fleet, this.#clock);
  #turn = 0;
  #podsPerSet = 0;
  #isMirrored = false;
  #requests: Record<string, number> = {};
  #sets: readonly SetName[] = [];
  #image = 0;
  #opened: EmbeddedCluster | undefined;
  #judge: Judge | undefined;
  #controllers: Controllers | undefined;
  #kubelet: Kubelet | undefined;

  async open({ isJudged }: { readonly isJudged: boolean }): Promise<Access> {
    const cluster = await createCluster({ clock: this.#clock, seed });
    this.#opened = cluster;
    cluster.eventLog.stopRecording();
    cluster.eventLog.onCommit((commit) => this.#watch.committed(commit));
    cluster.eventLog.onCall((call) => this.#count(call));
    if (isJudged) {
      const { judge } = follow(cluster.eventLog, { ours: (user) => user === operatorUser });
      cluster.eventLog.onCall((call) => judge.called(call));
      this.#judge = judge;
    }
    const listener = await cluster.listen();
    const user: User = { name: operatorUser, groups: ['system:authenticated'] };
    const kubeconfig = listener.kubeconfig(user);
    const token = /token: (\S+)/.exec(kubeconfig)?.[1] ?? '';
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
    await this.#client().create(resourceTypes.namespaces, { name: namespace }, { body });
    return { url: listener.url, token, kubeconfig };
  }

  async fill(
    options: GroupsOptions,
  ): Promise<{ readonly seconds: number; readonly podBytes: number }> {
    const start = this.#clock.monotonic();
    this.#sets = setNames(options);
    this.#podsPerSet = options.podsPerSet;
    const client = this.#client();
    const now = new Date(this.#clock.now() - 3_600_000).toISOString().replace(/\.\d+Z/, 'Z');
    for (const set of this.#sets) this.#watch.add(set, options.podsPerSet);
    await inTurns(this.#sets, async (set) => fillSet(client, set, { ...options, now }));
    if (this.#watch.missing > 0) throw new Error(`${this.#watch.missing} pods are not ready`);
    const name = `${this.#sets[0]?.name ?? ''}-0`;
    const pod = await client.get(resourceTypes.pods, { namespace, name });
    return {
      seconds: (this.#clock.monotonic() - start) / 1_000,
      podBytes: JSON.stringify(pod).length,
    };
  }

  async pace(restart: RestartOptions): Promise<void> {
    this.#controllers = startControllers({ ...this.#parts(), only: ['statefulset'] });
    this.#kubelet = startKubelet({ ...this.#parts(), delays: delaysOf(restart) });
    await Promise.all([this.#controllers.ready, this.#kubelet.ready]);
    // What they have to write at their start, such as the nodes.
    await sleep(settling);
  }

  async mirror({ delayed }: { readonly delayed: number }): Promise<{ readonly proxy: string }> {
    const client = this.#client();
    await installReplicaTemplates(client);
    await this.#served();
    const first = this.#sets.length - delayed;
    const places = new Map(this.#sets.map(({ name }, place) => [name, place]));
    await inTurns(this.#sets, async ({ name }) => {
      const key = { namespace, name };
      const set = await client.get(resourceTypes.statefulSets, key);
      const { replicas } = set['spec'] as unknown as { readonly replicas: number };
      await createReplicaTemplate(client, key, replicas);
      const document = { status: { replicas } };
      const status = { body: { kind: 'merge', document }, subresource: 'status' } as const;
      await client.patch(replicaTemplates, key, status);
      const isDelayed = (places.get(name) ?? 0) >= first;
      const annotations = { ...mirrorAnnotations(name), ...(isDelayed && delayAnnotations('1h')) };
      const write = { body: { kind: 'merge', document: { metadata: { annotations } } } } as const;
      await client.patch(resourceTypes.statefulSets, key, write);
    });
    this.#cluster.eventLog.onCommit((commit) => this.#scales.committed(commit));
    this.#isMirrored = true;
    return { proxy: (await this.#pods.listen()).href };
  }

  async rescale({
    sets,
    perSecond,
  }: {
    readonly sets: number;
    readonly perSecond: number | 'all at once';
  }): Promise<{ readonly took: readonly number[]; readonly wall: number }> {
    const chosen = this.#sets.slice(0, sets);
    this.#scales.taken();
    this.#turn += 1;
    const client = this.#client();
    const change = ({ name }: SetName, place: number): Promise<void> =>
      autoscale(client, { type: replicaTemplates, namespace, name }, (replicas) =>
        (place + this.#turn) % 2 === 0 ? replicas + 1 : replicas - 1,
      );
    const start = this.#clock.monotonic();
    if (perSecond === 'all at once') {
      await Promise.all(chosen.map(change));
    } else {
      for (const [place, set] of chosen.entries()) {
        const due = start + (place * 1_000) / perSecond;
        await sleep(Math.max(0, due - this.#clock.monotonic()));
        await change(set, place);
      }
    }
    const why = (): string => `${this.#scales.open} sets have not followed`;
    await Promise.race([this.#scales.done(), this.#tooLong(why)]);
    const wall = this.#clock.monotonic() - start;
    return { took: this.#scales.taken(), wall };
  }

  async prepare({ answerAfter }: { readonly answerAfter: number }): Promise<Preparation> {
    const client = this.#client();
    const behaves = { kind: 'application' } as const;
    this.#fleet.behave({ kind: 'late', after: millis(answerAfter), behaves });
    this.#fleet.calls.length = 0;
    const pods = this.#sets.length * this.#podsPerSet;
    const start = this.#clock.monotonic();
    const asked = this.#fleet.received(pods);
    const type = replicaTemplates;
    await inTurns(this.#sets, ({ name }) => autoscale(client, { type, namespace, name }, () => 0));
    await Promise.race([asked, this.#tooLong(() => `Not all of ${pods} pods were asked`)]);
    const wall = this.#clock.monotonic() - start;
    const ofSets = this.#sets.map(({ name }) => this.#fleet.mostOpen(`${namespace}/${name}`));
    return {
      pods,
      wall,
      mostOfSet: Math.max(...ofSets),
      mostInAll: this.#fleet.mostOpen(),
      connections: this.#pods.mostConnections,
    };
  }

  podCalls(): Promise<number> {
    const calls = this.#fleet.calls.splice(0);
    return Promise.resolve(calls.length);
  }

  async #served(): Promise<void> {
    const path = '/apis/rollout-operator.grafana.com/v1';
    for (;;) {
      try {
        await this.#client().raw({ method: 'GET', path });
        return;
      } catch {
        // Not yet.
        await sleep(50);
      }
    }
  }

  async #tooLong(why: () => string): Promise<never> {
    await sleep(scalePatience, undefined, { ref: false });
    throw new Error(`${why()} after ${scalePatience} ms`);
  }

  async requests(): Promise<Requests> {
    const requests = this.#requests;
    this.#requests = {};
    return Promise.resolve(requests);
  }

  async close(): Promise<void> {
    await this.#kubelet?.stop();
    await this.#controllers?.stop();
    await this.#opened?.close();
    if (this.#isMirrored) await this.#pods.close();
  }

  async roll({
    groups,
    patience,
  }: {
    readonly groups: number;
    readonly patience: number;
  }): Promise<Rollout> {
    this.#image = 1 - this.#image;
    const image = images[this.#image] ?? '';
    const chosen = new Set([...new Set(this.#sets.map(({ group }) => group))].slice(0, groups));
    const sets = this.#sets.filter(({ group }) => chosen.has(group));
    this.#watch.begin(
      image,
      sets.map(({ name }) => name),
    );
    this.#requests = {};
    const pods = this.#watch.unrolled;
    const ended = this.#untilRolled(patience);
    const start = this.#clock.monotonic();
    await inTurns(sets, ({ name }) => this.#setImage(name, image));
    const end = await ended;
    await sleep(settling);
    return {
      ...this.#watch.observation(),
      pods,
      zones: sets.length,
      wall: end - start,
      requests: this.#requests,
      violations: this.#violations(),
    };
  }

  get #cluster(): EmbeddedCluster {
    if (this.#opened === undefined) throw new Error('Cannot use the cluster before it was opened');
    return this.#opened;
  }

  #client(): Client {
    const transport = this.#cluster.transport();
    return createClient({
      transport,
      clock: this.#clock,
      timeout: millis(0),
      userAgent: 'bench',
    });
  }

  #parts(): Pick<Parameters<typeof startKubelet>[0], 'transportFor' | 'clock' | 'seed' | 'log'> {
    const transportFor = (user: User): ReturnType<EmbeddedCluster['transport']> =>
      this.#cluster.transport(user);
    return { transportFor, clock: this.#clock, seed, log: this.#log };
  }

  #setImage = async (name: string, image: string): Promise<void> => {
    const document = { spec: { template: { spec: { containers: [{ name: 'store', image }] } } } };
    await this.#client().patch(
      resourceTypes.statefulSets,
      { namespace, name },
      { body: { kind: 'strategic', document } },
    );
  };

  /** Resolves with the time of the commit that made the last pod Ready. */
  #untilRolled(patience: number): Promise<number> {
    const { eventLog } = this.#cluster;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        stop();
        const { unrolled } = this.#watch;
        reject(new Error(`Cannot end the rollout: ${unrolled} pods are left after ${patience} ms`));
      }, patience);
      // Added after the one that counts, so that it sees the count of this very commit.
      const stop = eventLog.onCommit(() => {
        if (this.#watch.unrolled > 0) return;
        stop();
        clearTimeout(late);
        resolve(this.#clock.monotonic());
      });
    });
  }

  #count({ user, verb, resource, subresource }: Call): void {
    if (user !== operatorUser) return;
    const key = `${verb} ${resource}${subresource === '' ? '' : `/${subresource}`}`;
    this.#requests[key] = (this.#requests[key] ?? 0) + 1;
  }

  #violations(): readonly string[] {
    const violations = this.#judge?.violations ?? [];
    return violations.map((violation) => JSON.stringify(violation));
  }
}

function delaysOf({ milliseconds, jitter }: RestartOptions): Partial<Delays> {
  const brief = Math.round(milliseconds / 22);
  const start = Math.round(milliseconds / 4);
  return {
    stop: millis(brief),
    bind: millis(brief),
    start: millis(start),
    ready: millis(milliseconds - 2 * brief - start),
    jitter,
  };
}

/** Calls `act` for all `items`, {@link atOnce} at a time. */
async function inTurns<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await act(next);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
}
