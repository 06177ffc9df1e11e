/** Zone-aware controllers along with groups in one process: side by side, under budgets of both kinds, and sets that two name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import type { World } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { OPERATOR_USER } from '#support/world/world-operator.ts';
import { series } from '../stages/rollout-stage.ts';
import {
  changeDb,
  createDb,
  createRollout,
  installRollouts,
  messagesOf,
  newPodsOf,
  partitionOf,
  until,
  untilDb,
} from './all-stage.ts';
import {
  changeWeb,
  createUpdate,
  createWeb,
  createZoneBudget,
  deleteUpdate,
  installZones,
  MostAway,
  openZoned,
  untilWeb,
  updateCondition,
} from './all-zones-stage.ts';

const set = 'ingester-zone-b';
const capability = 'rollout_operator_capability_enabled';

test('a group and a ZoneAwareUpdate roll side by side in one process, and neither waits for the other', async () => {
  const world = await openZoned();
  await installZones(world);
  await createWeb(world);
  await world.readyOperator();
  await createUpdate(world, 'web');
  await until(world, 'all is up to date', () => updateCondition(world).startsWith('Updated'));
  const away = new MostAway(world);
  await changeWeb(world, 'web:2');
  await world.setImage(images.new);
  await untilWeb(world, 'web:2');
  await world.untilRolled(images.new);
  const sets = new Set(away.most.map((pod) => pod.replace(/-\d+$/, '')));
  assert.ok(sets.has('web') && sets.size === 2, away.most.join(' '));
  await until(world, 'it says so', () => updateCondition(world).startsWith('Updated'));
  await world.close();
});

test('a ZoneDisruptionBudget over the pods of a group and of an update binds both: one pod is away at a time [BUDG-1]', async () => {
  const world = await openZoned();
  await installZones(world);
  await createWeb(world);
  await world.readyOperator();
  await createZoneBudget(world, { maxUnavailable: 1 });
  await createUpdate(world, 'web');
  await until(world, 'all is up to date', () => updateCondition(world).startsWith('Updated'));
  await world.clock.advance(minutes(3));
  const away = new MostAway(world);
  await changeWeb(world, 'web:2');
  await world.setImage(images.new);
  await untilWeb(world, 'web:2');
  await world.untilRolled(images.new);
  assert.equal(away.most.length, 1, away.most.join(' '));
  await world.close();
});

test('a set of a group that a ZoneAwareUpdate names is moved by neither, and both say which', async () => {
  const world = await openZoned();
  await installZones(world);
  await createUpdate(world, set);
  await world.readyOperator();
  await until(world, 'it says so', () => updateCondition(world).startsWith('ConflictingOwners'));
  await world.setImage(images.new);
  await world.clock.advance(minutes(10));
  assert.deepEqual(
    world.zones.map((zone) => newPodsOf(world, zone)),
    [2, 0, 2],
  );
  assert.equal(
    updateCondition(world),
    `ConflictingOwners: ${set} is left alone, as rollout group ingester would move it, too`,
  );
  assert.deepEqual(messagesOf(world, set, 'ConflictingOwners'), [
    `${set} is left alone, as ZoneAwareUpdate zau would move it, too`,
  ]);
  await deleteUpdate(world);
  await world.untilRolled(images.new);
  await world.close();
});

test('updates and budgets by zone run once their definitions are there, without a restart; until then that is said once, and groups roll', async () => {
  const world = await openZoned();
  await createWeb(world);
  const operator = await world.readyOperator();
  await world.setImage(images.new);
  await world.untilRolled(images.new);
  await world.clock.advance(minutes(3));
  const missing = (name: string): number =>
    world.record.log.filter((each) =>
      JSON.stringify(each).includes(`CustomResourceDefinition ${name}`),
    ).length;
  assert.equal(missing('zoneawareupdates.zonecontrol.k8s.aws'), 1);
  assert.equal(missing('zonedisruptionbudgets.zonecontrol.k8s.aws'), 1);
  await installZones(world);
  await createUpdate(world, 'web');
  await until(world, 'it is seen', () => updateCondition(world).startsWith('Updated'));
  await changeWeb(world, 'web:2');
  await untilWeb(world, 'web:2');
  const shown = await series(world, operator, capability);
  assert.ok(
    shown.some((line) => line.includes('zone-aware-updates') && line.endsWith('1')),
    shown.join('\n'),
  );
  await world.close();
});

/** Takes nodes from the operators' Role, which permits all else. */
function forbidNodes({ cluster: { authorizer } }: World): void {
  const apiGroups = [
    'admissionregistration.k8s.io',
    'apiextensions.k8s.io',
    'apps',
    'coordination.k8s.io',
    'events.k8s.io',
    'rollout-operator.grafana.com',
    'sts.plus',
    'zonecontrol.k8s.aws',
  ];
  const core = ['pods', 'configmaps', 'events', 'secrets'];
  const rules = [
    { apiGroups, resources: ['*'], verbs: ['*'] },
    { apiGroups: [''], resources: core, verbs: ['*'] },
  ];
  authorizer.restrict([{ user: OPERATOR_USER, rules }]);
}

test('where the Role does not permit listing nodes, groups roll, updates wait, and that is said once', async () => {
  const world = await openZoned();
  await installZones(world);
  await createWeb(world);
  forbidNodes(world);
  await world.readyOperator();
  await createUpdate(world, 'web');
  await world.setImage(images.new);
  await changeWeb(world, 'web:2');
  await world.untilRolled(images.new);
  await world.clock.advance(minutes(5));
  const told = world.record.log.filter((each) =>
    JSON.stringify(each).includes('the Role does not permit listing nodes'),
  );
  assert.equal(told.length, 2, 'once for updates, once for budgets');
  world.cluster.authorizer.restrict([]);
  await untilWeb(world, 'web:2');
  await world.clock.advance(seconds(1));
  await world.close();
});

test('an operator that may not list nodes ends in good order all the same', async () => {
  const world = await openZoned();
  await installZones(world);
  forbidNodes(world);
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(3));
  await world.run(operator.stop());
  assert.equal(operator.ended?.error, undefined);
  await world.close();
});

/** How many pods a leader deletes that is halted once it has deleted `count`. */
async function deletionsOfHalted(count: number): Promise<number> {
  // Slow requests: the pods of a step leave one after the other.
  const flags = ['-kubernetes.client-qps=0.2', '-kubernetes.client-burst=1'];
  const world = await openZoned({ operators: 2, flags });
  await installZones(world);
  await createWeb(world);
  const first = await world.readyOperator();
  world.startOperator();
  await createUpdate(world, 'web');
  await until(world, 'all is up to date', () => updateCondition(world).startsWith('Updated'));
  await world.clock.advance(minutes(3));
  await changeWeb(world, 'web:2');
  const deleted = (client: string): number =>
    world.cluster.eventLog.calls.filter(
      (call) => call.client === client && call.verb === 'delete' && call.resource === 'pods',
    ).length;
  await until(world, `${count} pods have gone`, () => deleted(first.client) === count);
  first.pause(seconds(100));
  await untilWeb(world, 'web:2');
  await world.close();
  return deleted(first.client);
}

test('a leader that is halted in the middle of a step, after any of its deletions, deletes nothing more once another one may lead [SPLIT-1]', async () => {
  const counts = [1, 2, 3, 4, 5, 6, 7, 8];
  for (const count of counts) assert.equal(await deletionsOfHalted(count), count);
});

test('nothing is taken away while budgets by zone are there that could not be listed yet [BUDG-1]', async () => {
  const world = await openZoned();
  await installZones(world);
  await createZoneBudget(world, { maxUnavailable: 1 });
  const disarm = world.cluster.faults.add({
    match: { user: OPERATOR_USER, resource: 'zonedisruptionbudgets' },
    action: { kind: 'error', code: 500 },
  });
  await world.readyOperator();
  const away = new MostAway(world);
  await world.setImage(images.new);
  await world.clock.advance(minutes(5));
  assert.deepEqual(away.most, []);
  disarm();
  await world.untilRolled(images.new);
  assert.equal(away.most.length, 1, away.most.join(' '));
  await world.close();
});

test('an update that only plans keeps no group from its set', async () => {
  const world = await openZoned();
  await installZones(world);
  await createUpdate(world, set, { dryRun: true });
  await world.readyOperator();
  await world.setImage(images.new);
  await world.untilRolled(images.new);
  assert.deepEqual(messagesOf(world, set, 'ConflictingOwners'), []);
  await world.close();
});

test('an update keeps no PhasedRollout from a set that the StatefulSet controller rolls', async () => {
  const world = await openZoned();
  await installZones(world);
  await installRollouts(world);
  await createDb(world);
  await createUpdate(world, 'db');
  await world.readyOperator();
  await createRollout(world, 'db');
  await until(world, 'it is taken over', () => partitionOf(world) === 3);
  await changeDb(world, 'db:2');
  await untilDb(world, 'db:2');
  assert.match(updateCondition(world), /^WrongUpdateStrategy/);
  await world.close();
});
