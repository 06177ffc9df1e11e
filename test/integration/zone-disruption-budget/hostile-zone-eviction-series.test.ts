/** Hostile: forged evictions in no namespace, and what the metrics of requests show after them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zonePodEviction } from '#admission/eviction/zone-pod-eviction.ts';
import { ConcurrencyLimit } from '#admission/review/concurrency-limit.ts';
import { handlersOf } from '#admission/review/review-handler.ts';
import { sharedReads } from '#admission/review/shared-reads.ts';
import { seconds } from '#base/units.ts';
import { readZoneAwareConfig, sharedZoneAwareConfig } from '#config/zone-aware-config.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { decoratedClient } from '#operator/manager/client.ts';
import { reviewDocument } from '#support/admission/admission-requests.ts';
import { FakeTransport } from '#support/api-server/fake-transport.ts';
import { silentLogger as log } from '#support/telemetry/silent-logger.ts';
import { createOperatorMetrics } from '#telemetry/metrics/operator-metrics.ts';
import { createMetricsRegistry } from '#telemetry/metrics.ts';
import { clock } from '../admission/hostile-trust-stage.ts';

test('1,000 forged evictions in no namespace make at most 20 series, and hide no request that is made after them', async () => {
  const outcome = readZoneAwareConfig([], {});
  assert.ok(outcome.kind === 'run');
  const config = sharedZoneAwareConfig(outcome.config, 'ops');
  const registry = createMetricsRegistry();
  const metrics = createOperatorMetrics(registry);
  const status = { kind: 'Status', code: 404, reason: 'NotFound' };
  const transport = new FakeTransport(() => ({ status: 404, body: status }));
  const client = decoratedClient({ config, clock, log, metrics, transport });
  const webhook = zonePodEviction({
    budgets: { pod: () => undefined, judgeEviction: () => Promise.resolve([]) },
    client: sharedReads(client, clock),
    clock,
    log,
    limits: { reads: new ConcurrencyLimit(100), judgements: new ConcurrencyLimit(2_000) },
    count: () => undefined,
  });
  const handler = handlersOf([webhook], { clock, log, requestTimeout: seconds(10) });
  const caller = { query: '', begun: clock.monotonic(), onLeave: () => undefined };
  for (let at = 0; at < 1_000; at += 1) {
    const review = reviewDocument({
      operation: 'CREATE',
      kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
      subResource: 'eviction',
      namespace: '',
      name: `n-${at}`.padEnd(200, 'n'),
      object: {},
      oldObject: null,
    });
    const body = Buffer.from(JSON.stringify(review));
    await handler.get(webhook.path)?.({ contentType: 'application/json', body, caller });
  }
  // What the operator itself asks for from now on.
  const key = { namespace: 'demo', name: 'db-0' };
  await client.delete(resourceTypes.pods, key, { preconditions: {} }).catch(() => undefined);
  const text = await registry.expose();
  const counts = text
    .split('\n')
    .filter((line) => /client_request_duration_seconds_count/.test(line));
  const shown = `${counts.length} series, ${text.length} bytes a scrape; the deletion is ${counts.find((each) => each.includes('DELETE'))}`;
  assert.ok(
    counts.some((each) => /core\/v1\/pods object".*DELETE/.test(each)),
    shown,
  );
  assert.ok(counts.length <= 20, shown);
});
