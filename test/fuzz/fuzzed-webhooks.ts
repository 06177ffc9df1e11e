import { ReplicaClaims } from '#admission/claim/replica-claims.ts';
import { zpdbValidation } from '#admission/custom-resource/zpdb-validation.ts';
import { noDownscale } from '#admission/downscale/no-downscale.ts';
import { podEviction } from '#admission/eviction/pod-eviction.ts';
import { annotationRecord } from '#admission/prepare-downscale/downscale-record.ts';
import { GroupLocks } from '#admission/prepare-downscale/group-locks.ts';
import { prepareDownscale } from '#admission/prepare-downscale/prepare-downscale.ts';
import { ConcurrencyLimit } from '#admission/review/concurrency-limit.ts';
import { type Handler, handlersOf, type PostedAnswer } from '#admission/review/review-handler.ts';
import { millis, seconds } from '#base/units.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { FakeEvictionBudgets } from '#support/admission/fake-eviction-budgets.ts';
import { FakeTransport } from '#support/api-server/fake-transport.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { FakePodHttp } from '#support/pods/fake-pod-http.ts';
import { PodFleet } from '#support/pods/pod-fleet.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';
import { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { expectedAnswer, type WebhookName } from './review-oracle.ts';

const labels = { 'grafana.com/no-downscale': 'true', 'grafana.com/prepare-downscale': 'true' };
const metadata = { name: 'a', namespace: 'test', uid: 'u', resourceVersion: '1', labels };
const live = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata, spec: { replicas: 3 } };
const list = { metadata: { resourceVersion: '1' }, items: [live] };

/** All webhooks, behind an API server where everything is governed, and no set can be prepared: no review has an effect. */
export class FuzzedWebhooks {
  readonly #clock = new FakeClock();
  readonly #handlers: ReadonlyMap<string, Handler>;
  readonly #transport: FakeTransport;
  readonly #fleet: PodFleet;

  constructor() {
    const clock = this.#clock;
    const log = silentLogger;
    const transport = new FakeTransport(({ path }) => ({
      body: /\/(?:statefulsets|deployments|replicasets|pods)\/[^/?]/.test(path) ? live : list,
    }));
    const client = createClient({ transport, clock, timeout: millis(0), userAgent: 'fuzz' });
    const fleet = new PodFleet(clock);
    const limit = new ConcurrencyLimit(100);
    const podHttp = new FakePodHttp({ fleet, clock });
    const ports = { client, clock, log };
    const webhooks = [
      noDownscale({ ...ports, limit }),
      prepareDownscale({
        ...ports,
        podHttp,
        limit,
        locks: new GroupLocks(),
        groupClaims: new ReplicaClaims({ ...ports, namespace: 'test', identity: 'fuzz' }),
        record: annotationRecord(ports),
        clusterDomain: 'cluster.local.',
        onBackground: () => undefined,
      }),
      podEviction({
        ...ports,
        budgets: new FakeEvictionBudgets(),
        metrics: new BudgetMetrics(createMetricsRegistry()),
        limits: { reads: limit, judgements: limit },
      }),
      zpdbValidation(),
    ];
    this.#transport = transport;
    this.#fleet = fleet;
    this.#handlers = handlersOf(webhooks, { clock, log, requestTimeout: seconds(10) });
  }

  /** Posts `body`. @returns how the answer differs from what is expected; undefined where it does not */
  async problem(name: WebhookName, body: Buffer): Promise<string | undefined> {
    const answer = await this.post(name, body);
    const effect = this.#effect();
    if (effect !== undefined) return effect;
    const [expected, found] = [expectedAnswer(name, body), meaningOf(answer)];
    const isSame = JSON.stringify(found) === JSON.stringify(expected);
    return isSame
      ? undefined
      : `answered ${answer.status} ${answer.body}, not ${JSON.stringify(expected)}`;
  }

  /** What was done besides reading since it was asked last; undefined where nothing was. */
  #effect(): string | undefined {
    // A list of all requests would be all that is left of the memory.
    const write = this.#transport.requests.splice(0).find(({ method }) => method !== 'GET');
    if (write !== undefined) return `asked the API server to ${write.method} ${write.path}`;
    const call = this.#fleet.calls.splice(0).at(0);
    return call === undefined ? undefined : `called ${call.method} ${call.host}${call.path}`;
  }

  /** Posts `body` as the API server does. */
  async post(name: WebhookName, body: Buffer): Promise<PostedAnswer> {
    const handler = this.#handlers.get(`/admission/${name}`);
    if (handler === undefined) throw new Error(`There is no webhook ${name}`);
    const begun = this.#clock.monotonic();
    const caller = { query: 'timeout=10s', begun, onLeave: () => undefined };
    return handler({ contentType: 'application/json', body, caller });
  }
}

/** What an answer says; whatever is no answer is reported as it is. */
function meaningOf({ status, body }: PostedAnswer): unknown {
  if (status === 400) return 'unreadable';
  const { response } = JSON.parse(body) as { response?: { uid?: unknown; allowed?: unknown } };
  const { uid, allowed } = response ?? {};
  if (typeof uid !== 'string' || typeof allowed !== 'boolean') return body;
  return { uid, isAllowed: allowed };
}
