import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { gateShare } from '#support/extent.ts';
import type { Reference } from './compare-runs.ts';
import type { Fault } from './fault.ts';
import { faultClass } from './fault-name.ts';
import {
  limitedClient,
  mirroredBesideAnother,
  mirroredRollout,
  reference,
  type Scenario,
  slowDeletions,
  twoGroups,
} from './scenario.ts';
import { sweep, tellReference } from './sweep-engine.ts';

/** What the gate tells: one fault in so many of each class; the night tells all. */
const share = { oneIn: 12, classOf: faultClass };

const told = new Map<Scenario, Promise<Reference>>();

async function tell(scenario: Scenario): Promise<Reference> {
  const known = told.get(scenario) ?? tellReference(scenario);
  told.set(scenario, known);
  return known;
}

/** Tells `scenario` with each fault of the class `name`, or with every `step`-th one. */
async function assertSweep(scenario: Scenario, name: Fault['test'], step = 1): Promise<void> {
  const found = await tell(scenario);
  const all = found.faults.filter(({ test }) => test === name);
  const stepped = all.filter((_, index) => index % step === 0);
  const faults = gateShare(stepped, share);
  assert.ok(faults.length > 0);
  const tallies = await sweep(faults, found);
  assert.deepEqual(
    tallies.flatMap(({ failures }) => failures),
    [],
  );
}

suite('sweep of two zones with two pods in a hostile world (D-57)', () => {
  test('a killed operator leaves requests that arrive up to 119 s late', () =>
    assertSweep(reference, 'LATE'));
  test('all probes fail for 2 s after each write, in one zone and in all', () =>
    assertSweep(reference, 'HICCUP'));
  test('each read takes 30 s, and the world changes meanwhile', () =>
    assertSweep(reference, 'SLOW'));
  test('the world changes right after each deletion', () => assertSweep(reference, 'CHANGE'));
  test('the wall clock is set by an hour after each write', () => assertSweep(reference, 'CLOCK'));
});

suite('sweep of three zones with three pods in a hostile world (D-57)', () => {
  for (const scenario of [slowDeletions, limitedClient]) {
    test(`${scenario.name}: without faults it keeps every promise`, async () => {
      const { run } = await tell(scenario);
      assert.deepEqual(run.problems, []);
    });
    test(`${scenario.name}: the world changes right after each deletion`, () =>
      assertSweep(scenario, 'CHANGE'));
  }
  test('slow-deletions: all probes fail for 2 s after each third write', () =>
    assertSweep(slowDeletions, 'HICCUP', 3));
});

suite('sweep of groups that are read and rolled at once (D-57)', () => {
  test('two-groups: all probes of one fail while the other keeps proofs young', () =>
    assertSweep(twoGroups, 'HICCUP', 2));
  test('two-groups: each read takes 30 s, and the world changes meanwhile', () =>
    assertSweep(twoGroups, 'SLOW', 3));
  test('mirrored-beside-another: each read of its count takes 30 s, and a pod is lost meanwhile', async () => {
    const found = await tell(mirroredBesideAnother);
    const faults = found.faults.filter(
      (fault) =>
        fault.kind === 'slow-read' &&
        fault.change === 'lose a pod' &&
        fault.at.subresource === 'scale',
    );
    assert.ok(faults.length > 0);
    const tallies = await sweep(faults, found);
    assert.deepEqual(
      tallies.flatMap(({ failures }) => failures),
      [],
    );
  });
  test('mirrored-rollout: each read takes 30 s, and the world changes meanwhile', () =>
    assertSweep(mirroredRollout, 'SLOW', 3));
});
