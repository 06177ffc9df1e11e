import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { type FakeAnswer, FakeTransport, settled } from '#support/api-server/fake-transport.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { layeredTransport } from './api-transport.ts';
import type { RoundTrip } from './request-metrics.ts';

test('layeredTransport() names the cluster, limits each attempt and measures without waits (K8-24)', async () => {
  const clock = new ManualClock();
  const answers: FakeAnswer[] = [{ status: 429, headers: { 'retry-after': '0' } }];
  const network = new FakeTransport(() => answers.shift() ?? {});
  const trips: RoundTrip[] = [];
  const transport = layeredTransport(network, {
    cluster: { cluster: 'demo' },
    limit: { clock, qps: 1, burst: 1, groupOf: () => 'core' },
    metrics: { clock, pathOf: (path) => path, observe: (trip) => void trips.push(trip) },
  });
  const call = transport.request({ method: 'GET', path: '/api' });
  await settled();
  clock.advance(seconds(0));
  await settled();
  assert.equal(network.requests.length, 1);
  clock.advance(seconds(1));
  assert.equal((await call).status, 200);
  assert.equal(network.last.headers?.['x-cluster'], 'demo');
  assert.deepEqual(
    trips.map(({ statusCode, duration }) => [statusCode, duration]),
    [
      ['429', 0],
      ['200', 0],
    ],
  );
});
