import { podEviction } from '#admission/eviction/pod-eviction.ts';
import { ConcurrencyLimit } from '#admission/review/concurrency-limit.ts';
import { type RunningDeadline, startDeadline } from '#admission/review/deadline.ts';
import type { AdmissionRequest, ReviewDecision, Webhook } from '#admission/review/review.ts';
import { sharedReads } from '#admission/review/shared-reads.ts';
import { type Millis, millis, seconds } from '#base/units.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { type FakeAnswer, FakeTransport } from '../api-server/fake-transport.ts';
import { unlessAborted } from '../api-server/unless-aborted.ts';
import { FakeClock } from '../clocks/fake-clock.ts';
import { silentLogger } from '../telemetry/silent-logger.ts';
import { evictionRequest } from './admission-requests.ts';
import { FakeEvictionBudgets } from './fake-eviction-budgets.ts';

/** Settings of an {@link EvictionBed}. */
export interface EvictionBedOptions {
  /** Reviews that read a pod at once. @default 100 */
  readonly reads?: number;
  /** Reviews that budgets judge at once. @default 2,000 */
  readonly judgements?: number;
  /** How long a review may take. @default 5 s */
  readonly deadline?: Millis;
}

/** What an API server says that has no such pod. */
export const noSuchPod: FakeAnswer = {
  status: 404,
  body: { kind: 'Status', message: 'pods not found', code: 404 },
};

/** The eviction webhook in front of budgets that are judged as they are, and of an API server that counts. */
export class EvictionBed {
  readonly clock = new FakeClock();
  readonly budgets = new FakeEvictionBudgets();
  readonly webhook: Webhook;
  /** What the API server answers to the read of pod `name`. @default as the cache has it */
  answer: (name: string) => FakeAnswer | Promise<FakeAnswer> = (name) => this.#stored(name);
  readonly #registry = createMetricsRegistry();
  readonly #transport = new FakeTransport(({ path, signal }) =>
    unlessAborted(Promise.resolve(this.answer(/[^/?]*(?=\?|$)/.exec(path)?.[0] ?? '')), signal),
  );
  readonly #deadline: Millis;

  constructor({ reads = 100, judgements = 2_000, deadline = seconds(5) }: EvictionBedOptions = {}) {
    const { clock, budgets } = this;
    this.#deadline = deadline;
    const transport = this.#transport;
    const client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
    this.webhook = podEviction({
      budgets,
      client: sharedReads(client, clock),
      clock,
      log: silentLogger,
      metrics: new BudgetMetrics(this.#registry),
      limits: {
        reads: new ConcurrencyLimit(reads),
        judgements: new ConcurrencyLimit(judgements),
      },
    });
  }

  #stored(name: string): FakeAnswer {
    const pod = this.budgets.pod('test', name);
    if (pod === undefined) return noSuchPod;
    const { namespace, uid, resourceVersion, phase } = pod;
    return { body: { metadata: { name, namespace, uid, resourceVersion }, status: { phase } } };
  }

  /** Returns the requests that the API server got, without their queries, such as `GET /api/v1/namespaces/test/pods/x`. */
  get requests(): readonly string[] {
    return this.#transport.requests.map(
      ({ method, path }) => `${method} ${path.replace(/\?.*/, '')}`,
    );
  }

  /** Returns what is said to the eviction of `ingester-zone-<slot>`. */
  async evict(slot: string, rest: Partial<AdmissionRequest> = {}): Promise<ReviewDecision> {
    return this.review(evictionRequest(slot, rest));
  }

  /** Returns what is said to `request`. */
  async review(request: AdmissionRequest): Promise<ReviewDecision> {
    const { clock } = this;
    let deadline: RunningDeadline | undefined;
    const running = (): RunningDeadline =>
      (deadline ??= startDeadline(clock, clock.monotonic(), this.#deadline));
    try {
      return await this.webhook.judge(request, { deadline: running });
    } finally {
      deadline?.release();
    }
  }

  /** Returns how reviews were counted, such as `denied 429`, with how often. */
  async counted(): Promise<Readonly<Record<string, number>>> {
    const pattern =
      /^rollout_operator_zpdb_eviction_requests_total\{reason="(.*)",status="(\d+)"\} (\d+)$/gm;
    const found = [...(await this.#registry.expose()).matchAll(pattern)];
    return Object.fromEntries(
      found.map(([, reason, status, count]) => [`${reason} ${status}`, Number(count)]),
    );
  }

  /** Returns how many reviews are under way, as the gauge has them. */
  async underWay(): Promise<number> {
    const pattern = /^rollout_operator_zpdb_inflight_eviction_requests (\d+)$/m;
    return Number(pattern.exec(await this.#registry.expose())?.[1] ?? 0);
  }
}
