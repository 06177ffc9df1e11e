import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bucketsB2, bucketsB3, createMetricsRegistry } from './metrics.ts';

/** The values of `le` in the order of the exposition. */
async function boundsOf(buckets: readonly number[]): Promise<readonly string[]> {
  const registry = createMetricsRegistry();
  const histogram = registry.histogram({ name: 'h', help: 'h', labels: [], buckets });
  histogram.observe({}, 1);
  const text = await registry.expose();
  return [...text.matchAll(/^h_bucket\{le="(.*)"\} \d+$/gm)].map(([, bound = '']) => bound);
}

test('expose() writes bounds of buckets as client_golang does, with an exponent from a million on', async () => {
  assert.deepEqual(await boundsOf(bucketsB3), [
    '4',
    '16',
    '64',
    '256',
    '1024',
    '4096',
    '16384',
    '65536',
    '262144',
    '1.048576e+06',
    '4.194304e+06',
    '1.6777216e+07',
    '6.7108864e+07',
    '2.68435456e+08',
    '1.073741824e+09',
    '+Inf',
  ]);
});

test('expose() writes bounds below a million as they are', async () => {
  assert.equal(
    (await boundsOf([...bucketsB2, 999_999, 1_000_000])).join(' '),
    '0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 25 50 100 999999 1e+06 +Inf',
  );
});

test('expose() leaves values of labels alone that look like a bound', async () => {
  const registry = createMetricsRegistry();
  const gauge = registry.gauge({ name: 'g', help: 'g', labels: ['role', 'x'] });
  gauge.set({ role: '1048576', x: ',le="1048576"' }, 1_048_576);
  assert.match(await registry.expose(), /^g\{role="1048576",x=",le=\\"1048576\\""\} 1048576$/m);
});
