import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SeededRandom } from './seeded-random.ts';

test('SeededRandom repeats itself for one seed and differs for another', () => {
  const draws = (seed: number): readonly number[] => {
    const random = new SeededRandom(seed);
    return [random.uint32(), random.uint32(), random.uint32()];
  };
  assert.deepEqual(draws(7), draws(7));
  assert.notDeepEqual(draws(7), draws(8));
});

test('derive() gives a stream that draws elsewhere do not shift', () => {
  const calm = new SeededRandom(7);
  const busy = new SeededRandom(7);
  busy.uint32();
  busy.derive('jitter').uint32();
  assert.equal(calm.derive('uids').uuid(), busy.derive('uids').uuid());
});

test('uuid() has the version and the variant of a random UUID', () => {
  const random = new SeededRandom(1);
  for (let i = 0; i < 100; i += 1) {
    assert.match(
      random.uuid(),
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  }
});

test('below() stays inside its bound and reaches every value', () => {
  const random = new SeededRandom(3);
  const seen = new Set<number>();
  for (let i = 0; i < 200; i += 1) seen.add(random.below(5));
  assert.deepEqual(
    [...seen].sort((a, b) => a - b),
    [0, 1, 2, 3, 4],
  );
});
