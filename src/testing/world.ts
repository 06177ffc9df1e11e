import type { Clock, SleepOptions, Timer, TimerOptions } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import type { Logger } from '#base/logger.ts';
import { instant, type Millis, type Monotonic, millis, minutes } from '#base/units.ts';
import { readConfig } from '#config/read-config.ts';
import type { Plan } from '#control/decision.ts';
import type { ClusterTransport } from '#embedded-cluster/cluster.ts';
import {
  type Controllers,
  startControllers,
} from '#embedded-cluster/controllers/start-controllers.ts';
import {
  createCluster,
  type EmbeddedCluster,
  type TransportOptions,
} from '#embedded-cluster/create-cluster.ts';
import {
  type Kubelet,
  type KubeletOptions,
  startKubelet,
} from '#embedded-cluster/kubelet/start-kubelet.ts';
import { VirtualClock } from '#embedded-cluster/virtual-clock.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { runOperator } from '#operator.ts';
import { createLogger } from '#telemetry/line-logger.ts';
import { createMetricsRegistry, type MetricsRegistry } from '#telemetry/metrics.ts';
import { createOperatorMetrics } from '#telemetry/operator-metrics.ts';
import { createReadiness, type Readiness } from '#telemetry/readiness.ts';
import { type Judgement, type JudgeOptions, judge } from './judge.ts';
import type { DisruptionStatement, RevisionBySet } from './statement.ts';

/** The user that the operator is in a world. */
export const OPERATOR_USER = 'system:serviceaccount:demo:rollout-operator';

/** The namespace of a world's group. */
export const NAMESPACE = 'demo';

/** What differs from the usual world. */
export interface WorldOptions {
  readonly seed?: number;
  /** @default a, b, c */
  readonly zones?: readonly string[];
  /** Pods a zone. @default 3 */
  readonly replicas?: number;
  /** @default 2 */
  readonly maxUnavailable?: string;
  /** Members that every set's spec has besides the usual ones. */
  readonly spec?: JsonObject;
  readonly kubelet?: Partial<KubeletOptions>;
  /** Flags of the operator besides the namespace. */
  readonly flags?: readonly string[];
  /** How watch events travel to the operator. @default at once */
  readonly delivery?: (world: World) => TransportOptions['delivery'];
}

/** One run of the operator program in a world. */
export interface OperatorRun {
  readonly transport: ClusterTransport;
  readonly readiness: Readiness;
  readonly registry: MetricsRegistry;
  /** Its plan of each pass, newest last, by group key. */
  readonly plans: { readonly key: string; readonly plan: Plan }[];
  /** How it ended by itself; undefined while it runs. */
  readonly ended: { readonly error: unknown } | undefined;
  /** As `kill -9`: nothing that it sends arrives any more, none of its timers fires. */
  kill(): void;
  /** As SIGTERM; resolves when it has ended. */
  stop(): Promise<void>;
}

/** The image that pods of a world start with, and the one that a rollout goes to. */
export const images = Object.freeze({
  old: 'registry.example/ingester:1',
  new: 'registry.example/ingester:2',
});

/**
 * An embedded cluster in virtual time with one rollout group, and the real operator program on it. Everything that
 * happens can be judged by the invariants of reliability.md.
 */
export class World {
  readonly clock = new VirtualClock();
  readonly cluster: EmbeddedCluster;
  readonly admin: Client;
  readonly kubelet: Kubelet;
  /** Lines that operators logged, as objects. */
  readonly log: JsonObject[] = [];
  readonly statements: DisruptionStatement[] = [];
  readonly zones: readonly string[];
  readonly options: WorldOptions;
  readonly operators: OperatorRun[] = [];
  readonly #controllers: Controllers;

  private constructor(cluster: EmbeddedCluster, options: WorldOptions, clock: VirtualClock) {
    this.clock = clock;
    this.cluster = cluster;
    this.options = options;
    this.zones = options.zones ?? ['a', 'b', 'c'];
    this.admin = this.clientOf({ user: 'user', client: 'user' });
    const seed = options.seed ?? 1;
    const silent = createLogger({
      format: 'json',
      level: 'error',
      clock,
      sink: (line) => this.#take(line),
    });
    const common = {
      clock,
      seed,
      log: silent,
      transportFor: (user: { readonly name: string; readonly groups: readonly string[] }) =>
        cluster.transport({ user, client: user.name }),
    };
    this.#controllers = startControllers(common);
    this.kubelet = startKubelet({ ...common, ...options.kubelet });
  }

  /** A world whose group is complete: every pod available on the first revision, every status observed. */
  static async create(options: WorldOptions = {}): Promise<World> {
    const clock = new VirtualClock();
    const cluster = await createCluster({ clock, seed: options.seed ?? 1 });
    const world = new World(cluster, options, clock);
    await world.run(Promise.all([world.#controllers.ready, world.kubelet.ready]));
    await world.run(world.#createGroup());
    await clock.runUntil(() => world.isComplete(images.old), { maxVirtual: minutes(30) });
    return world;
  }

  /** A client of the cluster. */
  clientOf(options: TransportOptions): Client {
    const transport = this.cluster.transport(options);
    return createClient({ transport, clock: this.clock, timeout: millis(0), userAgent: 'test' });
  }

  /** Lets time run until `promise` settles. */
  async run<T>(promise: Promise<T>): Promise<T> {
    const state = { isSettled: false };
    const settle = (): void => {
      state.isSettled = true;
    };
    promise.then(settle, settle);
    await this.clock.runUntil(() => state.isSettled);
    return promise;
  }

  /** Starts the operator program; several may run at once. */
  startOperator(): OperatorRun {
    const run = new WorldOperator(this, this.operators.length + 1);
    this.operators.push(run);
    return run;
  }

  /** Starts the operator and waits until it is ready. */
  async readyOperator(): Promise<OperatorRun> {
    const operator = this.startOperator();
    await this.clock.runUntil(() => operator.readiness.isReady() || operator.ended !== undefined);
    return operator;
  }

  /** Gives every zone, or one, a new image; the rollout that people start. */
  async setImage(image: string, zones: readonly string[] = this.zones): Promise<void> {
    const document = {
      spec: { template: { spec: { containers: [{ name: 'ingester', image }] } } },
    };
    await this.run(Promise.all(zones.map((zone) => this.#patch(zone, document))));
  }

  /** Strategic-merge patch of one zone's set, as kubectl sends it. */
  async patchSet(zone: string, document: JsonObject): Promise<void> {
    await this.run(this.#patch(zone, document));
  }

  async #patch(zone: string, document: JsonObject): Promise<void> {
    await this.admin.patch(
      resourceTypes.statefulSets,
      { namespace: NAMESPACE, name: setName(zone) },
      { body: { kind: 'strategic', document } },
    );
  }

  /** Lets time run until every pod runs `image` and is available, and every status says so. */
  async untilRolled(image: string, limit: Millis = minutes(60)): Promise<void> {
    await this.clock.runUntil(() => this.isComplete(image), { maxVirtual: limit });
  }

  /** Whether all pods run `image` and are ready, and every set is observed, full and promoted. */
  isComplete(image: string): boolean {
    return this.zones.every((zone) => this.#isZoneComplete(zone, image));
  }

  #isZoneComplete(zone: string, image: string): boolean {
    const set = this.stored('statefulsets.apps', setName(zone));
    if (set === undefined) return false;
    const { spec, status, metadata } = set as unknown as SetShape;
    const pods = Array.from({ length: spec.replicas }, (_, index) =>
      this.stored('pods', `${setName(zone)}-${index}`),
    );
    return (
      status?.observedGeneration === metadata.generation &&
      status.readyReplicas === spec.replicas &&
      pods.every((pod) => pod !== undefined && isReadyOn(pod as unknown as PodShape, image)) &&
      (image === images.old || status.currentRevision === status.updateRevision)
    );
  }

  /** What the store holds of `resource` in the group's namespace. */
  stored(resource: string, name: string): JsonObject | undefined {
    return this.#state.get(`${resource}/${name}`);
  }

  /** Names of all stored objects of `resource`. */
  names(resource: string): readonly string[] {
    return [...this.#state.keys()]
      .filter((key) => key.startsWith(`${resource}/`))
      .map((key) => key.slice(resource.length + 1));
  }

  /** Judges all that has happened; statements of proof included. */
  judge(options: Partial<JudgeOptions> = {}): Judgement {
    return judge(this.cluster.eventLog, {
      ours: (user) => user === OPERATOR_USER,
      statements: this.statements,
      end: this.clock.now(),
      ...options,
    });
  }

  /** Ends everything in the world; what leaks shows as a timer or a promise that stays. */
  async close(): Promise<void> {
    await this.run(
      (async () => {
        for (const operator of this.operators) await operator.stop();
        await this.#controllers.stop();
        await this.kubelet.stop();
        await this.cluster.close();
      })(),
    );
  }

  /** Takes one line of an operator's log. */
  logged(line: string): void {
    this.#take(line);
  }

  readonly #state = new Map<string, JsonObject>();

  #follow(): void {
    const apply = (commit: (typeof this.cluster.eventLog.commits)[number]): void => {
      if (commit.namespace !== NAMESPACE) return;
      const key = `${commit.resource}/${commit.name}`;
      if (commit.after === undefined) this.#state.delete(key);
      else this.#state.set(key, commit.after);
    };
    for (const commit of this.cluster.eventLog.commits) apply(commit);
    this.cluster.eventLog.onCommit(apply);
  }

  #take(line: string): void {
    const entry = JSON.parse(line) as JsonObject;
    this.log.push(entry);
    if (entry['msg'] === 'deleting pod') this.statements.push(statementOf(entry));
  }

  async #createGroup(): Promise<void> {
    this.#follow();
    const namespace = { metadata: { name: NAMESPACE }, apiVersion: 'v1', kind: 'Namespace' };
    await this.admin.create(resourceTypes.namespaces, { name: NAMESPACE }, { body: namespace });
    for (const zone of this.zones) {
      await this.admin.create(
        resourceTypes.statefulSets,
        { namespace: NAMESPACE, name: setName(zone) },
        { body: setOf(zone, this.options) },
      );
    }
  }
}

interface SetShape {
  readonly metadata: { readonly generation: number };
  readonly spec: { readonly replicas: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly readyReplicas?: number;
    readonly currentRevision?: string;
    readonly updateRevision?: string;
  };
}

interface PodShape {
  readonly metadata: { readonly deletionTimestamp?: string };
  readonly spec: { readonly containers: readonly { readonly image: string }[] };
  readonly status: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

function isReadyOn(pod: PodShape, image: string): boolean {
  return (
    pod.metadata.deletionTimestamp === undefined &&
    pod.spec.containers[0]?.image === image &&
    (pod.status.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True')
  );
}

/** The name of the set of `zone`. */
export function setName(zone: string): string {
  return `ingester-zone-${zone}`;
}

function setOf(zone: string, options: WorldOptions): JsonObject {
  const name = setName(zone);
  const labels = { name, app: 'ingester' };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: {
      name,
      namespace: NAMESPACE,
      labels: { 'rollout-group': 'ingester' },
      annotations: { 'rollout-max-unavailable': options.maxUnavailable ?? '2' },
    },
    spec: {
      replicas: options.replicas ?? 3,
      serviceName: name,
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: { name } },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'ingester', image: images.old }] },
      },
      ...options.spec,
    },
  };
}

/** What a line of the operator's log says about one disruptive request (D-7). */
function statementOf(entry: JsonObject): DisruptionStatement {
  const text = (name: string): string => {
    const value = entry[name];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
  return {
    podUid: text('uid'),
    sentAt: instant(Date.parse(text('ts'))),
    proofs: { pods: Number(text('proof_pods')), statefulsets: Number(text('proof_statefulsets')) },
    views: {
      pods: revisions(text('view_pods')),
      statefulsets: revisions(text('view_statefulsets')),
    },
  };
}

function revisions(text: string): RevisionBySet {
  if (!text.includes('=')) return Number(text);
  return Object.fromEntries(
    text.split(',').map((part) => {
      const [set = '', revision = ''] = part.split('=');
      return [set, Number(revision)];
    }),
  );
}

class WorldOperator implements OperatorRun {
  readonly transport: ClusterTransport;
  readonly readiness = createReadiness();
  readonly registry = createMetricsRegistry();
  readonly plans: { readonly key: string; readonly plan: Plan }[] = [];
  #ended: { readonly error: unknown } | undefined;
  readonly #world: World;
  readonly #clock: MortalClock;
  readonly #stop = new AbortController();
  readonly #run: Promise<void>;
  #isKilled = false;

  constructor(world: World, incarnation: number) {
    this.#world = world;
    const client = `operator-${incarnation}`;
    const delivery = world.options.delivery?.(world);
    this.transport = world.cluster.transport({
      user: { name: OPERATOR_USER, groups: ['system:authenticated'] },
      client,
      ...(delivery !== undefined && { delivery }),
    });
    this.#clock = new MortalClock(world.clock);
    this.#run = this.#start(client);
  }

  get ended(): { readonly error: unknown } | undefined {
    return this.#ended;
  }

  kill(): void {
    this.#isKilled = true;
    this.#clock.kill();
    this.transport.revoke();
  }

  async stop(): Promise<void> {
    if (this.#isKilled) return;
    this.#stop.abort();
    await this.#run;
  }

  async #start(identity: string): Promise<void> {
    const outcome = readConfig([
      `-kubernetes.namespace=${NAMESPACE}`,
      ...(this.#world.options.flags ?? []),
    ]);
    if (outcome.kind === 'exit') throw new Error(outcome.stderr);
    const clock = this.#clock;
    const log: Logger = createLogger({
      format: 'json',
      level: 'debug',
      clock,
      sink: (line) => this.#world.logged(line),
    });
    try {
      await runOperator(
        {
          config: outcome.config,
          clock,
          log,
          identity,
          metrics: createOperatorMetrics(this.registry),
          readiness: this.readiness,
          transport: this.transport,
          onPlan: (key, plan) => this.plans.push({ key, plan }),
        },
        this.#stop.signal,
      );
      this.#ended = { error: undefined };
    } catch (error) {
      this.#ended = { error };
    }
  }
}

/** A clock whose timers die with the process that set them. */
class MortalClock implements Clock {
  readonly #inner: Clock;
  readonly #timers = new Set<Timer>();
  #isDead = false;

  constructor(inner: Clock) {
    this.#inner = inner;
  }

  now(): ReturnType<Clock['now']> {
    return this.#inner.now();
  }

  monotonic(): Monotonic {
    return this.#inner.monotonic();
  }

  timer(delay: Millis, fire: () => void, options?: TimerOptions): Timer {
    if (this.#isDead) return { cancel: () => undefined };
    const timer = this.#inner.timer(
      delay,
      () => {
        this.#timers.delete(timer);
        fire();
      },
      options,
    );
    this.#timers.add(timer);
    return {
      cancel: () => {
        this.#timers.delete(timer);
        timer.cancel();
      },
    };
  }

  async sleep(delay: Millis, options: SleepOptions = {}): Promise<void> {
    const { signal, ...rest } = options;
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = this.timer(delay, resolve, rest);
    const abort = (): void => {
      timer.cancel();
      reject(signal?.reason instanceof Error ? signal.reason : new Error('the sleep was aborted'));
    };
    signal?.addEventListener('abort', abort, { once: true });
    try {
      await promise;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  async yield(): Promise<void> {
    await this.#inner.yield();
  }

  /** No timer fires any more, and none can be set. */
  kill(): void {
    this.#isDead = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }
}
