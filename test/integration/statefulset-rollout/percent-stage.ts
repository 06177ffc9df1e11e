/** StatefulsetRollouts in virtual time: the controllers of a cluster, native budgets, and the program. */
import assert from 'node:assert/strict';
import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import { type Millis, minutes, seconds } from '#base/units.ts';
import { numberAt, objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import { readConfig } from '#config/read-config.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { runLedTerms } from '#operator/manager/led-terms.ts';
import type { OperatorConsul } from '#operator/statefulset-rollout/consul.ts';
import { reconcileStatefulsetRollouts } from '#operator/statefulset-rollout/reconcile.ts';
import { statefulsetRolloutDefinition } from '#statefulset-rollout/definition.ts';
import { phases } from '#statefulset-rollout/progress.ts';
import { seenWhileRunning } from '#support/api-server/pausable-transport.ts';
import { PausableClock } from '#support/clocks/pausable-clock.ts';
import { FakeReceiver } from '#support/external-services/fake-receiver.ts';
import { FakeSlack } from '#support/external-services/fake-slack.ts';
import { quietOutside } from '#support/external-services/rollout-outside.ts';
import { KeptLog } from '#support/telemetry/kept-log.ts';
import { createOperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { RolloutMetrics } from '#telemetry/metrics/rollout-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { mostDown } from '../phased-rollout/phased-judge.ts';
import { type Environment, startEnvironment, templateOf } from '../stages/virtual-environment.ts';

const namespace = 'demo';
const patience = minutes(30);

/** A run of the program. */
export interface PercentRun {
  readonly log: KeptLog;
  /** Values of the metrics of rollouts, by the rest of the name and all labels but namespace and name. */
  series(): Promise<ReadonlyMap<string, number>>;
  /** Ends it in good order. */
  stop(): Promise<void>;
  /** It is gone, and what had left and not arrived yet arrives so much later. @param late @default it never does */
  die(late?: Millis): void;
}

/** See the head of the file. */
export class PercentStage {
  readonly env: Environment;
  readonly running: PercentRun[] = [];
  readonly replicas: number;
  readonly receiver: FakeReceiver;
  readonly slack: FakeSlack;
  /** What programs ask that are started from now on. @default no Consul is configured */
  consul: OperatorConsul | undefined;
  #runs = 0;

  private constructor(env: Environment, replicas: number) {
    this.env = env;
    this.replicas = replicas;
    this.receiver = new FakeReceiver(() => env.clock.now());
    this.slack = new FakeSlack(() => env.clock.monotonic());
  }

  /** The definition, a budget by which two pods may be away, and nothing else. */
  static async open(
    replicas = 4,
    options?: Parameters<typeof startEnvironment>[0],
  ): Promise<PercentStage> {
    const env = await startEnvironment(options);
    const stage = new PercentStage(env, replicas);
    const { client, clock } = env;
    const body = statefulsetRolloutDefinition;
    await client.create(resourceTypes.customResourceDefinitions, {}, { body });
    await stage.createBudget();
    await clock.advance(seconds(1));
    return stage;
  }

  async createBudget(maxUnavailable: number | string = 2, name = 'db', app = 'db'): Promise<void> {
    const body = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name, namespace },
      spec: { maxUnavailable, selector: { matchLabels: { app } } },
    };
    await this.env.client.create(resourceTypes.podDisruptionBudgets, { namespace }, { body });
  }

  /**
   * Starts the program.
   *
   * @param clock one that can be paused halts the whole process
   * @param more what flags say besides: when a partial rollout is reported, a day by default, and whether pods may be pinned
   */
  start(
    clock: Clock = this.env.clock,
    more: { readonly isPinAssumed?: boolean; readonly partialAging?: Millis } = {},
  ): PercentRun {
    this.#runs += 1;
    const identity = `operator-${this.#runs}`;
    const outcome = readConfig([
      `-kubernetes.namespace=${namespace}`,
      '-leader-election.enabled=true',
      '-leader-election.resource-name=statefulset-rollout',
    ]);
    assert.ok(outcome.kind === 'run');
    const log = new KeptLog();
    const transport = this.env.cluster.transport({ user: identity });
    const [ending, killing] = [new AbortController(), new AbortController()];
    const registry = createMetricsRegistry();
    const metrics = createOperatorMetrics(registry);
    const rolloutMetrics = new RolloutMetrics(registry, { clock, phases });
    const outside = quietOutside(this.receiver, this.slack);
    const { consul } = this;
    const { config } = outcome;
    const told = { clock, log, metrics, rolloutMetrics };
    const given = { ...more, ...told, config, identity, outside, consul };
    const run = runLedTerms(
      { ...given, transport: seenWhileRunning(clock, transport) },
      (term, signal) => reconcileStatefulsetRollouts(given, term, signal),
      AbortSignal.any([ending.signal, killing.signal]),
    );
    // One that is halted ends once it sees that its Lease is lost.
    if (clock instanceof PausableClock) run.catch(() => undefined);
    const started: PercentRun = {
      log,
      series: async () => seriesIn(await registry.expose()),
      stop: async () => {
        ending.abort();
        await this.finish(run);
      },
      die: (late) => {
        transport.revoke(late === undefined ? undefined : () => late);
        killing.abort();
        run.catch(() => undefined);
      },
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

  /** Makes a resource over the set `db` with `image`. */
  async create(image: string, spec: JsonObject = {}, name = 'db'): Promise<void> {
    const body = {
      apiVersion: 'bedrock.operator.slack.com/v1',
      kind: 'StatefulsetRollout',
      metadata: { name, namespace },
      spec: { percent: 100, statefulset: this.carried(image), ...spec },
    };
    await this.env.client.create(resourceTypes.statefulsetRollouts, { namespace }, { body });
  }

  /** The set as the resource carries it. */
  carried(image: string, more: JsonObject = {}): JsonObject {
    return {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db' },
      spec: {
        replicas: this.replicas,
        podManagementPolicy: 'Parallel',
        serviceName: 'db',
        selector: { matchLabels: { app: 'db' } },
        template: templateOf(image),
        ...more,
      },
    };
  }

  async edit(spec: JsonObject, name = 'db'): Promise<void> {
    const body = { kind: 'merge', document: { spec } } as const;
    await this.env.client.patch(resourceTypes.statefulsetRollouts, { namespace, name }, { body });
  }

  async remove(name = 'db'): Promise<void> {
    const key = { namespace, name };
    await this.env.client.delete(resourceTypes.statefulsetRollouts, key, { preconditions: {} });
  }

  rollout(name = 'db'): JsonObject | undefined {
    return this.env.stored('statefulsetrollouts.bedrock.operator.slack.com').get(name);
  }

  status(name = 'db'): JsonObject {
    return objectAt(this.rollout(name), 'status');
  }

  phase(name = 'db'): string {
    return textAt(this.status(name), 'phase');
  }

  reason(name = 'db'): string {
    return textAt(this.status(name), 'reason');
  }

  set(): JsonObject | undefined {
    return this.env.stored('statefulsets.apps').get('db');
  }

  /** Names of the pods, by ordinal. */
  pods(): readonly string[] {
    const count = numberAt(this.set(), 'spec', 'replicas') ?? this.replicas;
    return Array.from({ length: count }, (_, ordinal) => `db-${ordinal}`);
  }

  /** Images of all pods, by ordinal. */
  images(): readonly string[] {
    const stored = this.env.stored('pods');
    return this.pods().map((pod) => (stored.has(pod) ? this.env.imageOf(pod) : ''));
  }

  /** Names of the pods that the API server let the program evict, in order. */
  evictions(): readonly string[] {
    const { calls } = this.env.cluster.eventLog;
    return calls
      .filter(({ verb, subresource }) => verb === 'create' && subresource === 'eviction')
      .filter(({ user, outcome }) => user.startsWith('operator-') && outcome === 201)
      .map(({ name }) => name);
  }

  /** Messages of the Events about the resource with `reason`. */
  messages(reason: string): readonly string[] {
    return [...this.env.stored('events').values()]
      .filter((event) => textAt(event, 'reason') === reason)
      .filter((event) => textAt(event, 'involvedObject', 'kind') === 'StatefulsetRollout')
      .map((event) => textAt(event, 'message'));
  }

  condition(type: string): string {
    const found = objectsAt(this.status(), 'conditions').find(
      (each) => textAt(each, 'type') === type,
    );
    return `${textAt(found, 'status')} ${textAt(found, 'reason')}`;
  }

  async until(what: string, holds: () => boolean, limit: Millis = patience): Promise<void> {
    const { clock } = this.env;
    const end = clock.monotonic() + limit;
    await clock.runUntil(() => holds() || clock.monotonic() > end);
    assert.ok(holds(), `${what}: ${JSON.stringify(this.status())}`);
  }

  /** The rollout of the present generation has ended, in that phase. */
  async ended(phase: 'RolloutDone' | 'RolloutFailed' = 'RolloutDone'): Promise<void> {
    await this.until('it has ended', () => {
      const generation = numberAt(this.rollout(), 'metadata', 'generation');
      const isNew = numberAt(this.status(), 'observedGeneration') === generation;
      return isNew && this.phase() === phase;
    });
  }

  /** The most pods that were away at a time, since all were there for the first time. */
  mostDown(): number {
    return mostDown(this.env.cluster.eventLog.commits, this.pods());
  }

  /** @throws where callbacks were sent as none may be */
  async close(): Promise<void> {
    await this.env.close();
    assert.deepEqual(this.receiver.problems, []);
  }
}

function seriesIn(exposed: string): ReadonlyMap<string, number> {
  const series = new Map<string, number>();
  for (const line of exposed.split('\n')) {
    const found = /^statefulset_rollout_(\w+)(\{.*\})? (\S+)$/.exec(line);
    if (found === null) continue;
    const [, name = '', labels = '', value] = found;
    const rest = labels.replace(/namespace="demo",name="db",?/, '').replace('{}', '');
    series.set(`${name}${rest}`, Number(value));
  }
  return series;
}
