import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis } from '#base/units.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { createPodHttpMetrics } from './pod-http-metrics.ts';

async function linesOf(
  use: (metrics: ReturnType<typeof createPodHttpMetrics>) => void,
): Promise<readonly string[]> {
  const registry = createMetricsRegistry();
  use(createPodHttpMetrics(registry));
  const text = await registry.expose();
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

test('createPodHttpMetrics() shows no series until something happens (ME-9)', async () => {
  assert.deepEqual(await linesOf(() => undefined), []);
});

test('createPodHttpMetrics() counts a round trip under its path, method and status, in seconds (ME-7)', async () => {
  const lines = await linesOf(({ observe }) =>
    observe({ path: '/prepare', method: 'POST', status: 'error', duration: millis(1_500) }),
  );
  const labels = 'path="/prepare",method="POST",status_code="error"';
  const name = 'rollout_operator_pod_http_client_request_duration_seconds';
  assert.ok(lines.includes(`${name}_sum{${labels}} 1.5`), lines.join('\n'));
  assert.ok(lines.includes(`${name}_count{${labels}} 1`));
  assert.equal(lines.filter((line) => line.startsWith(`${name}_bucket`)).length, 15);
});

test('createPodHttpMetrics() counts a rejection under the route that it names (ME-8)', async () => {
  const lines = await linesOf(({ onRejected }) =>
    onRejected({ requestCluster: 'test', route: 'prepare', message: 'wrong' }),
  );
  assert.deepEqual(lines, [
    'rollout_operator_client_invalid_cluster_validation_label_requests_total' +
      '{method="prepare",protocol="http",request_cluster="test"} 1',
  ]);
});
