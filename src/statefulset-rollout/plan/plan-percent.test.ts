import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assert as check, integer, property } from 'fast-check';
import { percentDeployed, targetReplicas } from './plan-percent.ts';

describe('targetReplicas()', () => {
  // The reference values of the specification, and the edges of each rule.
  const cases: readonly (readonly [replicas: number, percent: number, want: number])[] = [
    [4, 25, 1],
    [4, 50, 2],
    [2, 1, 1],
    [2, 50, 1],
    [2, 99, 1],
    [3, 50, 2],
    [1000, 1, 10],
    [1000, 50, 500],
    [50, 99, 49],
    [7, 0, 0],
    [0, 100, 0],
    [0, 50, 0],
    [1, 1, 1],
    [1, 99, 1],
    [1, 0, 0],
    [100, 7, 7],
    [10, 100, 10],
  ];
  for (const [replicas, percent, want] of cases) {
    test(`of ${replicas} pods at ${percent} percent ${want} are new [T-22]`, () => {
      assert.equal(targetReplicas(replicas, percent), want);
    });
  }

  test('grows with the percentage, has a canary at the least one, and leaves an old pod short of all', () => {
    check(
      property(
        integer({ min: 0, max: 20_000 }),
        integer({ min: 0, max: 99 }),
        (replicas, percent) => {
          const target = targetReplicas(replicas, percent);
          assert.ok(target <= targetReplicas(replicas, percent + 1));
          assert.equal(target > 0, percent > 0 && replicas > 0);
          if (replicas >= 2) assert.ok(target < replicas);
          assert.equal(targetReplicas(replicas, 100), replicas);
        },
      ),
    );
  });
});

test('percentDeployed() rounds down, and is never more than was wanted', () => {
  assert.equal(percentDeployed(0, 10, 50), 0);
  assert.equal(percentDeployed(2, 3, 100), 66);
  assert.equal(percentDeployed(9, 10, 50), 50);
  assert.equal(percentDeployed(3, 3, 100), 100);
  assert.equal(percentDeployed(0, 0, 25), 25);
});
