import { type Instant, type Millis, millis, seconds } from '#base/units.ts';
import type { WebhookHandler } from '#cluster/admission/webhook-hosts.ts';
import type { VirtualClock } from '#cluster/clock/virtual-clock.ts';
import type { ClusterTransport } from '#cluster/cluster.ts';
import type { EmbeddedCluster, TransportOptions } from '#cluster/create-cluster.ts';
import { readConfig } from '#config/read-config.ts';
import type { Plan } from '#control/decision/decision.ts';
import { type Beside, runOperator } from '#operator.ts';
import { createReadiness, type Readiness } from '#telemetry/http/readiness.ts';
import { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import { createOperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { createMetricsRegistry, type MetricsRegistry } from '#telemetry/metrics.ts';
import { PausableTransport } from '../api-server/pausable-transport.ts';
import { MortalClock } from '../clocks/mortal-clock.ts';
import { PausableClock } from '../clocks/pausable-clock.ts';
import { SkewedClock } from '../clocks/skewed-clock.ts';
import { type CallOfPod, FakePodHttp } from '../pods/fake-pod-http.ts';
import type { PodFleet } from '../pods/pod-fleet.ts';
import { evictionReviewer } from './world-evictions.ts';
import { NAMESPACE } from './world-group.ts';
import { EntryLog, type LogEntry } from './world-log.ts';

/** The user that the operator is in a world. */
export const OPERATOR_USER = 'system:serviceaccount:demo:rollout-operator';

/** The plan of one pass. */
export interface PassedPlan {
  readonly at: Instant;
  readonly key: string;
  readonly plan: Plan;
}

/** One run of the operator program in a world. */
export interface OperatorRun {
  /** `operator-1` and so on, as the event log and faults know it. */
  readonly client: string;
  readonly transport: ClusterTransport;
  readonly readiness: Readiness;
  readonly registry: MetricsRegistry;
  /** Its plan of each pass, newest last. */
  readonly plans: readonly PassedPlan[];
  /** Whether another one leads, as it said last. */
  readonly isFollowing: boolean;
  /** How it ended by itself; undefined while it runs. */
  readonly ended: { readonly error: unknown } | undefined;
  /** Whether it was neither killed nor ended by itself. */
  readonly isAlive: boolean;
  /**
   * Ends it as `kill -9` does: nothing that it would send is sent any more, none of its timers fires. What it had sent is
   * void, unless `options` say that it is still on its way.
   */
  kill(options?: KillOptions): void;
  /** Halts it as SIGSTOP does, and SIGCONT after `span`: time goes on, and nothing of the process does. */
  pause(span: Millis): void;
  /** Steps the wall clock that it reads by `span`, back by a negative one; no other time moves. */
  stepWallClock(span: Millis): void;
  /** Stops it as SIGTERM does; resolves when it has ended, or is killed. */
  stop(): Promise<void>;
  /** Answers what the API server posts to `/admission/pod-eviction`. */
  readonly reviewEviction: WebhookHandler;
}

/** How a process ends. */
export interface KillOptions {
  /**
   * So much later the requests that it had sent arrive (D-57); `seeded`: each some time within 120 s. @default they
   * never do
   */
  readonly late?: Millis | 'seeded';
}

/** The longest that a request may be on its way after its sender died (D-50). */
const horizon = seconds(120);

/**
 * The Lease is renewed every 9 s instead of every 2 s: worlds run through hours. It is taken over well within the minute
 * after which a group that stands still must be explained (LIVE-2). What is about the Lease itself asks for
 * {@link usualRenewals}.
 */
const rareRenewals: readonly string[] = [
  '-leader-election.lease-duration=36s',
  '-leader-election.renew-deadline=28s',
  '-leader-election.retry-period=9s',
];

/** Flags for a world whose operators renew their Lease as often as they do by default, as client-go's programs do. */
export const usualRenewals: readonly string[] = [
  '-leader-election.lease-duration=15s',
  '-leader-election.renew-deadline=10s',
  '-leader-election.retry-period=2s',
];

/**
 * How long after an end that was not in good order the successor disrupts again, at most: what the other may have sent
 * until its renew deadline is waited out for 120 s (D-50), and a round of the election may have just passed.
 */
export const takeoverFor: Millis = seconds(28 + 120 + 9);

/** What the operator of a world is given. */
export interface WorldOperatorOptions {
  readonly clock: VirtualClock;
  readonly cluster: EmbeddedCluster;
  readonly client: string;
  readonly flags: readonly string[];
  readonly delivery: TransportOptions['delivery'] | undefined;
  /** What it reconciles along with groups. */
  readonly beside: (registry: MetricsRegistry) => Beside;
  /** Answers calls to pods. */
  readonly fleet: PodFleet;
  /** Called with each call of a pod before it arrives, and once the pod has acted on it. */
  readonly podCalled: (call: CallOfPod, moment: 'before' | 'after') => void;
  /** Takes an event of its log. */
  readonly logged: (entry: LogEntry) => void;
  /** It has ended by itself. */
  readonly ended: () => void;
  /** Takes the plan of a pass. */
  readonly planned: (passed: PassedPlan) => void;
}

/** The real operator program, started at once. */
export class WorldOperator implements OperatorRun {
  readonly client: string;
  readonly transport: ClusterTransport;
  readonly readiness = createReadiness();
  readonly registry = createMetricsRegistry();
  readonly plans: PassedPlan[] = [];
  #ended: { readonly error: unknown } | undefined;
  readonly #options: WorldOperatorOptions;
  readonly #wallClock: SkewedClock;
  readonly #process: PausableClock;
  readonly #clock: MortalClock;
  readonly #stop = new AbortController();
  #podHttp: FakePodHttp | undefined;
  #reviewer: WebhookHandler | undefined;
  readonly #run: Promise<void>;
  readonly #killed = Promise.withResolvers<void>();
  #isKilled = false;
  #isFollowing = false;

  constructor(options: WorldOperatorOptions) {
    const { cluster, client, delivery } = options;
    this.#options = options;
    this.client = client;
    this.transport = cluster.transport({
      user: { name: OPERATOR_USER, groups: ['system:authenticated'] },
      client,
      ...(delivery !== undefined && { delivery }),
    });
    this.#wallClock = new SkewedClock(options.clock);
    this.#process = new PausableClock(this.#wallClock);
    this.#clock = new MortalClock(this.#process);
    this.#run = this.#start();
  }

  get ended(): { readonly error: unknown } | undefined {
    return this.#ended;
  }

  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  get isAlive(): boolean {
    return !this.#isKilled && this.#ended === undefined;
  }

  readonly reviewEviction: WebhookHandler = async (call) => {
    if (this.#reviewer === undefined) throw new Error('connection refused');
    const reply = await Promise.race([this.#reviewer(call), this.#killed.promise]);
    if (reply === undefined) throw new Error('EOF');
    return reply;
  };

  kill({ late }: KillOptions = {}): void {
    this.#isKilled = true;
    this.#killed.resolve();
    this.#clock.kill();
    this.transport.revoke(late === undefined ? undefined : this.#lateBy(late));
    this.#podHttp?.kill();
  }

  pause(span: Millis): void {
    this.#process.pause(span);
  }

  stepWallClock(span: Millis): void {
    this.#wallClock.step(span);
  }

  #lateBy(late: Millis | 'seeded'): () => Millis {
    if (late !== 'seeded') return () => late;
    const random = this.#options.cluster.random.derive(`late requests of ${this.client}`);
    return () => millis(random.fraction() * horizon);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.race([this.#run, this.#killed.promise]);
  }

  async #start(): Promise<void> {
    const { client, flags, logged, planned, fleet, podCalled, beside } = this.#options;
    const { clock: truth } = this.#options;
    const outcome = readConfig([`-kubernetes.namespace=${NAMESPACE}`, ...rareRenewals, ...flags]);
    if (outcome.kind === 'exit') throw new Error(outcome.stderr);
    const clock = this.#clock;
    const { clientTimeout } = outcome.config.pods;
    const log = new EntryLog((entry) => {
      if (entry.message === 'following') this.#isFollowing = true;
      if (entry.message === 'leading') this.#isFollowing = false;
      if (!this.#isKilled) logged({ at: truth.now(), client, ...entry });
    });
    this.#podHttp = new FakePodHttp({
      fleet,
      clock,
      cluster: NAMESPACE,
      onCall: podCalled,
      ...(clientTimeout !== undefined && { timeout: clientTimeout }),
    });
    const transport = new PausableTransport(this.transport, this.#process);
    const metrics = new BudgetMetrics(this.registry);
    try {
      await runOperator(
        {
          config: outcome.config,
          clock,
          log,
          identity: client,
          metrics: createOperatorMetrics(this.registry),
          budgetMetrics: metrics,
          readiness: this.readiness,
          transport,
          onEvictionBudgets: (budgets) => {
            this.#reviewer = evictionReviewer({ budgets, clock, transport, metrics });
          },
          podHttp: this.#podHttp,
          ...beside(this.registry),
          onPlan: (key, plan) => {
            const passed = { at: truth.now(), key, plan };
            this.plans.push(passed);
            planned(passed);
          },
        },
        this.#stop.signal,
      );
      this.#ended = { error: undefined };
    } catch (error) {
      this.#ended = { error };
    }
    this.#options.ended();
  }
}
