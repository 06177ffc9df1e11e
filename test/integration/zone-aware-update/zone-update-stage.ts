/** ZoneAwareUpdates in virtual time: a set over three zones, its controller, an alarm that does as told, and the program. */
import assert from 'node:assert/strict';
import type { Webhook } from '#admission/review/review.ts';
import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import { type Millis, millis, minutes, seconds } from '#base/units.ts';
import { Alarms } from '#check/cloudwatch/alarms.ts';
import { numberAt, objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import type { Config } from '#config/config.ts';
import { readConfig } from '#config/read-config.ts';
import { createClient } from '#kubernetes/http-client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { runLedTerms } from '#operator/manager/led-terms.ts';
import { openZoneBudgets } from '#operator/zone-aware/zone-budgets.ts';
import { zoneTermOf } from '#operator/zone-aware/zone-term.ts';
import { seenWhileRunning } from '#support/api-server/pausable-transport.ts';
import { FakePrometheus } from '#support/external-services/fake-prometheus.ts';
import { KeptLog } from '#support/telemetry/kept-log.ts';
import { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import { createOperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { UpdateMetrics } from '#telemetry/metrics/update-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { zoneAwareUpdateDefinition } from '#zone-aware-update/definition.ts';
import { FakeAlarmSource } from '../stages/fake-alarm-source.ts';
import { type Environment, startEnvironment, templateOf } from '../stages/virtual-environment.ts';
import { zoneFaults } from './zone-update-judge.ts';

const namespace = 'demo';
const patience = minutes(30);

/** A run of the program. */
export interface ZoneUpdateRun {
  readonly log: KeptLog;
  /** Of evictions. */
  readonly webhook: Webhook;
  /** Ends it in good order. */
  stop(): Promise<void>;
  /** It is gone, and none of its requests leaves any more; those that have left arrive after `late`. @default they do not */
  die(late?: Millis): void;
}

/** See the head of the file. */
export class ZoneUpdateStage {
  readonly env: Environment;
  readonly source: FakeAlarmSource;
  readonly prometheus: FakePrometheus;
  readonly running: ZoneUpdateRun[] = [];
  /** Whether the judge is to be silent, as the test itself takes pods away. */
  isDisturbed = false;
  /** As many pods as a step may take. */
  cap = 4;
  #runs = 0;

  private constructor(env: Environment) {
    this.env = env;
    this.prometheus = new FakePrometheus(env.clock);
    this.source = new FakeAlarmSource(() => env.clock.now());
  }

  /** A set `db` of twelve pods over three zones, all ready, and the definition. */
  static async open(
    spec: JsonObject = {},
    {
      definition = zoneAwareUpdateDefinition,
      nodes = 3,
    }: { readonly definition?: JsonObject; readonly nodes?: number } = {},
  ): Promise<ZoneUpdateStage> {
    const env = await startEnvironment({ kubelet: { nodes: { count: nodes } } });
    const stage = new ZoneUpdateStage(env);
    await env.client.create(resourceTypes.customResourceDefinitions, {}, { body: definition });
    await env.createSet({
      replicas: 12,
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      ...spec,
    });
    await env.clock.runUntilIdle();
    return stage;
  }

  /** Starts the program. @param clock one that can be paused halts the whole process */
  start(config: Config = usualConfig(), clock: Clock = this.env.clock): ZoneUpdateRun {
    const { cluster } = this.env;
    this.#runs += 1;
    const registry = createMetricsRegistry();
    const [ending, killing] = [new AbortController(), new AbortController()];
    const log = new KeptLog();
    const identity = `operator-${this.#runs}`;
    const sending = cluster.transport({ user: identity });
    const transport = seenWhileRunning(clock, sending);
    const alarms = new Alarms({ clock, source: this.source });
    const client = createClient({ transport, clock, timeout: millis(0), userAgent: identity });
    const zoneBudgets = openZoneBudgets({
      client,
      reviewClient: client,
      ledgerNamespace: namespace,
      clock,
      log,
      count: () => undefined,
    });
    const settings = {
      zoneBudgets,
      config,
      clock,
      log,
      metrics: createOperatorMetrics(registry),
      budgetMetrics: new BudgetMetrics(registry),
      updateMetrics: new UpdateMetrics(registry),
      transport,
      identity,
      alarms,
      prometheus: this.prometheus,
    };
    const end = AbortSignal.any([ending.signal, killing.signal]);
    const working = runLedTerms(settings, zoneTermOf(settings, true), end);
    const run = closing(Promise.race([working, zoneBudgets.run(end).then(() => working)]), alarms);
    run.catch(() => undefined);
    const started: ZoneUpdateRun = {
      log,
      webhook: zoneBudgets.webhook,
      stop: async () => {
        ending.abort();
        await this.finish(run);
      },
      die: (late) => {
        sending.revoke(late === undefined ? undefined : () => late);
        killing.abort();
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

  async create(spec: JsonObject = {}, name = 'zau'): Promise<void> {
    const body = {
      apiVersion: 'zonecontrol.k8s.aws/v1',
      kind: 'ZoneAwareUpdate',
      metadata: { name, namespace },
      spec: { statefulset: 'db', maxUnavailable: 4, ...spec },
    };
    await this.env.client.create(resourceTypes.zoneAwareUpdates, { namespace }, { body });
  }

  async edit(spec: JsonObject, name = 'zau'): Promise<void> {
    const body = { kind: 'merge', document: { spec } } as const;
    await this.env.client.patch(resourceTypes.zoneAwareUpdates, { namespace, name }, { body });
  }

  /** The template gets another image. */
  async change(image: string): Promise<void> {
    await this.env.patchSet({ spec: { template: templateOf(image) } });
  }

  update(name = 'zau'): JsonObject | undefined {
    return this.env.stored('zoneawareupdates.zonecontrol.k8s.aws').get(name);
  }

  /** Step, deleted pods and old pods by zone, as they are stored. */
  status(name = 'zau'): string {
    return statusText(this.update(name));
  }

  /** Every different status that was stored, in order. */
  statuses(): readonly string[] {
    const found = this.env.cluster.eventLog.commits
      .filter(({ resource, name }) => resource.startsWith('zoneawareupdates') && name === 'zau')
      .map(({ after }) => statusText(after));
    return found.filter((each, at) => each !== found[at - 1]);
  }

  isPaused(): boolean {
    return objectAt(this.update(), 'status')['pausedRollout'] === true;
  }

  /** Status and reason of the condition, as in `True Updated`. */
  condition(name = 'zau'): string {
    const [found] = objectsAt(objectAt(this.update(name), 'status'), 'conditions');
    return `${textAt(found, 'status')} ${textAt(found, 'reason')}`;
  }

  conditionMessage(name = 'zau'): string {
    const [found] = objectsAt(objectAt(this.update(name), 'status'), 'conditions');
    return textAt(found, 'message');
  }

  set(): KubernetesObject | undefined {
    return this.env.stored('statefulsets.apps').get('db') as KubernetesObject | undefined;
  }

  zoneOf(pod: string): string {
    const node = textAt(this.env.stored('pods').get(pod), 'spec', 'nodeName');
    return ['zone-a', 'zone-b', 'zone-c'][Number(node.slice('node-'.length))] ?? '';
  }

  /** Pods of the set on `image`. */
  on(image: string): number {
    const pods = [...this.env.stored('pods').keys()].filter((name) => name.startsWith('db-'));
    return pods.filter((pod) => this.env.imageOf(pod) === image).length;
  }

  /** What the program deleted, in order, each step by itself: ordinals of deletions at most a second apart. */
  steps(): readonly string[] {
    const deletions = this.env.cluster.eventLog.calls.filter(
      ({ verb, resource, user }) =>
        verb === 'delete' && resource === 'pods' && user.startsWith('operator-'),
    );
    const steps: { at: number; pods: string[] }[] = [];
    for (const { startedAt: at, name } of deletions) {
      const last = steps.at(-1);
      if (last === undefined || at - last.at > 1_000) steps.push({ at, pods: [name] });
      else last.pods.push(name);
    }
    return steps.map(({ pods }) => pods.map((pod) => pod.slice('db-'.length)).join(' '));
  }

  async until(what: string, holds: () => boolean, limit: Millis = patience): Promise<void> {
    const { clock } = this.env;
    const end = clock.monotonic() + limit;
    await clock.runUntil(() => holds() || clock.monotonic() > end);
    assert.ok(holds(), `${what}: ${JSON.stringify(this.update()?.['status'])}`);
  }

  /** All pods run `image`, and the status says so. */
  async completed(image: string): Promise<void> {
    const replicas = numberAt(this.set(), 'spec', 'replicas') ?? 0;
    await this.until('the rollout is complete', () => {
      const isTold = this.condition() === 'True Updated';
      return isTold && this.on(image) === replicas && this.#isPromoted();
    });
    await this.env.clock.advance(seconds(1));
  }

  #isPromoted(): boolean {
    const status = objectAt(this.set(), 'status');
    return textAt(status, 'currentRevision') === textAt(status, 'updateRevision');
  }

  async pass(span: Millis): Promise<void> {
    await this.env.clock.advance(span);
  }

  /** What is wrong with the history, one sentence each. */
  faults(): readonly string[] {
    const { commits } = this.env.cluster.eventLog;
    return zoneFaults({ commits, cap: this.cap, replicas: 12 });
  }

  async close(): Promise<void> {
    if (!this.isDisturbed) assert.deepEqual(this.faults(), []);
    for (const { log } of this.running) {
      const faults = log.lines.filter((line) => line.includes('fault of this program'));
      assert.deepEqual(faults, []);
    }
    for (const each of this.running) each.die();
    await this.env.clock.advance(millis(1));
    await this.env.close();
  }
}

function usualConfig(): Config {
  const outcome = readConfig([`-kubernetes.namespace=${namespace}`]);
  assert.ok(outcome.kind === 'run');
  return outcome.config;
}

async function closing(working: Promise<void>, alarms: Alarms): Promise<void> {
  try {
    await working;
  } finally {
    await alarms.close();
  }
}

function statusText(update: JsonObject | undefined): string {
  const status = objectAt(update, 'status');
  const old = objectAt(status, 'oldReplicas');
  const counts = Object.keys(old)
    .toSorted()
    .map((zone) => numberAt(old, zone) ?? 0);
  const of = (field: string): number => numberAt(status, field) ?? 0;
  return `${of('updateStep')} / ${of('deletedReplicas')} / ${counts.join(',')}`;
}
