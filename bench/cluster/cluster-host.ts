import { setTimeout as sleep } from 'node:timers/promises';
import { millis } from '#base/units.ts';
import type { User } from '#cluster/cluster.ts';
import {
  type ControllerName,
  type Controllers,
  startControllers,
} from '#cluster/controllers/start-controllers.ts';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import type { Call } from '#cluster/event-log.ts';
import type { Delays } from '#cluster/kubelet/delays.ts';
import { type Kubelet, startKubelet } from '#cluster/kubelet/start-kubelet.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { follow, type Judge } from '#support/judge/judge.ts';
import { createLogger, unbuffered } from '#telemetry/log/line-logger.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import type {
  Access,
  ClusterCommands,
  Requests,
  RestartOptions,
  Rollout,
} from './cluster-commands.ts';
import { fillSet } from './fill.ts';
import { GroupWatch } from './group-watch.ts';
import { inTurns } from './in-turns.ts';
import { MirroredSets } from './mirrored-sets.ts';
import {
  type GroupsOptions,
  images,
  namespace,
  operatorUser,
  type SetName,
  setNames,
} from './workload.ts';

const seed = 1;

/** How long the operator gets, after the last Ready, to write what it still has to. */
const settling = 1_000;

/** What the process of the cluster does on command. */
export class ClusterHost implements ClusterCommands {
  /** What was stored by {@link fill}. */
  sets: readonly SetName[] = [];
  podsPerSet = 0;
  /** Where the API is, once it was opened. */
  url = '';
  readonly #clock = systemClock();
  readonly #log = createLogger({
    format: 'logfmt',
    level: 'warn',
    clock: this.#clock,
    sink: unbuffered((line) => void process.stderr.write(`cluster: ${line}\n`)),
  });
  readonly #watch = new GroupWatch(() => this.#clock.monotonic(), operatorUser);
  #requests: Record<string, number> = {};
  #image = 0;
  #opened: EmbeddedCluster | undefined;
  #judge: Judge | undefined;
  #controllers: Controllers | undefined;
  #kubelet: Kubelet | undefined;
  #mirrored: MirroredSets | undefined;

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
    const tokenIn = (text: string): string => /token: (\S+)/.exec(text)?.[1] ?? '';
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
    await this.client().create(resourceTypes.namespaces, { name: namespace }, { body });
    this.url = listener.url;
    return {
      url: listener.url,
      token: tokenIn(kubeconfig),
      adminToken: tokenIn(listener.kubeconfig()),
      kubeconfig,
    };
  }

  async fill(
    options: GroupsOptions,
  ): Promise<{ readonly seconds: number; readonly podBytes: number }> {
    const start = this.#clock.monotonic();
    this.sets = setNames(options);
    this.podsPerSet = options.podsPerSet;
    const client = this.client();
    const now = new Date(this.#clock.now() - 3_600_000).toISOString().replace(/\.\d+Z/, 'Z');
    for (const set of this.sets) this.#watch.add(set, options.podsPerSet);
    await inTurns(this.sets, async (set) => fillSet(client, set, { ...options, now }));
    if (this.#watch.missing > 0) throw new Error(`${this.#watch.missing} pods are not ready`);
    const name = `${this.sets[0]?.name ?? ''}-0`;
    const pod = await client.get(resourceTypes.pods, { namespace, name });
    return {
      seconds: (this.#clock.monotonic() - start) / 1_000,
      podBytes: JSON.stringify(pod).length,
    };
  }

  async pace(restart: RestartOptions): Promise<void> {
    const only: readonly ControllerName[] =
      restart.hasBudgets === true ? ['statefulset', 'disruption'] : ['statefulset'];
    this.#controllers = startControllers({ ...this.#parts(), only });
    this.#kubelet = startKubelet({ ...this.#parts(), delays: delaysOf(restart) });
    await Promise.all([this.#controllers.ready, this.#kubelet.ready]);
    // What they have to write at their start, such as the nodes.
    await sleep(settling);
  }

  mirror(options: { readonly delayed: number }): ReturnType<ClusterCommands['mirror']> {
    this.#mirrored = new MirroredSets({
      cluster: this.cluster,
      client: this.client(),
      clock: this.#clock,
      sets: this.sets,
      podsPerSet: this.podsPerSet,
    });
    return this.#mirrored.create(options);
  }

  rescale(
    options: Parameters<ClusterCommands['rescale']>[0],
  ): ReturnType<ClusterCommands['rescale']> {
    return this.#mirroring().rescale(options);
  }

  prepare(
    options: Parameters<ClusterCommands['prepare']>[0],
  ): ReturnType<ClusterCommands['prepare']> {
    return this.#mirroring().prepare(options);
  }

  podCalls(): Promise<number> {
    return Promise.resolve(this.#mirrored?.podCalls() ?? 0);
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
    await this.#mirrored?.close();
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
    const chosen = new Set([...new Set(this.sets.map(({ group }) => group))].slice(0, groups));
    const sets = this.sets.filter(({ group }) => chosen.has(group));
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

  /** The cluster that was opened. @throws where none was */
  get cluster(): EmbeddedCluster {
    if (this.#opened === undefined) throw new Error('Cannot use the cluster before it was opened');
    return this.#opened;
  }

  #mirroring(): MirroredSets {
    if (this.#mirrored === undefined) throw new Error('Cannot rescale sets that mirror nothing');
    return this.#mirrored;
  }

  /** A client of one who may do everything. */
  client(): Client {
    const transport = this.cluster.transport();
    return createClient({
      transport,
      clock: this.#clock,
      timeout: millis(0),
      userAgent: 'bench',
    });
  }

  #parts(): Pick<Parameters<typeof startKubelet>[0], 'transportFor' | 'clock' | 'seed' | 'log'> {
    const transportFor = (user: User): ReturnType<EmbeddedCluster['transport']> =>
      this.cluster.transport(user);
    return { transportFor, clock: this.#clock, seed, log: this.#log };
  }

  #setImage = async (name: string, image: string): Promise<void> => {
    const document = { spec: { template: { spec: { containers: [{ name: 'store', image }] } } } };
    await this.client().patch(
      resourceTypes.statefulSets,
      { namespace, name },
      { body: { kind: 'strategic', document } },
    );
  };

  /** Resolves with the time of the commit that made the last pod Ready. */
  #untilRolled(patience: number): Promise<number> {
    const { eventLog } = this.cluster;
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
