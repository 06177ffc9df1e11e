import type { Instant } from '#base/units.ts';
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
  /** As `kill -9`: nothing that it sends arrives any more, none of its timers fires. */
  kill(): void;
  /** As SIGTERM; resolves when it has ended. */
  stop(): Promise<void>;
}

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
    this.#clock = new MortalClock(options.clock);
    this.#run = this.#start();
  }

  get ended(): { readonly error: unknown } | undefined {
    return this.#ended;
  }

  get isAlive(): boolean {
    return !this.#isKilled && this.#ended === undefined;
  }

  kill(): void {
    this.#isKilled = true;
    this.#clock.kill();
    this.transport.revoke();
    this.#podHttp?.kill();
  }

  async stop(): Promise<void> {
    if (this.#isKilled) return;
    this.#stop.abort();
    await this.#run;
  }

  async #start(): Promise<void> {
    const { client, flags, logged, planned, fleet, podCalled } = this.#options;
    const outcome = readConfig([`-kubernetes.namespace=${NAMESPACE}`, ...flags]);
    if (outcome.kind === 'exit') throw new Error(outcome.stderr);
    const clock = this.#clock;
    const { clientTimeout } = outcome.config.pods;
    const log = new EntryLog((entry) => {
      if (!this.#isKilled) logged({ at: clock.now(), client, ...entry });
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
            const passed = { at: clock.now(), key, plan };
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
