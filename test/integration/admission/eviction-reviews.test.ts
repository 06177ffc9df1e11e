/** Evictions at an API server that has them reviewed as shipped: what it tells the webhook of them, and what it does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podEviction } from '#admission/eviction/pod-eviction.ts';
import { ConcurrencyLimit } from '#admission/review/concurrency-limit.ts';
import { webhookConfigurations } from '#admission/webhook-configuration/webhook-configurations.ts';
import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import { webhookTypes } from '#certificate/webhook-configuration.ts';
import { createCluster } from '#cluster/create-cluster.ts';
import { objectsAt, textAt } from '#cluster/json/read-json.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { FakeEvictionBudgets } from '#support/admission/fake-eviction-budgets.ts';
import { failed, zones } from '#support/budgets/budgeted-zones.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';
import { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { ca, clock, serveWebhooks } from './hostile-trust-stage.ts';

const namespace = 'test';
const pod = 'ingester-zone-a-0';

/** The shipped configuration of evictions, leading to `port`. */
function configuration(port: number): JsonObject {
  const shipped = webhookConfigurations({ namespace, port }).find((each) =>
    textAt(each, 'metadata', 'name').startsWith('pod-eviction-'),
  );
  const caBundle = Buffer.from(ca).toString('base64');
  const webhooks = objectsAt(shipped, 'webhooks').map((webhook) => ({
    ...webhook,
    clientConfig: { url: `https://localhost:${port}/admission/pod-eviction`, caBundle },
  }));
  return { ...shipped, webhooks };
}

interface Stage extends AsyncDisposable {
  readonly budgets: FakeEvictionBudgets;
  /** Shows budgets that all pods are healthy. */
  readonly heal: () => void;
  /** How the API server answers to an eviction. */
  readonly evict: (query: string, deleteOptions?: JsonObject) => Promise<string>;
}

/** An API server with one pod, in front of budgets. */
async function open(): Promise<Stage> {
  const cluster = await createCluster({ clock, seed: 1 });
  const plain = { clock, timeout: millis(0), userAgent: 'test' };
  const admin = createClient({ ...plain, transport: cluster.transport() });
  await admin.create(resourceTypes.namespaces, {}, { body: { metadata: { name: namespace } } });
  const spec = { containers: [{ name: 'a', image: 'a:1' }] };
  const made = await admin.create(
    resourceTypes.pods,
    { namespace },
    { body: { metadata: { name: pod }, spec } },
  );
  const budgets = new FakeEvictionBudgets();
  budgets.budget('ingester');
  const { uid } = made.metadata;
  const heal = (): void => budgets.show(zones({ a: { pods: { 0: { uid } } } }));
  heal();
  const limit = new ConcurrencyLimit(10);
  const server = await serveWebhooks([
    podEviction({
      budgets,
      client: admin,
      clock,
      log: silentLogger,
      metrics: new BudgetMetrics(createMetricsRegistry()),
      limits: { reads: limit, judgements: limit },
    }),
  ]);
  await admin.create(webhookTypes.validating, {}, { body: configuration(server.port) });
  return {
    budgets,
    heal,
    evict: async (query, deleteOptions) => {
      const path = `/api/v1/namespaces/${namespace}/pods/${pod}/eviction${query}`;
      const metadata = { name: pod };
      const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata, deleteOptions };
      try {
        await admin.raw({ method: 'POST', path, body });
        return 'evicted';
      } catch (error) {
        const { status, message } = error as { status?: number; message?: string };
        return `${status} ${message}`;
      }
    },
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await cluster.close();
    },
  };
}

test('the API server has dry runs reviewed, in the query and in the Eviction, and none reserves [zpdb 61]', async () => {
  await using stage = await open();
  const { budgets, evict } = stage;
  assert.equal(await evict('?dryRun=All'), 'evicted');
  assert.equal(await evict('', { dryRun: ['All'] }), 'evicted');
  assert.deepEqual(budgets.reserved('ingester'), []);
  budgets.show(zones({ c: { pods: { 2: failed } } }));
  for (const [query, options] of [
    ['?dryRun=All', undefined],
    ['', { dryRun: ['All'] }],
  ] as const) {
    assert.match(await evict(query, options), /^429 .*1 pod not ready in ingester-zone-c /);
  }
});

test('the API server hands on the code and the words of a denial, and evicts what is allowed [zpdb 62, 65]', async () => {
  await using stage = await open();
  const { budgets, heal, evict } = stage;
  budgets.show(zones({ c: { pods: { 2: failed } } }));
  assert.match(
    await evict(''),
    /^429 .*admission webhook "pod-eviction-test\.grafana\.com" denied the request: 1 pod not ready in ingester-zone-c \(ZoneAwarePodDisruptionBudget ingester\): ingester-zone-c-2 is not ready; at most 0 may be \(429\)$/,
  );
  heal();
  assert.equal(await evict(''), 'evicted');
  assert.deepEqual(budgets.reserved('ingester'), [pod]);
});
