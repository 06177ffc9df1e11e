/**
 * What tests are made of, the whole program on the embedded cluster in virtual time among it; README.md says what to take
 * for which test. Only tests import this room.
 */
import type { JsonObject } from '#base/json.ts';
import { type Millis, millis, minutes } from '#base/units.ts';
import { VirtualClock } from '#cluster/clock/virtual-clock.ts';
import type { Controllers } from '#cluster/controllers/start-controllers.ts';
import {
  createCluster,
  type EmbeddedCluster,
  type TransportOptions,
} from '#cluster/create-cluster.ts';
import type { Kubelet } from '#cluster/kubelet/start-kubelet.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Beside } from '#operator.ts';
import type { MetricsRegistry } from '#telemetry/metrics.ts';
import type { JudgeOptions } from '../judge/chosen-invariants.ts';
import { type Judgement, judge } from '../judge/judge.ts';
import type { CallOfPod } from '../pods/fake-pod-http.ts';
import { PodFleet } from '../pods/pod-fleet.ts';
import { StoredObjects } from './stored-objects.ts';
import { type EnvironmentOptions, startEnvironment } from './world-environment.ts';
import {
  GROUP,
  images,
  isSetComplete,
  NAMESPACE,
  type SetOptions,
  setName,
  setOf,
} from './world-group.ts';
import type { LogEntry } from './world-log.ts';
import { OPERATOR_USER, type OperatorRun, WorldOperator } from './world-operator.ts';
import { WorldRecord } from './world-record.ts';
import { createNamespace, patchSetOf, podOf, templateOf } from './world-requests.ts';

/** What differs from the usual world. */
export interface WorldOptions extends SetOptions, EnvironmentOptions {
  /** @default a, b, c */
  readonly zones?: readonly string[];
  /** How many replicas of the operator there are where that matters; see {@link replaceOperator}. @default 1 */
  readonly operators?: number;
  /** Flags of the operator besides the namespace. */
  readonly flags?: readonly string[];
  /** What its operators run along with groups, with their figures in `registry`. @default nothing */
  readonly beside?: (world: World, registry: MetricsRegistry) => Beside;
  /** How watch events travel to the operator. @default at once */
  readonly delivery?: (world: World) => TransportOptions['delivery'];
}

/** A call of a pod, and which operator makes it. */
export interface OperatorPodCall extends CallOfPod {
  readonly client: string;
}

/**
 * An embedded cluster in virtual time with one rollout group, and the real operator program on it. Everything that
 * happens can be judged by the promises of docs/rules/promises.md.
 */
export class World {
  readonly clock: VirtualClock;
  readonly cluster: EmbeddedCluster;
  readonly admin: Client;
  readonly kubelet: Kubelet;
  /** Answers what operators ask of pods. */
  readonly fleet: PodFleet;
  /** What operators said. */
  readonly record = new WorldRecord();
  readonly zones: readonly string[];
  readonly options: WorldOptions;
  readonly operators: OperatorRun[] = [];
  /** Called with each call of a pod by an operator before it arrives, and once the pod has acted on it. */
  readonly onPodCall = new Set<(call: OperatorPodCall, moment: 'before' | 'after') => void>();
  /** Called with each event of an operator's log, as it is said. */
  readonly onLog = new Set<(entry: LogEntry) => void>();
  /** Called when an operator has ended by itself. */
  readonly onEnded = new Set<(operator: OperatorRun) => void>();
  readonly #controllers: Controllers;
  readonly #stored: StoredObjects;

  private constructor(cluster: EmbeddedCluster, options: WorldOptions, clock: VirtualClock) {
    this.clock = clock;
    this.cluster = cluster;
    this.fleet = new PodFleet(clock);
    this.options = options;
    this.zones = options.zones ?? ['a', 'b', 'c'];
    this.admin = this.clientOf({ user: 'user', client: 'user' });
    this.#stored = new StoredObjects(cluster.eventLog, NAMESPACE);
    const { controllers, kubelet } = startEnvironment(cluster, clock, options);
    this.#controllers = controllers;
    this.kubelet = kubelet;
  }

  /** Returns a world whose group is complete: every pod available on the first revision, every status observed. */
  static async create(options: WorldOptions = {}): Promise<World> {
    const clock = new VirtualClock();
    const cluster = await createCluster({ clock, seed: options.seed ?? 1 });
    const world = new World(cluster, options, clock);
    await world.run(Promise.all([world.#controllers.ready, world.kubelet.ready]));
    await world.run(createNamespace(world.admin));
    await world.addGroup(GROUP);
    return world;
  }

  /** Creates a group of one set a zone and waits until it is complete. */
  async addGroup(group: string, options: SetOptions = this.options): Promise<void> {
    for (const zone of this.zones) {
      const body = setOf({ zone, group }, options);
      const at = { namespace: NAMESPACE, name: setName(zone, group) };
      await this.run(this.admin.create(resourceTypes.statefulSets, at, { body }));
    }
    await this.clock.runUntil(() => this.isComplete(images.old, group), {
      maxVirtual: minutes(30),
    });
  }

  /** Returns a client of the cluster. */
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
    const { clock, cluster, options } = this;
    const client = `operator-${this.operators.length + 1}`;
    const operator = new WorldOperator({
      clock,
      cluster,
      client,
      flags: options.flags ?? [],
      delivery: options.delivery?.(this),
      beside: (registry) => options.beside?.(this, registry) ?? {},
      fleet: this.fleet,
      podCalled: (call, moment) => {
        for (const told of this.onPodCall) told({ client, ...call }, moment);
      },
      logged: (entry) => {
        this.record.logged(entry);
        for (const told of this.onLog) told(entry);
      },
      planned: (passed) => this.record.planned(client, passed),
      ended: () => {
        this.record.ended(client, clock.now());
        for (const told of this.onEnded) told(operator);
      },
    });
    this.operators.push(operator);
    return operator;
  }

  /** Starts another operator after `delay`, as a kubelet does, unless there are as many as there should be by then. */
  replaceOperator(delay: Millis): void {
    const replace = (): void => {
      const alive = this.operators.filter(({ isAlive }) => isAlive).length;
      if (alive < (this.options.operators ?? 1)) this.startOperator();
    };
    this.clock.timer(delay, replace, { owner: 'restart of the operator' });
  }

  /** Starts the operator and waits until it is ready, and has looked at the group or follows another one. */
  async readyOperator(): Promise<OperatorRun> {
    const operator = this.startOperator();
    await this.untilReady(operator);
    return operator;
  }

  /** Waits until `operator` is ready, and has looked at the group or follows another one; or has ended. */
  async untilReady(operator: OperatorRun): Promise<void> {
    const isAtWork = (): boolean => operator.plans.length > 0 || operator.isFollowing;
    await this.clock.runUntil(
      () => (operator.readiness.isReady() && isAtWork()) || operator.ended !== undefined,
    );
  }

  /** Gives every zone, or some, a new image; the rollout that people start. */
  async setImage(image: string, zones: readonly string[] = this.zones): Promise<void> {
    const document = templateOf(image);
    await this.run(
      Promise.all(zones.map((zone) => patchSetOf(this.admin, setName(zone), document))),
    );
  }

  /** Does the same as {@link setImage} of every zone, for what happens while time moves: returns before it is done. */
  setImageNow(image: string): void {
    this.patchSetsNow(templateOf(image));
  }

  /** Does the same as {@link patchSet} of every zone, for what happens while time moves: returns before it is done. */
  patchSetsNow(document: JsonObject): void {
    for (const zone of this.zones) {
      // A set that is not there cannot be changed.
      patchSetOf(this.admin, setName(zone), document).catch(() => undefined);
    }
  }

  /** Gives every zone of another group a new image. */
  async setImageOf(group: string, image: string): Promise<void> {
    const names = this.zones.map((zone) => setName(zone, group));
    await this.run(
      Promise.all(names.map((name) => patchSetOf(this.admin, name, templateOf(image)))),
    );
  }

  /** Patches one zone's set strategically, as kubectl does. */
  async patchSet(zone: string, document: JsonObject): Promise<void> {
    await this.run(patchSetOf(this.admin, setName(zone), document));
  }

  /** Deletes a pod as a person does, whatever the others are doing. */
  async deletePod(name: string): Promise<void> {
    const { uid } = await this.run(podOf(this.admin, name));
    await this.run(
      this.admin.delete(
        resourceTypes.pods,
        { namespace: NAMESPACE, name },
        { preconditions: { uid } },
      ),
    );
  }

  /** Lets time run until every pod runs `image` and is available, and every status says so. */
  async untilRolled(image: string, limit: Millis = minutes(60)): Promise<void> {
    await this.clock.runUntil(() => this.isComplete(image), { maxVirtual: limit });
  }

  /** Reports whether all pods run `image` and are ready, and every set is observed, full and promoted. */
  isComplete(image: string, group: string = GROUP): boolean {
    return this.zones.every((zone) => {
      const name = setName(zone, group);
      return isSetComplete(this.stored('statefulsets.apps', name), image, (ordinal) =>
        this.stored('pods', `${name}-${ordinal}`),
      );
    });
  }

  /** Returns what the store holds of `resource` in the groups' namespace. */
  stored(resource: string, name: string): JsonObject | undefined {
    return this.#stored.find(resource, name);
  }

  /** Names of all stored objects of `resource`. */
  names(resource: string): readonly string[] {
    return this.#stored.names(resource);
  }

  /** Judges all that has happened; statements of proof included. */
  judge(options: Partial<JudgeOptions> = {}): Judgement {
    return judge(this.cluster.eventLog, {
      ours: (user) => user === OPERATOR_USER,
      statements: this.record.statements,
      // Where an operator says of one down-scale what it rests on, it has to of all.
      ...(this.record.scaleStatements.length > 0 && {
        scaleStatements: this.record.scaleStatements,
      }),
      podCalls: this.fleet.calls,
      end: this.clock.now(),
      ...options,
    });
  }

  /** Stops controllers and kubelets, so that long waits are cheap; only what operators do happens any more. */
  async freezeEnvironment(): Promise<void> {
    await this.run(Promise.all([this.#controllers.stop(), this.kubelet.stop()]));
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
}
