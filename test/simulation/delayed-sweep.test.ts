import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { gateShare } from '#support/extent.ts';
import type { Reference } from './compare-runs.ts';
import type { Fault } from './fault.ts';
import { faultClass } from './fault-name.ts';
import { scenarios } from './scenarios.ts';
import { sweep, tellReference } from './sweep-engine.ts';

/** Kills at Events and reviews of permission are left to `npm run do sweep`. */
function isRoutine(fault: Fault): boolean {
  if (fault.kind === 'pod-kill') return true;
  const isSaid = fault.kind === 'kill' && fault.at.verb === 'create';
  return fault.kind === 'kill' && !isSaid && fault.at.resource !== 'events';
}

suite('sweep of two zones that shrink once their pods were asked', () => {
  const told = new Map<string, Promise<Reference>>();
  const tell = (name: string): Promise<Reference> => {
    const scenario = scenarios.find((each) => each.name === name);
    assert.ok(scenario);
    const known = told.get(name) ?? tellReference(scenario);
    told.set(name, known);
    return known;
  };

  for (const name of ['mirrors-shrink-delayed', 'delayed-count-returns']) {
    test(`${name}: without faults it keeps every promise`, async () => {
      const { run } = await tell(name);
      assert.deepEqual(run.problems, []);
    });

    test(`${name}: [cluster 55] the operator dies before and after each write and each call of a pod`, async () => {
      const found = await tell(name);
      const faults = gateShare(found.faults.filter(isRoutine), { oneIn: 6, classOf: faultClass });
      assert.ok(faults.some(({ kind }) => kind === 'pod-kill'));
      const tallies = await sweep(faults, found);
      assert.deepEqual(
        tallies.flatMap(({ failures }) => failures),
        [],
      );
    });
  }
});
