import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import { test } from 'node:test';
import { instant, millis } from '#base/units.ts';
import { createHttpServerMetrics } from '../http/http-server-metrics.ts';
import type { MetricsRegistry } from '../metrics.ts';
import { bucketsB1, bucketsB2, bucketsB3, createMetricsRegistry } from '../metrics.ts';
import type { OperatorMetrics } from './operator-metrics.ts';
import { createOperatorMetrics } from './operator-metrics.ts';

function setup(): { registry: MetricsRegistry; metrics: OperatorMetrics } {
  const registry = createMetricsRegistry();
  return { registry, metrics: createOperatorMetrics(registry) };
}

/** The samples without comments and buckets. */
async function samples(registry: MetricsRegistry): Promise<readonly string[]> {
  const lines = (await registry.expose()).trimEnd().split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#') && !line.includes('_bucket{'));
}

const succeeded = { duration: millis(250), isFailed: false, endedAt: instant(1_767_323_045_120) };

test('[scenario 74] createOperatorMetrics() shows 0 failures from the first reconcile (ME-2)', async () => {
  const { registry, metrics } = setup();
  metrics.beginGroupReconcile('ingester');
  assert.deepEqual(await samples(registry), [
    'rollout_operator_group_reconciles_total{rollout_group="ingester"} 1',
    'rollout_operator_group_reconciles_failed_total{rollout_group="ingester"} 0',
    'rollout_operator_last_successful_group_reconcile_timestamp_seconds{rollout_group="ingester"} 0',
  ]);
});

test('createOperatorMetrics() exposes nothing until something happens (ME-9)', async () => {
  const { registry } = setup();
  createHttpServerMetrics(registry);
  assert.equal(await registry.expose(), '');
});

test('createOperatorMetrics() counts a success with its duration and time (ME-1…ME-4)', async () => {
  const { registry, metrics } = setup();
  metrics.beginGroupReconcile('');
  metrics.endGroupReconcile('', succeeded);
  assert.deepEqual(await samples(registry), [
    'rollout_operator_group_reconciles_total{rollout_group=""} 1',
    'rollout_operator_group_reconciles_failed_total{rollout_group=""} 0',
    'rollout_operator_group_reconcile_duration_seconds_sum{rollout_group=""} 0.25',
    'rollout_operator_group_reconcile_duration_seconds_count{rollout_group=""} 1',
    'rollout_operator_last_successful_group_reconcile_timestamp_seconds{rollout_group=""} 1767323045.12',
  ]);
});

test('createOperatorMetrics() keeps the time of the last success after a failure (ME-4)', async () => {
  const { registry, metrics } = setup();
  metrics.beginGroupReconcile('g');
  metrics.endGroupReconcile('g', succeeded);
  metrics.beginGroupReconcile('g');
  metrics.endGroupReconcile('g', {
    ...succeeded,
    isFailed: true,
    endedAt: instant(1_800_000_000_000),
  });
  assert.deepEqual(await samples(registry), [
    'rollout_operator_group_reconciles_total{rollout_group="g"} 2',
    'rollout_operator_group_reconciles_failed_total{rollout_group="g"} 1',
    'rollout_operator_group_reconcile_duration_seconds_sum{rollout_group="g"} 0.5',
    'rollout_operator_group_reconcile_duration_seconds_count{rollout_group="g"} 2',
    'rollout_operator_last_successful_group_reconcile_timestamp_seconds{rollout_group="g"} 1767323045.12',
  ]);
});

test('createOperatorMetrics() removes every series of a forgotten group and no other (ME-10)', async () => {
  const { registry, metrics } = setup();
  for (const group of ['ingester', 'store-gateway']) {
    metrics.beginGroupReconcile(group);
    metrics.endGroupReconcile(group, succeeded);
    metrics.setGroupBlocked(group, 'Paused');
    metrics.setPods(group, new Map([[`${group}-a`, { outdated: 1, updated: 2, unavailable: 0 }]]));
    metrics.setWarnings(group, [{ statefulSet: `${group}-a`, reason: 'MisplacedKey' }]);
  }
  metrics.forgetGroup('store-gateway');
  const text = await registry.expose();
  assert.doesNotMatch(text, /store-gateway/);
  assert.equal(text.match(/^[a-z].*ingester/gm)?.length, 22);
});

test('createOperatorMetrics() shows one blocking reason a group, and none once it proceeds', async () => {
  const { registry, metrics } = setup();
  metrics.setGroupBlocked('g', 'Paused');
  metrics.setGroupBlocked('g', 'TwoZonesUnready');
  assert.deepEqual(await samples(registry), [
    'rollout_operator_group_blocked{rollout_group="g",reason="TwoZonesUnready"} 1',
  ]);
  metrics.setGroupBlocked('g', undefined);
  assert.deepEqual(await samples(registry), []);
});

test('createOperatorMetrics() shows the pods of the StatefulSets that are named, and no others', async () => {
  const { registry, metrics } = setup();
  const counts = { outdated: 3, updated: 2, unavailable: 1 };
  metrics.setPods('g', new Map([['gone', counts]]));
  metrics.setPods('g', new Map([['s', counts]]));
  const prefix = 'rollout_operator_statefulset_pods{rollout_group="g",statefulset="s"';
  assert.deepEqual(await samples(registry), [
    `${prefix},state="outdated"} 3`,
    `${prefix},state="updated"} 2`,
    `${prefix},state="unavailable"} 1`,
  ]);
  metrics.setPods('g', new Map());
  assert.deepEqual(await samples(registry), []);
});

test('createOperatorMetrics() shows the warnings of a group that last, and no others', async () => {
  const { registry, metrics } = setup();
  metrics.setWarnings('g', [
    { statefulSet: 'a', reason: 'MisplacedKey' },
    { statefulSet: 'a', reason: 'MisplacedKey' },
    { statefulSet: 'b', reason: 'InvalidMaxUnavailable' },
  ]);
  metrics.setWarnings('other', [{ statefulSet: 'a', reason: 'MisplacedKey' }]);
  metrics.setWarnings('g', [{ statefulSet: 'a', reason: 'MisplacedKey' }]);
  const name = 'rollout_operator_statefulset_warnings';
  assert.deepEqual(await samples(registry), [
    `${name}{rollout_group="g",statefulset="a",reason="MisplacedKey"} 1`,
    `${name}{rollout_group="other",statefulset="a",reason="MisplacedKey"} 1`,
  ]);
  metrics.setWarnings('g', []);
  metrics.forgetGroup('other');
  assert.deepEqual(await samples(registry), []);
});

test('createOperatorMetrics() labels requests by the shape of their path (ME-5)', async () => {
  const { registry, metrics } = setup();
  const path = '/api/v1/namespaces/n/pods/p-0';
  metrics.observeRequest({ path, method: 'DELETE', status: 200, duration: millis(30) });
  const name = 'rollout_operator_kubernetes_api_client_request_duration_seconds';
  const labels = '{path="core/v1/pods object",method="DELETE",status_code="200"}';
  assert.deepEqual(await samples(registry), [
    `${name}_sum${labels} 0.03`,
    `${name}_count${labels} 1`,
  ]);
});

test('[scenario 77] createOperatorMetrics() shows a request without an answer as error (ME-5)', async () => {
  const { registry, metrics } = setup();
  metrics.observeRequest({ path: '/version', method: 'GET', status: 'error', duration: millis(1) });
  assert.match(
    await registry.expose(),
    /_count\{path="\/version",method="GET",status_code="error"\} 1/,
  );
});

test('createOperatorMetrics() counts limited requests by API group (ME-6)', async () => {
  const { registry, metrics } = setup();
  metrics.countRateLimited('/apis/apps/v1/namespaces/n/statefulsets');
  assert.deepEqual(await samples(registry), [
    'rollout_operator_kubernetes_api_client_rate_limited_requests_total{api_group="apps"} 1',
  ]);
});

test('createOperatorMetrics() shows one state a capability', async () => {
  const { registry, metrics } = setup();
  metrics.setCapability({ capability: 'lease', isEnabled: true, reason: 'Granted' });
  metrics.setCapability({ capability: 'lease', isEnabled: false, reason: 'Forbidden' });
  assert.deepEqual(await samples(registry), [
    'rollout_operator_capability_enabled{capability="lease",reason="Forbidden"} 0',
  ]);
});

test('createOperatorMetrics() shows a refused permission until it is granted', async () => {
  const { registry, metrics } = setup();
  metrics.setPermissionRefused('create', 'events', true);
  assert.deepEqual(await samples(registry), [
    'rollout_operator_refused_permissions{verb="create",resource="events"} 1',
  ]);
  metrics.setPermissionRefused('create', 'events', false);
  assert.deepEqual(await samples(registry), []);
});

test('createOperatorMetrics() shows a view that is not kept up to date while it is not', async () => {
  const { registry, metrics } = setup();
  metrics.setViewNotFresh('pods', true);
  assert.deepEqual(await samples(registry), ['rollout_operator_view_not_fresh{resource="pods"} 1']);
  metrics.setViewNotFresh('pods', false);
  assert.deepEqual(await samples(registry), []);
});

test('createMetricsRegistry() keeps registries apart', async () => {
  const first = setup();
  const second = setup();
  first.metrics.beginGroupReconcile('g');
  assert.deepEqual(await samples(second.registry), []);
});

test('createMetricsRegistry() keeps the samples of a label value with line breaks', async () => {
  const { registry, metrics } = setup();
  metrics.setGroupBlocked('a\n\nb', 'Paused');
  assert.deepEqual(await samples(registry), [
    'rollout_operator_group_blocked{rollout_group="a\\n\\nb",reason="Paused"} 1',
  ]);
});

test('bucketsB1 are the bounds of the specification', () => {
  assert.deepEqual(bucketsB1, [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]);
});

test('bucketsB2 are those of bucketsB1 and three more', () => {
  assert.deepEqual(bucketsB2.slice(10), [10, 25, 50, 100]);
});

test('bucketsB3 are 15 powers of 4', () => {
  assert.deepEqual(
    [bucketsB3[0], bucketsB3[1], bucketsB3[14], bucketsB3.length],
    [4, 16, 1_073_741_824, 15],
  );
});

const long = 'x'.repeat(30_000);

const floods: Record<string, (metrics: OperatorMetrics, sent: number) => void> = {
  'of paths of pods': (metrics, sent) =>
    metrics.observePodRequest({
      path: `/forged-${sent}`,
      method: 'POST',
      status: 200,
      duration: millis(1),
    }),
  'of statuses of pods': (metrics, sent) =>
    metrics.observePodRequest({
      path: '/prepare',
      method: 'POST',
      status: 100 + (sent % 900),
      duration: millis(1),
    }),
  'of long paths of pods': (metrics, sent) =>
    metrics.observePodRequest({
      path: `/${sent}${long}`,
      method: 'POST',
      status: 200,
      duration: millis(1),
    }),
  'of paths of the API': (metrics, sent) =>
    metrics.observeRequest({
      path: `/apis/forged-${sent}`,
      method: 'GET',
      status: 404,
      duration: millis(1),
    }),
  'of limited groups of the API': (metrics, sent) =>
    metrics.countRateLimited(`/apis/forged-${sent}/v1`),
  'of routes that pods refuse by': (metrics, sent) =>
    metrics.countClusterRejection(`forged-${sent}`, 'test'),
  'of long routes that pods refuse by': (metrics, sent) =>
    metrics.countClusterRejection(`${sent}${long}`, 'test'),
};

for (const [what, flood] of Object.entries(floods)) {
  test(`createOperatorMetrics() makes no series for a flood ${what}`, async () => {
    const { registry, metrics } = setup();
    for (let sent = 0; sent < 1_000; sent += 1) flood(metrics, sent);
    const lines = (await samples(registry)).filter((line) => !line.includes('_sum{'));
    assert.ok(lines.length <= 501, `${lines.length} series`);
    assert.match(lines.at(-1) ?? '', /="other"/);
    assert.equal(
      lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0),
      1_000,
    );
    assert.ok(lines.every((line) => line.length < 1_000));
  });
}

test('createHttpServerMetrics() makes no series for a flood of different labels', async () => {
  const registry = createMetricsRegistry();
  const metrics = createHttpServerMetrics(registry);
  for (let sent = 0; sent < 1_000; sent += 1) {
    metrics.countMisdirected({ route: 'other', expected: 'x', received: `forged-${sent}` });
  }
  const lines = await samples(registry);
  assert.equal(lines.length, 101);
  assert.match(lines.at(-1) ?? '', /request_cluster_validation_label="other"\} 900$/);
});

test('createHttpServerMetrics() keeps no label of 30 KB', async () => {
  const registry = createMetricsRegistry();
  const metrics = createHttpServerMetrics(registry);
  metrics.countMisdirected({ route: 'other', expected: 'x', received: long });
  assert.match(
    (await samples(registry)).at(-1) ?? '',
    /request_cluster_validation_label="other"\} 1$/,
  );
});

test('createHttpServerMetrics() makes 8 series of all methods that Node parses', async () => {
  const registry = createMetricsRegistry();
  const metrics = createHttpServerMetrics(registry);
  for (const method of METHODS) {
    metrics.changeInflight(method, 'other', 1);
    metrics.observeServed({
      method,
      route: 'other',
      status: 404,
      isWebSocket: false,
      duration: millis(1),
      requestBytes: 0,
      responseBytes: 0,
    });
    metrics.changeInflight(method, 'other', -1);
  }
  const lines = await samples(registry);
  assert.equal(lines.filter((line) => line.includes('duration_seconds_count{')).length, 8);
  assert.equal(lines.filter((line) => line.includes('bytes_count{')).length, 16);
  const inflight = lines.filter((line) => line.includes('inflight_requests{'));
  assert.deepEqual([inflight.length, inflight.every((line) => line.endsWith(' 0'))], [8, true]);
});
