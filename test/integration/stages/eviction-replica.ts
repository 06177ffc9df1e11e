/** Replicas that answer evictions in virtual time: caches, budgets and webhook, composed as the program composes them. */

import { podEviction } from '#admission/eviction/pod-eviction.ts';
import { ConcurrencyLimit } from '#admission/review/concurrency-limit.ts';
import { startDeadline } from '#admission/review/deadline.ts';
import type { AdmissionRequest, ReviewDecision } from '#admission/review/review.ts';
import { sharedReads } from '#admission/review/shared-reads.ts';
import type { JsonObject } from '#base/json.ts';
import { type Millis, millis, minutes, monotonic, seconds } from '#base/units.ts';
import type { ClusterTransport } from '#cluster/cluster.ts';
import { readConfig } from '#config/read-config.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { openBudgets, type RunningBudgets } from '#operator/budgets.ts';
import { type Caches, createCaches, runCaches } from '#operator/caches.ts';
import { decoratedClient } from '#operator/manager/client.ts';
import { evictionRequest } from '#support/admission/admission-requests.ts';
import { SkewedClock } from '#support/clocks/skewed-clock.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';
import type { World, WorldOptions } from '#support/world/world.ts';
import { NAMESPACE } from '#support/world/world-group.ts';
import { OPERATOR_USER, type OperatorRun } from '#support/world/world-operator.ts';
import { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import { createOperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { budgetedWorld, makeBudget } from './budget-stage.ts';

/** What a replica said to an eviction, and after how long. */
export interface Answered {
  readonly pod: string;
  /** `allowed`, or code and message of a denial. */
  readonly answer: string;
  readonly took: Millis;
}

interface ReplicaOptions {
  /** How far ahead its wall clock is from the start. */
  readonly ahead?: Millis;
  /** Flags of the program; its client is limited as they say. */
  readonly flags?: readonly string[];
}

/** One replica, as far as it answers evictions; pods are named without `ingester-zone-`. */
export class EvictionReplica {
  readonly clock: SkewedClock;
  readonly registry = createMetricsRegistry();
  readonly budgets: RunningBudgets;
  readonly #client: string;
  readonly #world: World;
  readonly #transport: ClusterTransport;
  readonly #caches: Caches;
  readonly #webhook;
  readonly #end = new AbortController();
  readonly #run: Promise<unknown>;

  constructor(world: World, client: string, { ahead = millis(0), flags }: ReplicaOptions = {}) {
    this.#client = client;
    this.#world = world;
    this.clock = new SkewedClock(world.clock);
    this.clock.step(ahead);
    const { clock, registry } = this;
    const user = { name: OPERATOR_USER, groups: ['system:authenticated'] };
    this.#transport = world.cluster.transport({ user, client });
    const transport = this.#transport;
    const outcome = readConfig([`-kubernetes.namespace=${NAMESPACE}`, ...(flags ?? [])]);
    if (outcome.kind === 'exit') throw new Error(outcome.stderr);
    const { config } = outcome;
    const log = silentLogger;
    const operatorMetrics = createOperatorMetrics(registry);
    const metrics = new BudgetMetrics(registry);
    const connect = (): ReturnType<typeof createClient> =>
      flags === undefined
        ? createClient({ transport, clock, timeout: millis(0), userAgent: 'test' })
        : decoratedClient({ config, clock, log, metrics: operatorMetrics, transport });
    const api = connect();
    this.#caches = createCaches(api, { config, clock, log, metrics: operatorMetrics });
    const caches = this.#caches;
    this.budgets = openBudgets({ namespace: NAMESPACE, client: api, clock, log, caches, metrics });
    this.#webhook = podEviction({
      budgets: this.budgets.authority.evictions,
      client: sharedReads(connect(), clock),
      clock,
      log,
      metrics,
      limits: { reads: new ConcurrencyLimit(100), judgements: new ConcurrencyLimit(2_000) },
    });
    const run = runCaches(caches, new AbortController().signal, this.#end.signal);
    this.#run = Promise.allSettled(run);
  }

  /** A replica whose caches are filled. */
  static async start(
    world: World,
    client: string,
    options: ReplicaOptions = {},
  ): Promise<EvictionReplica> {
    const replica = new EvictionReplica(world, client, options);
    const { pods, statefulSets } = replica.#caches;
    await world.run(Promise.all([pods.synced, statefulSets.synced]));
    await world.clock.advance(seconds(1));
    return replica;
  }

  /** It leads from now on; the leader before it has long ended. */
  lead(): void {
    const term = `term-of-${this.#client}`;
    this.budgets.authority.lead({
      term,
      predecessorsOverAt: monotonic(0),
      mayBeginAt: monotonic(0),
    });
  }

  /** Sends a review, as an API server would; does not move time. */
  async ask(pod: string, rest: Partial<AdmissionRequest> = {}): Promise<Answered> {
    const begun = this.clock.monotonic();
    const deadline = startDeadline(this.clock, begun, seconds(5));
    try {
      const request = evictionRequest(pod, { namespace: NAMESPACE, ...rest });
      const decision = await this.#webhook.judge(request, { deadline: () => deadline });
      return { pod, answer: textOf(decision), took: millis(this.clock.monotonic() - begun) };
    } finally {
      deadline.release();
    }
  }

  /** The same, and lets time run until it is answered: `allowed`, or code and message of a denial. */
  async evict(pod: string, rest: Partial<AdmissionRequest> = {}): Promise<string> {
    return (await this.#world.run(this.ask(pod, rest))).answer;
  }

  /** Calls of this replica since `from`, as `verb resource`; watches are left out. */
  calls(from: number): readonly string[] {
    return this.#world.cluster.eventLog.calls
      .filter(({ client, startedAt }) => client === this.#client && startedAt >= from)
      .filter(({ verb }) => verb !== 'watch')
      .map(({ verb, resource }) => `${verb} ${resource}`);
  }

  async stop(): Promise<void> {
    this.#end.abort();
    this.budgets.authority.close();
    await this.#world.run(this.#run);
  }

  /** As kill -9. */
  kill(): void {
    this.#transport.revoke();
    this.budgets.authority.close();
    this.#end.abort();
  }
}

function textOf(decision: ReviewDecision): string {
  return decision.isAllowed ? 'allowed' : `${decision.code} ${decision.message}`;
}

/** Three zones of three, one at a time. */
export const threeByThree: WorldOptions = { replicas: 3, maxUnavailable: '1' };

/** A world without a budget, and two replicas of which `one` leads. */
export interface ReplicaStage {
  readonly world: World;
  readonly one: EvictionReplica;
  readonly two: EvictionReplica;
}

/** A group at rest, and two replicas that answer evictions, of which `one` leads; there is no budget yet. */
export async function replicasWithoutBudget(
  options: WorldOptions = threeByThree,
): Promise<ReplicaStage> {
  const world = await budgetedWorld(options);
  const one = await EvictionReplica.start(world, 'one');
  one.lead();
  const two = await EvictionReplica.start(world, 'two');
  return { world, one, two };
}

/** The same under a budget that both know. */
export async function replicasUnderBudget(
  spec: JsonObject = { maxUnavailable: 1 },
  options: WorldOptions = threeByThree,
): Promise<ReplicaStage> {
  const stage = await replicasWithoutBudget(options);
  await makeBudget(stage.world, spec);
  await stage.world.clock.advance(seconds(11));
  return stage;
}

/** An operator that leads, and a replica that follows it. */
export interface LedStage {
  readonly world: World;
  readonly operator: OperatorRun;
  readonly two: EvictionReplica;
}

/** A group at rest under a budget, whose operator has waited for its predecessor, and a replica beside it. */
export async function ledUnderBudget(
  spec: JsonObject = { maxUnavailable: 1 },
  options: WorldOptions = threeByThree,
): Promise<LedStage> {
  const world = await budgetedWorld(options);
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(3));
  await makeBudget(world, spec);
  await world.clock.advance(seconds(11));
  const two = await EvictionReplica.start(world, 'two');
  await world.clock.advance(seconds(15));
  return { world, operator, two };
}

/** Ends the replicas, and the world. */
export async function endAll(world: World, ...replicas: readonly EvictionReplica[]): Promise<void> {
  for (const each of replicas) await each.stop();
  await world.close();
}
