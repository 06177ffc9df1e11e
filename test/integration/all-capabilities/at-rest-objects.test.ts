/** What is said, and what comes back, when others delete what a kind at rest keeps besides its set. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { createReplicaTemplate } from '#support/objects/scaling.ts';
import { mirroredTemplate, mirroredZone } from '#support/world/mirrored-zone.ts';
import { NAMESPACE } from '#support/world/world-group.ts';
import { partitioned, underBudget } from '../disruption-budget/budgeted-stage.ts';
import { blockedBy } from '../stages/rollout-stage.ts';
import { replicasOf } from '../stages/scaling-stage.ts';

test('[found S-5] a set that mirrors a ReplicaTemplate says within a minute that it was deleted, and goes on once it is there again', async () => {
  const world = await mirroredZone();
  const [operator] = world.operators;
  assert.ok(operator !== undefined);
  await world.clock.advance(minutes(8));
  const type = resourceTypes.replicaTemplates;
  await world.run(world.admin.delete(type, mirroredTemplate, { preconditions: {} }));
  await world.clock.advance(minutes(1));
  const gone = await blockedBy(world, operator);
  await world.run(createReplicaTemplate(world.admin, mirroredTemplate, 4));
  await world.clock.advance(minutes(1));
  const again = [await blockedBy(world, operator), replicasOf(world)];
  await world.close();
  assert.deepEqual([gone, ...again], ['ReferenceUnreadable', undefined, [4]]);
});

test('[found S-5] the ledger of a budget at rest that was deleted is missed aloud, and there again within five minutes', async () => {
  const { world } = await underBudget({ maxUnavailable: 1, ...partitioned });
  await world.clock.advance(minutes(8));
  const name = 'rollout-operator-ledger-ingester';
  const ledgers = (): readonly string[] =>
    world.names('configmaps').filter((each) => each === name);
  assert.deepEqual(ledgers(), [name]);
  const key = { namespace: NAMESPACE, name };
  await world.run(world.admin.delete(resourceTypes.configMaps, key, { preconditions: {} }));
  const before = world.record.log.length;
  await world.clock.advance(minutes(5));
  const left = ledgers();
  const said = world.record.log.slice(before).filter(({ level }) => level === 'warn');
  await world.close();
  assert.deepEqual(
    said.map(({ fields }) => fields['reason']),
    ['BudgetLedgerUnknown'],
  );
  assert.deepEqual(left, [name]);
});
