/** Every capability in one process: groups and PhasedRollouts in parallel, and what comes later (D-65). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import type { World } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { allowBudgets, givenAway, makeBudget } from '../stages/budget-stage.ts';
import { series } from '../stages/rollout-stage.ts';
import {
  changeDb,
  createDb,
  createRollout,
  forbidRollouts,
  installRollouts,
  LackWatch,
  newPodsOf,
  openBoth,
  partitionOf,
  phaseOf,
  until,
  untilDb,
} from './all-stage.ts';

const capability = 'rollout_operator_capability_enabled';

/** Waits until the PhasedRollout has taken `db` over, and blocks its next update. */
async function settled(world: World): Promise<void> {
  await until(world, 'it is settled', () => phaseOf(world) === 'Updated');
  await until(world, 'it is blocked', () => partitionOf(world) === 3);
}

/** A world in which all pods, of the group and of `db`, are under one budget of one zone. */
async function underOneBudget(): Promise<World> {
  const world = await openBoth();
  await installRollouts(world);
  await createDb(world);
  await allowBudgets(world);
  await world.readyOperator();
  await makeBudget(world);
  await createRollout(world, 'db');
  await settled(world);
  await world.clock.advance(seconds(130));
  return world;
}

test('a group and a PhasedRollout roll side by side in one process, and under one budget one set at a time lacks pods [BUDG-1, EXCL-1]', async () => {
  const world = await underOneBudget();
  const lacks = new LackWatch(world);
  await changeDb(world, 'db:2');
  await world.setImage(images.new);
  await untilDb(world, 'db:2');
  await world.untilRolled(images.new);
  assert.deepEqual([...lacks.together], []);
  await until(world, 'all is given back', () => givenAway(world)?.length === 0);
  await world.close();
});

test('without a budget neither waits for the other', async () => {
  const world = await openBoth();
  await installRollouts(world);
  await createDb(world);
  await world.readyOperator();
  await createRollout(world, 'db');
  await settled(world);
  const lacks = new LackWatch(world);
  await changeDb(world, 'db:2');
  await world.setImage(images.new);
  await world.untilRolled(images.new);
  await untilDb(world, 'db:2');
  assert.ok(
    [...lacks.together].some((sets) => sets.includes('db,')),
    [...lacks.together].join(' '),
  );
  await settled(world);
  await world.close();
});

test('a group waits while a pod that a partition let go has not gone, however long that takes, and whichever replica leads [BUDG-4]', async () => {
  const world = await underOneBudget();
  const user = 'system:serviceaccount:kube-system:statefulset-controller';
  const disarm = world.cluster.faults.add({
    match: { user, verb: 'delete', resource: 'pods' },
    action: { kind: 'error', code: 500 },
  });
  await changeDb(world, 'db:2');
  await until(world, 'one may go', () => partitionOf(world) === 2);
  await world.setImage(images.new);
  await world.clock.advance(minutes(5));
  assert.deepEqual(givenAway(world), ['db-2']);
  await world.operators[0]?.stop();
  await world.readyOperator();
  await world.clock.advance(minutes(5));
  assert.deepEqual(givenAway(world), ['db-2']);
  assert.deepEqual(
    world.zones.map((zone) => newPodsOf(world, zone)),
    [0, 0, 0],
  );
  disarm();
  await untilDb(world, 'db:2');
  await world.untilRolled(images.new);
  await world.close();
});

test('PhasedRollouts are reconciled once their definition is there, without a restart; until then that is said once', async () => {
  const world = await openBoth();
  await createDb(world);
  const operator = await world.readyOperator();
  const missing = '{capability="phased-rollouts",reason="DefinitionMissing"} 0';
  assert.ok((await series(world, operator, capability)).includes(missing));
  await world.setImage(images.new);
  await world.untilRolled(images.new);
  assert.deepEqual(said(world), ['warn a capability does not run DefinitionMissing']);
  await installRollouts(world);
  await createRollout(world, 'db');
  await settled(world);
  assert.ok(
    (await series(world, operator, capability)).includes(
      '{capability="phased-rollouts",reason="Installed"} 1',
    ),
  );
  assert.deepEqual(said(world), [
    'warn a capability does not run DefinitionMissing',
    'info a capability runs ',
  ]);
  await changeDb(world, 'db:2');
  await untilDb(world, 'db:2');
  await world.close();
});

test('where the Role does not permit listing PhasedRollouts, groups roll, that is said once, and they are reconciled within two minutes of its being amended', async () => {
  const world = await openBoth();
  await installRollouts(world);
  await createDb(world);
  await createRollout(world, 'db');
  const permit = forbidRollouts(world);
  const operator = await world.readyOperator();
  await world.setImage(images.new);
  await world.untilRolled(images.new);
  await world.clock.advance(minutes(10));
  const denied = '{capability="phased-rollouts",reason="NotPermitted"} 0';
  assert.ok((await series(world, operator, capability)).includes(denied));
  assert.deepEqual(said(world), ['warn a capability does not run NotPermitted']);
  assert.equal(phaseOf(world), '');
  const lacking = world.record.log.filter(({ message }) => message === 'the Role lacks rules');
  assert.match(
    String(lacking[0]?.fields['rules']),
    /apiGroups: \[sts\.plus\], resources: \[phasedrollouts\], verbs: \[list, patch, watch\]/,
  );
  permit();
  await world.clock.advance(minutes(2));
  assert.equal(phaseOf(world), 'Updated');
  assert.deepEqual(said(world), [
    'warn a capability does not run NotPermitted',
    'info a capability runs ',
  ]);
  await world.close();
});

test('one Lease is held for both, and a follower takes both over', async () => {
  const world = await openBoth({ operators: 2 });
  await installRollouts(world);
  await createDb(world);
  const holder = await world.readyOperator();
  await world.readyOperator();
  await createRollout(world, 'db');
  await settled(world);
  assert.deepEqual(world.names('leases.coordination.k8s.io'), ['rollout-operator']);
  await holder.stop();
  await changeDb(world, 'db:2');
  await world.setImage(images.new);
  await world.untilRolled(images.new);
  await untilDb(world, 'db:2');
  await world.close();
});

/** What was said of the capability, in order, as `level message reason`. */
function said(world: World): readonly string[] {
  return world.record.log
    .filter(({ message }) => message.startsWith('a capability'))
    .map(({ level, message, fields }) => [level, message, fields['reason']].join(' '));
}
