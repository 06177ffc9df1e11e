/** StatefulsetRollouts in the process that runs everything: along with groups, under one budget with them, and what comes later. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { World } from '#support/world/world.ts';
import { evict, reviewEvictions } from '#support/world/world-evictions.ts';
import { images } from '#support/world/world-group.ts';
import { OPERATOR_USER } from '#support/world/world-operator.ts';
import { allowBudgets, givenAway, makeBudget } from '../stages/budget-stage.ts';
import { series } from '../stages/rollout-stage.ts';
import {
  carrierState,
  changeCarried,
  createCarrier,
  installCarriers,
  untilCarried,
} from './all-rollouts-stage.ts';
import { imageOf, LackWatch, openGroups, until } from './all-stage.ts';
import { openZoned } from './all-zones-stage.ts';

const capability = 'rollout_operator_capability_enabled';
const name = 'statefulset-rollouts';

/** Waits until the rollout of the StatefulsetRollout has ended well. */
async function done(world: World): Promise<void> {
  await until(world, 'it is done', () => carrierState(world) === 'RolloutDone RolloutDone');
}

/** A world in which all pods, of the group and of the carried set, are under one budget of one zone. */
async function underOneBudget(operators = 1): Promise<World> {
  const world = await openZoned({ operators, maxUnavailable: '1' });
  await installCarriers(world);
  await allowBudgets(world);
  await reviewEvictions(world);
  await world.readyOperator();
  await createCarrier(world, 'carried');
  await untilCarried(world, 'carried', 'carried:1');
  await done(world);
  await makeBudget(world);
  await world.clock.advance(seconds(130));
  return world;
}

/** Pods that operators evicted, each answer as it came. */
function evictions(world: World): readonly string[] {
  return world.cluster.eventLog.calls
    .filter(({ user, subresource }) => user === OPERATOR_USER && subresource === 'eviction')
    .map((call) => `${call.name} ${call.outcome}`);
}

test('a group and a StatefulsetRollout roll in one process, and under one budget one set at a time lacks pods, by the ledger that our webhook asks [BUDG-1, EXCL-1]', async () => {
  const world = await underOneBudget();
  const lacks = new LackWatch(world);
  await changeCarried(world, 'carried', 'carried:2');
  await world.setImage(images.new);
  await untilCarried(world, 'carried', 'carried:2');
  await world.untilRolled(images.new);
  await done(world);
  assert.deepEqual([...lacks.together], []);
  assert.ok(evictions(world).some((each) => each === 'carried-0 201'));
  await until(world, 'all is given back', () => givenAway(world)?.length === 0);
  await world.close();
});

test('a StatefulsetRollout waits while the budget has given a pod of the group away, and says so', async () => {
  const world = await underOneBudget();
  world.kubelet.behaviours.add({ match: { name: 'ingester-zone-a-0' }, behave: 'neverReady' });
  assert.match(await evict(world, 'ingester-zone-a-0'), /^201/);
  await changeCarried(world, 'carried', 'carried:2');
  await world.clock.advance(minutes(5));
  assert.equal(imageOf(world, 'carried-0'), 'carried:1');
  assert.equal(carrierState(world), 'WaitingForReady PDBBlocked');
  assert.ok(evictions(world).length > 0);
  assert.ok(evictions(world).every((each) => each.endsWith(' 429')));
  await world.close();
});

test('a process that is killed in the midst leaves no two sets without pods, and its successor ends both rollouts [BUDG-1, EXCL-1, LIVE-3]', async () => {
  for (const at of [1, 3, 5, 8]) {
    const world = await underOneBudget();
    const lacks = new LackWatch(world);
    let seen = 0;
    world.cluster.eventLog.onCommit(({ user, resource }) => {
      if (user !== OPERATOR_USER || /^(?:events|leases)/.test(resource)) return;
      seen += 1;
      if (seen !== at) return;
      world.operators[0]?.kill({ late: 'seeded' });
      world.startOperator();
    });
    await changeCarried(world, 'carried', 'carried:2');
    await world.setImage(images.new);
    await until(world, 'a successor is there', () => world.operators.length === 2);
    await untilCarried(world, 'carried', 'carried:2');
    await world.untilRolled(images.new);
    await done(world);
    assert.deepEqual([...lacks.together], []);
    await world.close();
  }
});

test('without a budget neither waits for the other', async () => {
  const world = await openZoned({ maxUnavailable: '1' });
  await installCarriers(world);
  await world.readyOperator();
  await createCarrier(world, 'carried');
  await untilCarried(world, 'carried', 'carried:1');
  await done(world);
  const lacks = new LackWatch(world);
  await changeCarried(world, 'carried', 'carried:2');
  await world.setImage(images.new);
  await untilCarried(world, 'carried', 'carried:2');
  await world.untilRolled(images.new);
  assert.ok(
    [...lacks.together].some((sets) => sets.startsWith('carried,')),
    [...lacks.together].join(' '),
  );
  await world.close();
});

test('StatefulsetRollouts are carried out once their definition is there, without a restart; until then that is said once', async () => {
  const world = await openZoned();
  const operator = await world.readyOperator();
  const missing = `{capability="${name}",reason="DefinitionMissing"} 0`;
  assert.ok((await series(world, operator, capability)).includes(missing));
  await world.setImage(images.new);
  await world.untilRolled(images.new);
  await installCarriers(world);
  await createCarrier(world, 'carried');
  await untilCarried(world, 'carried', 'carried:1');
  const shown = await series(world, operator, capability);
  assert.ok(shown.includes(`{capability="${name}",reason="Installed"} 1`), shown.join('\n'));
  assert.deepEqual(said(world), [
    'warn a capability does not run DefinitionMissing',
    'info a capability runs ',
  ]);
  await world.close();
});

for (const denied of ['bedrock.operator.slack.com', 'policy']) {
  test(`where the Role permits nothing of ${denied}, groups roll, that is said once, and StatefulsetRollouts are carried out within two minutes of its being amended`, async () => {
    const world = await openZoned();
    await installCarriers(world);
    const apiGroups = allGroups.filter((group) => group !== denied);
    const rules = [{ apiGroups, resources: ['*'], verbs: ['*'] }];
    world.cluster.authorizer.restrict([{ user: OPERATOR_USER, rules }]);
    const operator = await world.readyOperator();
    await createCarrier(world, 'carried');
    await world.setImage(images.new);
    await world.untilRolled(images.new);
    await world.clock.advance(minutes(10));
    assert.ok(
      (await series(world, operator, capability)).includes(
        `{capability="${name}",reason="NotPermitted"} 0`,
      ),
    );
    assert.deepEqual(said(world), ['warn a capability does not run NotPermitted']);
    assert.equal(carrierState(world), ' ');
    world.cluster.authorizer.restrict([]);
    await world.clock.advance(minutes(2));
    await untilCarried(world, 'carried', 'carried:1');
    await world.close();
  });
}

const allGroups = [
  '',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apps',
  'autoscaling',
  'bedrock.operator.slack.com',
  'coordination.k8s.io',
  'events.k8s.io',
  'policy',
  'rollout-operator.grafana.com',
  'sts.plus',
  'zonecontrol.k8s.aws',
];

test('PodDisruptionBudgets of Kubernetes are watched only where StatefulsetRollouts are carried out', async () => {
  for (const [open, isWatched] of [
    [openZoned, true],
    [openGroups, false],
  ] as const) {
    const world = await open();
    await installCarriers(world);
    await world.readyOperator();
    const asked = world.cluster.eventLog.calls.some(
      ({ user, resource }) =>
        user === OPERATOR_USER &&
        resource.startsWith(`${resourceTypes.podDisruptionBudgets.plural}.`),
    );
    assert.equal(asked, isWatched);
    await world.close();
  }
});

test('one Lease is held for all, and a follower takes StatefulsetRollouts over', async () => {
  const world = await openZoned({ operators: 2 });
  await installCarriers(world);
  const holder = await world.readyOperator();
  await world.readyOperator();
  await createCarrier(world, 'carried');
  await untilCarried(world, 'carried', 'carried:1');
  assert.deepEqual(world.names('leases.coordination.k8s.io'), ['rollout-operator']);
  await holder.stop();
  await changeCarried(world, 'carried', 'carried:2');
  await untilCarried(world, 'carried', 'carried:2');
  assert.equal(textAt(world.stored('pods', 'carried-0'), 'status', 'phase'), 'Running');
  await world.close();
});

/** What was said of the capability, in order, as `level message reason`. */
function said(world: World): readonly string[] {
  return world.record.log
    .filter(({ message }) => message.startsWith('a capability'))
    .filter(({ fields }) => fields['capability'] === name)
    .map(({ level, message, fields }) => [level, message, fields['reason']].join(' '));
}
