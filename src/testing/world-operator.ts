import { type Instant, type Millis, millis, seconds } from '#base/units.ts';
import { readConfig } from '#config/read-config.ts';
import type { Plan } from '#control/decision.ts';
import type { ClusterTransport } from '#embedded-cluster/cluster.ts';
import type { EmbeddedCluster, TransportOptions } from '#embedded-cluster/create-cluster.ts';
import type { VirtualClock } from '#embedded-cluster/virtual-clock.ts';
import { runOperator } from '#operator.ts';
import { createMetricsRegistry, type MetricsRegistry } from '#telemetry/metrics.ts';
import { createOperatorMetrics } from '#telemetry/operator-metrics.ts';
import { createReadiness, type Readiness } from '#telemetry/readiness.ts';
import { type CallOfPod, FakePodHttp } from './fake-pod-http.ts';
import { MortalClock } from './mortal-clock.ts';
import type { PodFleet } from './pod-fleet.ts';
import { SkewedClock } from './skewed-clock.ts';
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
  /** How it ended by itself; undefined while it runs. */
  readonly ended: { readonly error: unknown } | undefined;
  /** Whether it was neither killed nor ended by itself. */
  readonly isAlive: boolean;
  /**
   * As `kill -9`: nothing that it would send is sent any more, none of its timers fires. What it had sent is void,
   * unless `options` say that it is still on its way.
   */
  kill(options?: KillOptions): void;
  /** Steps the wall clock that it reads by `span`, back by a negative one; no other time moves. */
  stepWallClock(span: Millis): void;
  /** As SIGTERM; resolves when it has ended. */
  stop(): Promise<void>;
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

/** What the operator of a world is given. */
export interface WorldOperatorOptions {
  readonly clock: VirtualClock;
  readonly cluster: EmbeddedCluster;
  readonly client: string;
  readonly flags: readonly string[];
  readonly delivery: TransportOptions['delivery'] | undefined;
  /** Answers calls to pods. */
  readonly fleet: PodFleet;
  /** Told of each call of a pod before it arrives, and once the pod has acted on it. */
  readonly podCalled: (call: CallOfPod, moment: 'before' | 'after') => void;
  /** Takes an event of its log. */
  readonly logged: (entry: LogEntry) => void;
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
  readonly #clock: MortalClock;
  readonly #stop = new AbortController();
  #podHttp: FakePodHttp | undefined;
  readonly #run: Promise<void>;
  #isKilled = false;

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
    this.#clock = new MortalClock(this.#wallClock);
    this.#run = this.#start();
  }

  get ended(): { readonly error: unknown } | undefined {
    return this.#ended;
  }

  get isAlive(): boolean {
    return !this.#isKilled && this.#ended === undefined;
  }

  kill({ late }: KillOptions = {}): void {
    this.#isKilled = true;
    this.#clock.kill();
    this.transport.revoke(late === undefined ? undefined : this.#lateBy(late));
    this.#podHttp?.kill();
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
    if (this.#isKilled) return;
    this.#stop.abort();
    await this.#run;
  }

  async #start(): Promise<void> {
    const { client, flags, logged, planned, fleet, podCalled, clock: truth } = this.#options;
    const outcome = readConfig([`-kubernetes.namespace=${NAMESPACE}`, ...flags]);
    if (outcome.kind === 'exit') throw new Error(outcome.stderr);
    const clock = this.#clock;
    const { clientTimeout } = outcome.config.pods;
    const log = new EntryLog((entry) => {
      if (!this.#isKilled) logged({ at: truth.now(), client, ...entry });
    });
    this.#podHttp = new FakePodHttp({
      fleet,
      clock,
      cluster: NAMESPACE,
      onCall: podCalled,
      ...(clientTimeout !== undefined && { timeout: clientTimeout }),
    });
    try {
      await runOperator(
        {
          config: outcome.config,
          clock,
          log,
          identity: client,
          metrics: createOperatorMetrics(this.registry),
          readiness: this.readiness,
          transport: this.transport,
          podHttp: this.#podHttp,
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
  }
}
