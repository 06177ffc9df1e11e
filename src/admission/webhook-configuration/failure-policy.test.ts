import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import { createCluster } from '#cluster/create-cluster.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { silentLogger } from '#support/telemetry/silent-logger.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { collectFailurePolicies } from './failure-policy.ts';

const validating = resourceTypes.validatingWebhookConfigurations;

function configuration(name: string, members: JsonObject, namespace = 'test'): JsonObject {
  const webhook = {
    name: 'pod-eviction-test.grafana.com',
    clientConfig: { url: 'https://localhost/x' },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...members,
  };
  const metadata = { name, labels: { 'grafana.com/namespace': namespace } };
  return { metadata, webhooks: [webhook] };
}

class Stage {
  readonly clock = new FakeClock(1_767_225_600_000);
  readonly registry = createMetricsRegistry();
  readonly ending = new AbortController();
  client: Client | undefined;

  async open(): Promise<Client> {
    const { clock, registry } = this;
    const cluster = await createCluster({ clock, seed: 1 });
    const plain = { clock, timeout: millis(0), userAgent: 'test' };
    const client = createClient({ ...plain, transport: cluster.transport() });
    const options = { client, clock, registry, log: silentLogger, namespace: 'test' };
    void collectFailurePolicies(options, this.ending.signal);
    await clock.settle();
    this.client = client;
    return client;
  }

  async create(body: JsonObject): Promise<void> {
    await this.client?.create(validating, {}, { body });
    await this.clock.advance(1_000);
  }

  /** The series, as `labels value`. */
  async series(): Promise<readonly string[]> {
    const text = await this.registry.expose();
    return text
      .split('\n')
      .filter((line) => line.startsWith('kube_validating_webhook_failure_policy{'))
      .map((line) => line.replace('kube_validating_webhook_failure_policy', ''));
  }
}

function series(webhook: string, fail: number): readonly string[] {
  const labels = (policy: string): string =>
    `{type="ValidatingWebhook",webhook="${webhook}",policy="${policy}"}`;
  return [`${labels('Fail')} ${fail}`, `${labels('Ignore')} ${1 - fail}`];
}

const eviction = 'pod-eviction-test.grafana.com';

test('collectFailurePolicies() takes an absent policy for Fail [admission 101]', async () => {
  const stage = new Stage();
  await stage.open();
  await stage.create(configuration('one', {}));
  assert.deepEqual(await stage.series(), series(eviction, 1));
  stage.ending.abort();
});

test('collectFailurePolicies() follows a change [admission 102]', async () => {
  const stage = new Stage();
  const client = await stage.open();
  await stage.create(configuration('one', { failurePolicy: 'Fail' }));
  const webhooks = [{ name: eviction, failurePolicy: 'Ignore' }];
  const body = { kind: 'strategic', document: { webhooks } } as const;
  await client.patch(validating, { name: 'one' }, { body });
  await stage.clock.advance(1_000);
  assert.deepEqual(await stage.series(), series(eviction, 0));
  stage.ending.abort();
});

test('collectFailurePolicies() leaves configurations of other namespaces out [admission 103]', async () => {
  const stage = new Stage();
  await stage.open();
  await stage.create(configuration('one', { failurePolicy: 'Fail' }));
  await stage.create(configuration('two', { failurePolicy: 'Ignore' }, 'elsewhere'));
  assert.deepEqual(await stage.series(), series(eviction, 1));
  stage.ending.abort();
});

test('collectFailurePolicies() shows the weaker policy of equal names', async () => {
  const stage = new Stage();
  await stage.open();
  await stage.create(configuration('one', { failurePolicy: 'Ignore' }));
  await stage.create(configuration('two', { failurePolicy: 'Fail' }));
  assert.deepEqual(await stage.series(), series(eviction, 0));
  stage.ending.abort();
});

test('collectFailurePolicies() forgets a configuration that goes', async () => {
  const stage = new Stage();
  const client = await stage.open();
  await stage.create(configuration('one', {}));
  await client.delete(validating, { name: 'one' }, { preconditions: {} });
  await stage.clock.advance(1_000);
  assert.deepEqual(await stage.series(), []);
  stage.ending.abort();
});
