import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis } from '#base/units.ts';
import { type FakeAnswer, FakeTransport } from '#support/api-server/fake-transport.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { type Transport, TransportError } from '../transport/transport.ts';
import { withRateLimit } from './rate-limiter.ts';
import { type RoundTrip, withRequestMetrics } from './request-metrics.ts';

function setup(answer: FakeAnswer): {
  readonly transport: Transport;
  readonly clock: ManualClock;
  readonly trips: RoundTrip[];
} {
  const clock = new ManualClock();
  const trips: RoundTrip[] = [];
  const inner = new FakeTransport(() => {
    clock.advance(millis(40));
    return answer;
  });
  const transport = withRequestMetrics(inner, {
    clock,
    pathOf: (path) => `label of ${path}`,
    observe: (trip) => void trips.push(trip),
  });
  return { transport, clock, trips };
}

test('withRequestMetrics() observes path without query, method, status and duration (ME-5)', async () => {
  const { transport, trips } = setup({ status: 404 });
  await transport.request({ method: 'GET', path: '/api/v1/pods?limit=1' });
  assert.deepEqual(trips, [
    { path: 'label of /api/v1/pods', method: 'GET', statusCode: '404', duration: 40 },
  ]);
});

test('withRequestMetrics() observes "error" where there was no response', async () => {
  const { transport, trips } = setup(new TransportError('reset', 'connection'));
  await assert.rejects(transport.request({ method: 'GET', path: '/a' }));
  assert.equal(trips[0]?.statusCode, 'error');
});

test('withRequestMetrics() observes streams', async () => {
  const { transport, trips } = setup({ status: 200 });
  await transport.stream({ method: 'GET', path: '/a' });
  assert.equal(trips[0]?.statusCode, '200');
});

test('withRequestMetrics() observes nothing when beforeSend holds the request back', async () => {
  const { transport, trips } = setup({ status: 200 });
  const beforeSend = (): void => {
    throw new Error('stale');
  };
  await assert.rejects(transport.request({ method: 'GET', path: '/a', beforeSend }), /stale/);
  assert.deepEqual(trips, []);
});

test('withRequestMetrics() excludes the wait for the rate limiter (K8-24)', async () => {
  const { transport, clock, trips } = setup({ status: 200 });
  const limited = withRateLimit(transport, { clock, qps: 1, burst: 1, groupOf: () => 'core' });
  await limited.request({ method: 'GET', path: '/a' });
  const second = limited.request({ method: 'GET', path: '/a' });
  clock.advance(millis(1_000));
  await second;
  assert.deepEqual(
    trips.map((trip) => trip.duration),
    [40, 40],
  );
});
