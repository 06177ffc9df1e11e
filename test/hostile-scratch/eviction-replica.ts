/** One replica that answers evictions in virtual time: caches, budgets and webhook, composed as the program composes them. */
import { ConcurrencyLimit } from '#admission/concurrency-limit.ts';
import { startDeadline } from '#admission/deadline.ts';
import { podEviction } from '#admission/pod-eviction.ts';
import type { AdmissionRequest, Decision } from '#admission/review.ts';
import { sharedReads } from '#admission/shared-reads.ts';
import { type Millis, millis, type Monotonic, seconds } from '#base/units.ts';
import type { ClusterTransport } from '#embedded-cluster/cluster.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { decoratedClient } from '#operator-client.ts';
import { openBudgets, type RunningBudgets } from '#operator-budgets.ts';
import { type Caches, createCaches, runCaches } from '#operator-caches.ts';
import { readConfig } from '#config/read-config.ts';
import { BudgetMetrics } from '#telemetry/budget-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { createOperatorMetrics } from '#telemetry/operator-metrics.ts';
import { updateRequest } from '#testing/admission-requests.ts';
import { SkewedClock } from '#testing/skewed-clock.ts';
import type { World } from '#testing/world.ts';
import { NAMESPACE } from '#testing/world-group.ts';
import { EntryLog, type LogEntry } from '#testing/world-log.ts';
import { OPERATOR_USER } from '#testing/world-operator.ts';

export interface Answered {
  readonly pod: string;
  readonly decision: Decision;
  readonly took: number;
}

export class EvictionReplica {
  readonly client: string;
  readonly clock: SkewedClock;
  readonly caches: Caches;
  readonly budgets: RunningBudgets;
  readonly log: LogEntry[] = [];
  readonly registry = createMetricsRegistry();
  readonly transport: ClusterTransport;
  readonly #world: World;
  readonly #webhook;
  readonly #end = new AbortController();
  readonly #run: Promise<unknown>;

  constructor(world: World, client: string, delivery?: object, flags: readonly string[] = []) {
    this.client = client;
    this.#world = world;
    this.clock = new SkewedClock(world.clock);
    const { clock, registry } = this;
    this.transport = world.cluster.transport({
      user: { name: OPERATOR_USER, groups: ['system:authenticated'] },
      client,
      ...delivery,
    });
    const outcome = readConfig([`-kubernetes.namespace=${NAMESPACE}`, ...flags]);
    if (outcome.kind === 'exit') throw new Error(outcome.stderr);
    const log = new EntryLog((entry) => this.log.push({ at: clock.now(), client, ...entry }));
    const metrics = createOperatorMetrics(registry);
    const { config } = outcome;
    const make = () =>
      flags.length > 0
        ? decoratedClient({ config, clock, log, metrics, transport: this.transport })
        : createClient({ transport: this.transport, clock, timeout: millis(0), userAgent: 'test' });
    const api = make();
    const budgetMetrics = new BudgetMetrics(registry);
    this.caches = createCaches(api, { config: outcome.config, clock, log, metrics });
    this.budgets = openBudgets({
      namespace: NAMESPACE,
      client: api,
      clock,
      log,
      caches: this.caches,
      metrics: budgetMetrics,
    });
    this.#webhook = podEviction({
      budgets: this.budgets.authority.evictions,
      client: sharedReads(make(), clock),
      clock,
      log,
      metrics: budgetMetrics,
      limits: { reads: new ConcurrencyLimit(100), judgements: new ConcurrencyLimit(2_000) },
    });
    this.#run = Promise.allSettled(
      runCaches(this.caches, new AbortController().signal, this.#end.signal),
    );
  }

  static async start(
    world: World,
    client: string,
    delivery?: object,
    flags: readonly string[] = [],
  ): Promise<EvictionReplica> {
    const replica = new EvictionReplica(world, client, delivery, flags);
    await world.run(
      Promise.all([replica.caches.pods.synced, replica.caches.statefulSets.synced]),
    );
    await world.clock.advance(seconds(1));
    return replica;
  }

  lead(): void {
    this.budgets.authority.lead({
      term: `term-of-${this.client}`,
      predecessorsOverAt: 0 as Monotonic,
    });
  }

  /** Sends a review, as an API server would; does not move time. */
  async ask(
    pod: string,
    rest: Partial<AdmissionRequest> = {},
    span: Millis = seconds(5),
  ): Promise<Answered> {
    const begun = this.clock.monotonic();
    const deadline = startDeadline(this.clock, begun, span);
    try {
      const decision = await this.#webhook.judge(evictionOf(pod, rest), {
        deadline: () => deadline,
      });
      return { pod, decision, took: this.clock.monotonic() - begun };
    } finally {
      deadline.release();
    }
  }

  /** The same, and lets time run until it is answered. */
  async evict(pod: string, rest: Partial<AdmissionRequest> = {}): Promise<Decision> {
    return (await this.#world.run(this.ask(pod, rest))).decision;
  }

  /** Calls of this replica since `from`, as `verb resource`. */
  calls(from: number, verbs?: readonly string[]): readonly string[] {
    return this.#world.cluster.eventLog.calls
      .filter((call) => call.client === this.client && call.startedAt >= from)
      .filter(({ verb }) => verbs === undefined || verbs.includes(verb))
      .map(({ verb, resource, name }) => `${verb} ${resource} ${name}`.trim());
  }

  async stop(): Promise<void> {
    this.#end.abort();
    this.budgets.authority.close();
    await this.#world.run(this.#run);
  }

  /** As kill -9. */
  kill(): void {
    this.transport.revoke();
    this.budgets.authority.close();
    this.#end.abort();
  }
}

export function evictionOf(pod: string, rest: Partial<AdmissionRequest> = {}): AdmissionRequest {
  return updateRequest(undefined, undefined, {
    kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
    resourceGroup: '',
    resource: 'pods',
    subResource: 'eviction',
    namespace: NAMESPACE,
    name: `ingester-zone-${pod}`,
    operation: 'CREATE',
    ...rest,
  });
}

/** `allowed`, or code and message of a denial. */
export function said(decision: Decision): string {
  return decision.isAllowed ? 'allowed' : `${decision.code} ${decision.message}`;
}
