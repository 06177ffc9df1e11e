/** PhasedRollouts in virtual time: a set, its controller, a Prometheus that answers as told, and the program. */
import assert from 'node:assert/strict';
import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import { type Millis, minutes, seconds } from '#base/units.ts';
import { numberAt, objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import { readPhasedRolloutConfig, sharedConfigOf } from '#config/phased-config.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { runPhasedRollout } from '#operator/phased-rollout/phased-rollout.ts';
import { phasedRolloutDefinition } from '#phased-rollout/definition.ts';
import { seenWhileRunning } from '#support/api-server/pausable-transport.ts';
import { PausableClock } from '#support/clocks/pausable-clock.ts';
import { FakePrometheus } from '#support/external-services/fake-prometheus.ts';
import { KeptLog } from '#support/telemetry/kept-log.ts';
import { createHttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import { createReadiness } from '#telemetry/http/readiness.ts';
import { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import { createOperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { type Environment, startEnvironment, templateOf } from '../stages/virtual-environment.ts';
import { partitionsIn, rolloutFaults, told, writesIn } from './phased-judge.ts';

const namespace = 'demo';
const patience = minutes(10);

/** A run of the program. */
export interface PhasedRun {
  readonly log: KeptLog;
  /** Ends it in good order. */
  stop(): Promise<void>;
  /**
   * It is gone, and none of its requests leaves any more; those that have left take effect.
   *
   * @param late how much later than now those arrive that have not yet @default they never do
   */
  die(late?: Millis): void;
}

/** Check settings of most tests: two passes, 5 s apart, after 10 s. */
export const usualCheck: JsonObject = {
  initialDelaySeconds: 10,
  periodSeconds: 5,
  successThreshold: 2,
  query: { expr: 'errors < 5', url: 'http://prometheus:9090' },
};

/** See the head of the file. */
export class PhasedStage {
  readonly env: Environment;
  readonly prometheus: FakePrometheus;
  /** Whether a user lifted the gate: what goes then, goes without checks. */
  isLifted = false;
  readonly running: PhasedRun[] = [];
  #runs = 0;

  private constructor(env: Environment) {
    this.env = env;
    this.prometheus = new FakePrometheus(env.clock);
  }

  /** A set `db` of three pods, all ready, and the definition. */
  static async open(
    spec: JsonObject = {},
    { hasDefinition = true }: { readonly hasDefinition?: boolean } = {},
  ): Promise<PhasedStage> {
    const env = await startEnvironment();
    const stage = new PhasedStage(env);
    if (hasDefinition) await stage.installDefinition();
    await env.createSet(spec);
    await env.clock.runUntilIdle();
    return stage;
  }

  async installDefinition(): Promise<void> {
    const { client, clock } = this.env;
    const body = phasedRolloutDefinition;
    await client.create(resourceTypes.customResourceDefinitions, {}, { body });
    await clock.advance(seconds(1));
  }

  /** Starts the program. @param clock one that can be paused halts the whole process */
  start(args: readonly string[] = ['--leader-elect'], clock: Clock = this.env.clock): PhasedRun {
    const { cluster } = this.env;
    this.#runs += 1;
    const flags = ['--health-probe-bind-address=0', ...args];
    const outcome = readPhasedRolloutConfig(flags, { ENABLE_WEBHOOKS: 'false' });
    assert.ok(outcome.kind === 'run');
    const registry = createMetricsRegistry();
    const [ending, killing] = [new AbortController(), new AbortController()];
    const log = new KeptLog();
    const transport = cluster.transport({ user: `operator-${this.#runs}` });
    const run = runPhasedRollout(
      {
        door: outcome.config,
        config: sharedConfigOf(outcome.config, namespace),
        clock,
        log,
        registry,
        metrics: createOperatorMetrics(registry),
        budgetMetrics: new BudgetMetrics(registry),
        httpMetrics: createHttpServerMetrics(registry),
        readiness: createReadiness(),
        transport: seenWhileRunning(clock, transport),
        identity: `operator-${this.#runs}`,
        prometheus: this.prometheus,
      },
      AbortSignal.any([ending.signal, killing.signal]),
    );
    const die = (late?: Millis): void => {
      transport.revoke(late === undefined ? undefined : () => late);
      killing.abort();
      run.catch(() => undefined);
    };
    // One that is halted ends once it sees that its Lease is lost.
    if (clock instanceof PausableClock) run.catch(() => undefined);
    const started: PhasedRun = {
      log,
      stop: async () => {
        ending.abort();
        await this.finish(run);
      },
      die,
    };
    this.running.push(started);
    return started;
  }

  /** Waits for `work` while time passes. */
  async finish<T>(work: Promise<T>): Promise<T> {
    const ended = { is: false };
    const done = work.finally(() => {
      ended.is = true;
    });
    done.catch(() => undefined);
    await this.env.clock.runUntil(() => ended.is);
    return done;
  }

  async create(spec: JsonObject = {}, name = 'pr1'): Promise<void> {
    const body = {
      apiVersion: 'sts.plus/v1alpha1',
      kind: 'PhasedRollout',
      metadata: { name, namespace },
      spec: { targetRef: 'db', check: usualCheck, ...spec },
    };
    await this.env.client.create(resourceTypes.phasedRollouts, { namespace }, { body });
  }

  async edit(document: JsonObject, name = 'pr1'): Promise<void> {
    this.#lift();
    const body = { kind: 'merge', document } as const;
    await this.env.client.patch(resourceTypes.phasedRollouts, { namespace, name }, { body });
  }

  async remove(name = 'pr1'): Promise<void> {
    this.#lift();
    const key = { namespace, name };
    await this.env.client.delete(resourceTypes.phasedRollouts, key, { preconditions: {} });
  }

  /** The template gets another image. */
  async change(image: string): Promise<void> {
    await this.env.patchSet({ spec: { template: templateOf(image) } });
  }

  rollout(name = 'pr1'): JsonObject | undefined {
    return this.env.stored('phasedrollouts.sts.plus').get(name);
  }

  phase(name = 'pr1'): string {
    return textAt(this.rollout(name), 'status', 'phase');
  }

  /** Status and reason of a condition, as in `True Updated`. */
  condition(type: string, name = 'pr1'): string {
    const found = this.#condition(type, name);
    return `${textAt(found, 'status')} ${textAt(found, 'reason')}`;
  }

  conditionMessage(type: string, name = 'pr1'): string {
    return textAt(this.#condition(type, name), 'message');
  }

  #condition(type: string, name: string): JsonObject | undefined {
    const conditions = objectsAt(objectAt(this.rollout(name), 'status'), 'conditions');
    return conditions.find((each) => textAt(each, 'type') === type);
  }

  /** The step that is being waited in. */
  step(name = 'pr1'): string {
    return textAt(this.rollout(name), 'status', 'rollingPodStatus', 'status');
  }

  set(name = 'db'): KubernetesObject | undefined {
    return this.env.stored('statefulsets.apps').get(name) as KubernetesObject | undefined;
  }

  partition(name = 'db'): number {
    return numberAt(this.set(name), 'spec', 'updateStrategy', 'rollingUpdate', 'partition') ?? 0;
  }

  owner(name = 'db'): string {
    return textAt(this.set(name), 'metadata', 'annotations', 'sts.plus/phasedRollout');
  }

  /** What {@link partitionsIn} tells of the set. */
  partitions(): readonly number[] {
    return partitionsIn(this.env.cluster.eventLog.commits, 'db');
  }

  /** Reasons of the Events about a PhasedRollout that tell what was done, or that somebody must look, in order. */
  events(name = 'pr1'): readonly string[] {
    const reasons = this.#eventsOf(name).map((event) => textAt(event, 'reason'));
    return [...new Set(reasons)].filter((reason) => told.has(reason));
  }

  /** Messages of the Events about a PhasedRollout with `reason`. */
  messages(reason: string, name = 'pr1'): readonly string[] {
    return this.#eventsOf(name)
      .filter((event) => textAt(event, 'reason') === reason)
      .map((event) => textAt(event, 'message'));
  }

  #eventsOf(name: string): readonly JsonObject[] {
    return [...this.env.stored('events').values()].filter((event) => {
      const about = objectAt(event, 'involvedObject');
      return textAt(about, 'kind') === 'PhasedRollout' && textAt(about, 'name') === name;
    });
  }

  async until(what: string, holds: () => boolean, limit: Millis = patience): Promise<void> {
    const { clock } = this.env;
    const end = clock.monotonic() + limit;
    await clock.runUntil(() => holds() || clock.monotonic() > end);
    assert.ok(holds(), `${what}: ${JSON.stringify(this.rollout()?.['status'])}`);
  }

  /** The PhasedRollout owns the set, and blocks its next update. */
  async settled(): Promise<void> {
    await this.until('it is settled', () => this.phase() === 'Updated' && this.partition() === 3);
    await this.env.clock.advance(seconds(1));
  }

  /** All pods run `image`, and the next update is blocked. */
  async completed(image: string): Promise<void> {
    await this.until('the rollout is complete', () => {
      const pods = ['db-0', 'db-1', 'db-2'];
      const stored = this.env.stored('pods');
      const isNew = (pod: string): boolean => stored.has(pod) && this.env.imageOf(pod) === image;
      return this.phase() === 'Updated' && pods.every(isNew);
    });
    await this.settled();
  }

  /** Another client sets the partition. */
  async movePartition(partition: number): Promise<void> {
    this.#lift();
    await this.env.patchSet({ spec: { updateStrategy: { rollingUpdate: { partition } } } });
  }

  rollingUpdate(name = 'db'): JsonObject {
    return objectAt(this.set(name), 'spec', 'updateStrategy', 'rollingUpdate');
  }

  /** What the program wrote, but for Events and its Lease, such as `patch statefulsets.apps db`. */
  writes(): readonly string[] {
    return writesIn(this.env.cluster.eventLog.calls);
  }

  /** What was before is judged by what was wanted then; what comes after is not. */
  #lift(): void {
    if (!this.isLifted && this.rollout() !== undefined) this.assertGated();
    this.isLifted = true;
  }

  /** Asserts that no pod was let go without its checks, or while another was away. */
  assertGated(): void {
    const { clock, cluster } = this.env;
    const { asked } = this.prometheus;
    const history = { eventLog: cluster.eventLog, start: clock.now() - clock.monotonic() };
    assert.deepEqual(rolloutFaults({ rollout: this.rollout(), asked, ...history }), []);
  }

  async close(): Promise<void> {
    if (!this.isLifted && this.rollout() !== undefined) this.assertGated();
    await this.env.close();
  }
}
