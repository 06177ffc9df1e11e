import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import type { Logger } from '#base/logger.ts';
import { type Millis, type Monotonic, millis, seconds } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';
import { textAt } from '#cluster/json/read-json.ts';
import type { ActiveRule } from '#cluster/kubelet/behaviours.ts';
import type { Plan } from '#control/decision/decision.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import { createAll, install, readManifests } from '../cluster/apply-manifests.ts';
import { demoNamespace } from '../cluster/demo-namespace.ts';
import { type LocalCluster, startLocalCluster } from '../cluster/local-cluster.ts';
import { imagePatch, isGroupMember, setImage } from '../cluster/manifest.ts';
import { delaysAt, physicalLimit, restartOf } from '../cluster/timing.ts';
import { type Fact, operatorUser } from '../observer/facts.ts';
import { GroupObserver } from '../observer/group-observer.ts';
import { PlanNarrator } from '../observer/plan-narrator.ts';
import { isSettled } from '../observer/zone-view.ts';
import { type DemoOperator, Operators } from './operators.ts';
import type { Scene } from './scene.ts';
import { horizonSentence } from './short-times.ts';

/** What a stage is given. */
export interface StageOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly scene: Scene;
  /** Divides the delays of pods. */
  readonly speed: number;
  readonly onFact: (fact: Fact) => void;
}

interface Waiter {
  readonly test: () => boolean;
  readonly resolve: (at: Millis) => void;
}

/** A cluster with the example group on it, operators as they are started, and a user who watches the API server. */
export class Stage {
  readonly observer: GroupObserver;
  readonly narrator: PlanNarrator;
  readonly operators: Operators;
  readonly #options: StageOptions;
  readonly #cluster: LocalCluster;
  readonly #sets: readonly JsonObject[];
  readonly #startedAt: Monotonic;
  readonly #waiters = new Set<Waiter>();
  readonly #listeners: ((commit: Commit) => void)[] = [];
  readonly #ending = new AbortController();
  #isPlaying = false;
  #isIdle = false;
  /** Whether it was reported that a wait is shorter here than elsewhere. */
  #isShortTold: boolean;

  private constructor(
    options: StageOptions,
    parts: {
      readonly cluster: LocalCluster;
      readonly sets: readonly JsonObject[];
      readonly startedAt: Monotonic;
    },
  ) {
    this.#options = options;
    this.#cluster = parts.cluster;
    this.#sets = parts.sets;
    this.#startedAt = parts.startedAt;
    // Where operators succeed one another, all that is shortened is reported at once.
    this.#isShortTold = options.scene.operators.length > 1;
    this.narrator = new PlanNarrator({
      onFact: options.onFact,
      waitsOf: options.scene.isRollout ? 'group' : 'set',
      zoneOf: (set) => this.observer.zones.find((zone) => zone.set === set)?.zone ?? set,
    });
    this.observer = new GroupObserver({
      namespace: demoNamespace,
      sets: parts.sets.map((set) => textAt(set, 'metadata', 'name')),
      onFact: (fact) => this.narrator.happened(fact),
    });
    const groups = ['system:serviceaccounts', 'system:authenticated'];
    const { clock, log, scene } = options;
    this.operators = new Operators({
      clock,
      log,
      scene,
      kubeconfig: this.kubeconfig,
      connect: () => this.#cluster.connect({ name: operatorUser, groups }),
      onPlan: (plan) => this.#planned(plan),
      onReady: () => this.#wake(),
    });
  }

  /** Starts the cluster and installs the group, as `kubectl apply` would; no operator is there yet. */
  static async open(options: StageOptions): Promise<Stage> {
    const { clock, log, scene, speed } = options;
    const startedAt = clock.monotonic();
    const manifests = (await readManifests(scene.folder)).map((object) => scene.change(object));
    const cluster = await startLocalCluster({
      clock,
      log,
      delays: delaysAt(speed),
      nodes: scene.nodes,
    });
    const sets = manifests.filter(isGroupMember);
    const stage = new Stage(options, { cluster, sets, startedAt });
    try {
      cluster.eventLog.onCommit((commit) => {
        stage.observer.observe(commit, stage.elapsed);
        stage.operators.observe(commit);
        for (const listener of stage.#listeners) listener(commit);
        stage.#wake();
      });
      await install(cluster.client, scene.definitions, clock);
      await createAll(cluster.client, manifests);
      return stage;
    } catch (error) {
      await stage.close();
      throw error;
    }
  }

  /** Returns what the group is. */
  get scene(): Scene {
    return this.#options.scene;
  }

  /** Acts as the cluster's administrator. */
  get client(): Client {
    return this.#cluster.client;
  }

  /** Acts as `name`, without any rule. The caller closes what it has opened. */
  connect(name: string): Transport {
    return this.#cluster.connect({ name, groups: ['system:masters', 'system:authenticated'] });
  }

  /** Returns the webhooks of this process, which the API server can ask. */
  get webhooks(): LocalCluster['webhooks'] {
    return this.#cluster.webhooks;
  }

  /** Calls `listener` at each commit, once the observer knows of it. */
  onCommit(listener: (commit: Commit) => void): void {
    this.#listeners.push(listener);
  }

  /**
   * Starts the operators of the scene one after the other, so that the first one leads. They come last, as where the
   * operator is installed next to a group that runs: one that finds a group in motion, as a group is whose pods are being
   * made for the first time, cannot know whether another client moves it, and waits before it disrupts anything.
   *
   * @param until waits for what is so
   * @returns the one that leads
   */
  async startOperators(
    until: (what: string, test: () => boolean) => Promise<Millis>,
  ): Promise<DemoOperator | undefined> {
    await until('all zones are ready', () => this.observer.areAll(isSettled));
    for (const name of this.scene.operators) {
      const operator = this.operators.start(name);
      await until(`the ${name} has filled its caches`, () => operator.isReady);
      await until('an operator leads', () => this.operators.leader !== undefined);
    }
    return this.operators.leader;
  }

  /** Reports a fact of the demo's own. */
  note(zone: string, text: string): void {
    this.narrator.happened({ at: this.elapsed, zone, kind: 'note', text });
  }

  /** Begins to take what the operator waits for as news. */
  begin(): void {
    this.#isPlaying = true;
  }

  /** Returns the path of a kubeconfig for the cluster. */
  get kubeconfig(): string {
    return this.#cluster.kubeconfig;
  }

  /** Returns where the API server listens. */
  get url(): string {
    return this.#cluster.url;
  }

  /** Returns the time for which the demo has gone on. */
  get elapsed(): Millis {
    return millis(this.#options.clock.monotonic() - this.#startedAt);
  }

  /** Reports whether the operator saw nothing to do when it looked last. */
  get isIdle(): boolean {
    return this.#isIdle;
  }

  /** Returns the image that the manifests name. */
  get firstImage(): string {
    return this.#sets[0] === undefined ? '' : setImage(this.#sets[0]);
  }

  /** Returns the time below which no rollout of the group can come. */
  get physicalLimit(): Millis {
    const zones = this.observer.zones.map(({ cells, limit }) => ({ pods: cells.length, limit }));
    return physicalLimit(zones, restartOf(delaysAt(this.#options.speed)));
  }

  /** Gives the pod template of every zone another image. */
  async changeImage(image: string): Promise<void> {
    this.begin();
    for (const set of this.#sets) {
      const key = { namespace: demoNamespace, name: textAt(set, 'metadata', 'name') };
      const body = { kind: 'strategic', document: imagePatch(set, image) } as const;
      await this.#cluster.client.patch(resourceTypes.statefulSets, key, { body });
    }
  }

  /** Lets the readiness probes of all pods fail until the rule is removed. */
  failProbes(): ActiveRule {
    const match = { namespace: demoNamespace };
    return this.#cluster.behaviours.add({ behave: 'neverReady', match });
  }

  /**
   * Waits until `test` holds after a commit. @returns when that was, since the demo began
   * @throws {Error} naming `what` when `patience` is over, and what ended an operator that was not asked to end
   */
  async until(
    what: string,
    test: () => boolean,
    { patience, signal }: { readonly patience: Millis; readonly signal: AbortSignal },
  ): Promise<Millis> {
    if (test()) return this.elapsed;
    const done = new AbortController();
    let waiter: Waiter | undefined;
    const met = new Promise<Millis>((resolve) => {
      waiter = { test, resolve };
      this.#waiters.add(waiter);
    });
    const both = AbortSignal.any([signal, done.signal]);
    const late = this.#options.clock.sleep(patience, { signal: both }).then(() => {
      throw new Error(this.#lateSentence(what, patience));
    });
    late.catch(() => undefined);
    try {
      return await Promise.race([met, late, this.operators.failed]);
    } finally {
      if (waiter !== undefined) this.#waiters.delete(waiter);
      done.abort();
    }
  }

  /** Ends the operators, then the cluster; leaves nothing behind. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.operators.close();
    this.narrator.flush();
    await this.#cluster.close();
  }

  #lateSentence(what: string, patience: Millis): string {
    const { reason } = this.narrator;
    const why = reason === undefined ? '' : `: ${reason.message} (${reason.reason})`;
    return `Gave up after ${Math.round(patience / 1_000)} s of waiting until ${what}${why}`;
  }

  #wake(): void {
    for (const waiter of this.#waiters) {
      if (!waiter.test()) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(this.elapsed);
    }
  }

  /** Takes a plan; what the operator waits for is not new while the group is being installed, and when all ends. */
  #planned(plan: Plan): void {
    if (this.#ending.signal.aborted) return;
    this.#isIdle = plan.decisions.every(({ kind }) => kind === 'warn');
    if (this.#isPlaying) this.narrator.planned(plan, this.elapsed);
    if (this.#isPlaying && this.narrator.reason?.reason === 'AwaitingPredecessor') {
      if (!this.#isShortTold) this.note('', horizonSentence);
      this.#isShortTold = true;
    }
    this.#wake();
  }
}

/** Returns how long something of the length `expected` may take before the demo gives up. */
export function patienceFor(expected: Millis): Millis {
  return millis(seconds(30) + 5 * expected);
}
