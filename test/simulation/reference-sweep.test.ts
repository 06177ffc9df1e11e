import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { gateShare } from '#support/extent.ts';
import type { Reference } from './compare-runs.ts';
import { faultClass, faultName } from './fault-name.ts';
import { isRoutine } from './faults-at.ts';
import { reference } from './scenario.ts';
import { sweep, tellReference } from './sweep-engine.ts';

/** What the gate tells: one fault in so many of each class; the night tells all. */
const share = { oneIn: 12, classOf: faultClass };

suite('sweep of a rollout of two zones with two pods', () => {
  const state: { told: Promise<Reference> | undefined } = { told: undefined };
  const told = async (): Promise<Reference> => {
    state.told ??= tellReference(reference);
    return state.told;
  };

  test('without faults it keeps every promise and takes each pod away once', async () => {
    const { run, faults } = await told();
    assert.deepEqual(run.problems, []);
    assert.deepEqual(
      [...run.removals],
      [
        ['ingester-zone-a-0', 1],
        ['ingester-zone-a-1', 1],
        ['ingester-zone-b-0', 1],
        ['ingester-zone-b-1', 1],
      ],
    );
    assert.ok(faults.length > 400, `only ${faults.length} faults were found`);
    assert.equal(new Set(faults.map(faultName)).size, faults.length, 'names of faults are unique');
  });

  test('[cluster 53] every request fails once in each way', async () => assertSweep('cluster 53'));
  test('[cluster 54] every event breaks its watch, in two of four ways by turns', async () =>
    assertSweep('cluster 54'));
  test('[cluster 55] the operator dies before and after each write', async () =>
    assertSweep('cluster 55'));
  test('[cluster 56] a successor sees the past of each write', async () =>
    assertSweep('cluster 56'));
  test('[cluster 57] every event is dropped once', async () => assertSweep('cluster 57'));

  async function assertSweep(name: string): Promise<void> {
    const found = await told();
    const routine = found.faults.filter((fault) => fault.test === name && isRoutine(fault));
    const faults = gateShare(routine, share);
    assert.ok(faults.length > 0);
    const tallies = await sweep(faults, found);
    assert.deepEqual(
      tallies.flatMap(({ failures }) => failures),
      [],
    );
  }
});
