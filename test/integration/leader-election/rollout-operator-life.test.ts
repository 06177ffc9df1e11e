import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import type { PolicyRule } from '#cluster/auth/authorizer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { forbidLeases } from '#support/world/lease-role.ts';
import { World } from '#support/world/world.ts';
import { images, NAMESPACE, setName } from '#support/world/world-group.ts';
import { OPERATOR_USER, takeoverFor } from '#support/world/world-operator.ts';
import {
  assertAtRest,
  assertKept,
  blockedBy,
  deletedPods,
  eventReasons,
  series,
  small,
  untilBlockedBy,
  writesOf,
} from '../stages/rollout-stage.ts';

/** The Role of an existing installation: no Events, no Leases. */
const peerRole: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch', 'get', 'delete'] },
  { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['list', 'watch', 'get', 'patch'] },
  { apiGroups: ['apps'], resources: ['statefulsets/status'], verbs: ['update'] },
  {
    apiGroups: ['rollout-operator.grafana.com'],
    resources: ['zoneawarepoddisruptionbudgets'],
    verbs: ['get', 'list', 'watch'],
  },
  { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'update', 'create'] },
];

function restrict(world: World, rules: readonly PolicyRule[]): void {
  world.cluster.authorizer.restrict([{ user: OPERATOR_USER, namespace: NAMESPACE, rules }]);
}

function refusals(world: World): readonly string[] {
  return world.cluster.eventLog.calls
    .filter(({ user, outcome }) => user === OPERATOR_USER && outcome === 403)
    .map(({ verb, resource, subresource }) => `${verb} ${resource}${subresource}`);
}

test('an operator whose predecessor was killed in the middle waits 120 s, says so, and touches nothing meanwhile [WRIT-2]', async () => {
  const world = await World.create({ ...small, replicas: 3 });
  const first = await world.readyOperator();
  await world.setImage(images.new);
  await world.clock.advance(seconds(5));
  first.kill();
  const killedAt = world.clock.now();
  const before = writesOf(world).length;
  const second = await world.readyOperator();
  await untilBlockedBy(world, 'AwaitingPredecessor');
  assert.equal(await blockedBy(world, second), 'AwaitingPredecessor');
  assert.deepEqual(writesOf(world).slice(before), []);
  await world.clock.runUntil(() => writesOf(world).length > before, { maxVirtual: minutes(5) });
  const waited = world.clock.now() - killedAt;
  assert.ok(waited >= 120_000 && waited <= takeoverFor, `${waited} ms`);
  await world.untilRolled(images.new);
  assert.equal(deletedPods(world).length, 6);
  await assertAtRest(world);
  await world.close();
});

test('an operator whose predecessor ended in good order goes on at once, in the middle of a rollout (D-50)', async () => {
  const world = await World.create({ ...small, replicas: 3 });
  const first = await world.readyOperator();
  await world.setImage(images.new);
  await world.clock.advance(seconds(5));
  await world.run(first.stop());
  const stoppedAt = world.clock.now();
  const before = deletedPods(world).length;
  await world.readyOperator();
  await world.clock.runUntil(() => deletedPods(world).length > before, { maxVirtual: minutes(5) });
  assert.ok(world.clock.now() - stoppedAt <= 5_000, `${world.clock.now() - stoppedAt} ms`);
  await world.untilRolled(images.new);
  assert.equal(deletedPods(world).length, 6);
  await assertAtRest(world);
  await world.close();
});

test('an operator that starts on a finished group writes nothing but its Lease', async () => {
  const world = await World.create(small);
  await world.readyOperator();
  await world.clock.advance(minutes(10));
  assert.deepEqual(writesOf(world), []);
  await world.setImage(images.new);
  await world.untilRolled(images.new, minutes(1));
  assert.deepEqual(
    writesOf(world).filter((write) => write.startsWith('patch')),
    [],
  );
  await assertAtRest(world);
  await world.close();
});

test('a deletion without an answer holds its zone until 120 s have passed, and its pod goes then (D-7)', async () => {
  const world = await World.create(small);
  await world.readyOperator();
  const { faults } = world.cluster;
  faults.add({
    match: { client: 'operator-1', verb: 'delete', resource: 'pods' },
    count: 1,
    action: { kind: 'drop', when: 'before' },
  });
  await world.setImage(images.new);
  await untilBlockedBy(world, 'AwaitingAnswer');
  const lostAt = world.clock.now();
  await world.clock.runUntil(() => deletedPods(world).length > 0, { maxVirtual: minutes(5) });
  assert.equal(Math.round((world.clock.now() - lostAt) / 1_000), 120);
  await world.untilRolled(images.new, minutes(2));
  assert.equal(faults.hits.length, 1);
  await assertAtRest(world);
  await world.close();
});

test('D-1 under the Role of an existing installation it rolls, and asks for no refused verb twice', async () => {
  const world = await World.create(small);
  restrict(world, peerRole);
  const operator = await world.readyOperator();
  await world.setImage(images.new);
  await world.untilRolled(images.new);
  await assertAtRest(world);
  // Whether the Role permits a Lease by now is asked every 30 s: it is what spares the wait.
  const refused = refusals(world).filter((call) => !call.endsWith('leases.coordination.k8s.io'));
  assert.equal(new Set(refused).size, refused.length, refused.join(', '));
  const shown = await series(world, operator, 'rollout_operator_refused_permissions');
  assert.deepEqual(shown.toSorted(), [
    '{verb="create",resource="events"} 1',
    '{verb="get",resource="leases"} 1',
    '{verb="list",resource="leases"} 1',
  ]);
  assert.deepEqual(
    world.names('events').filter((name) => name.startsWith('ingester-zone') && isOurs(world, name)),
    [],
  );
  await world.close();
});

test('D-1 a Role that permits reading Leases only is shown as such, until it permits the rest', async () => {
  const world = await World.create(small);
  const permit = forbidLeases(world, 'create', 'list');
  const operator = await world.readyOperator();
  const name = 'rollout_operator_refused_permissions';
  assert.deepEqual((await series(world, operator, name)).toSorted(), [
    '{verb="create",resource="leases"} 1',
    '{verb="list",resource="leases"} 1',
  ]);
  permit();
  await world.clock.advance(minutes(11));
  assert.deepEqual(await series(world, operator, name), []);
  await world.close();
});

test('D-1 what a starting API server denies is asked for again when it has shown that it knows our Role', async () => {
  const world = await World.create(small);
  restrict(world, peerRole);
  world.cluster.faults.add({
    match: { client: 'operator-1', resource: 'pods' },
    count: 1,
    action: { kind: 'delay', delay: seconds(5) },
  });
  const operator = world.startOperator();
  await world.clock.advance(seconds(1));
  restrict(world, [
    ...peerRole,
    { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['*'] },
  ]);
  await world.clock.runUntil(() => operator.readiness.isReady());
  await world.setImage(images.new);
  await world.untilRolled(images.new);
  assert.deepEqual(await series(world, operator, 'rollout_operator_refused_permissions'), []);
  assert.ok(world.names('events').some((name) => isOurs(world, name)));
  await world.close();
});

function isOurs(world: World, event: string): boolean {
  const stored = world.stored('events', event);
  return JSON.stringify(stored).includes('"rollout-operator"');
}

test('under a Role that lacks nothing five permissions are asked for at the start, and no missing rule is reported', async () => {
  const world = await World.create(small);
  const lines: string[] = [];
  world.onLog.add(({ message }) => lines.push(message));
  await world.readyOperator();
  await world.clock.advance(minutes(1));
  const reviews = world.cluster.eventLog.calls.filter(({ resource }) =>
    resource.startsWith('selfsubjectaccessreviews'),
  );
  // For Events and budgets, and for the three kinds of resources that could name the same sets (D-63).
  assert.equal(reviews.length, 5);
  assert.ok(!lines.includes('the Role lacks rules'));
  await world.close();
});

test('without a Lease in the Role every start waits 120 s, and one line of the log has the rules that would spare it, and all others that are missing', async () => {
  const world = await World.create(small);
  restrict(world, peerRole);
  const lines: unknown[] = [];
  world.onLog.add(({ message, fields }) => {
    if (message === 'the Role lacks rules') lines.push(fields['rules']);
  });
  const operator = await world.readyOperator();
  const startedAt = world.clock.now();
  await world.setImage(images.new);
  await untilBlockedBy(world, 'AwaitingPredecessor');
  assert.equal(await blockedBy(world, operator), 'AwaitingPredecessor');
  await world.clock.runUntil(() => deletedPods(world).length > 0, { maxVirtual: minutes(5) });
  assert.equal(world.clock.now() - startedAt, 120_000);
  await world.untilRolled(images.new);
  await assertAtRest(world);
  assert.deepEqual(lines, [
    `[${[
      "{apiGroups: [''], resources: [events], verbs: [create, patch]}",
      '{apiGroups: [rollout-operator.grafana.com], resources: [replicatemplates/scale], verbs: [get]}',
      '{apiGroups: [rollout-operator.grafana.com], resources: [replicatemplates/status], verbs: [patch]}',
      '{apiGroups: [rollout-operator.grafana.com], resources: [replicatemplates], verbs: [list, watch]}',
      "{apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: ['rollout-operator'], verbs: [get, update]}",
      '{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create, list]}',
    ].join(', ')}]`,
  ]);
  await world.close();
});

test('an operator that may have a Lease after all takes it, waits again, and goes on', async () => {
  const world = await World.create(small);
  restrict(world, peerRole);
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(3));
  const leases = {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    verbs: ['get', 'create', 'update'],
  };
  restrict(world, [...peerRole, leases]);
  await world.clock.advance(minutes(1));
  assert.equal(world.names('leases.coordination.k8s.io').length, 1);
  await world.setImage(images.new);
  await untilBlockedBy(world, 'AwaitingPredecessor');
  await world.untilRolled(images.new, minutes(4));
  assert.equal(operator.ended, undefined);
  await assertAtRest(world);
  await world.close();
});

test('[scenario 31] a delete that fails leaves the first one done, and is tried again', async () => {
  const world = await World.create({ ...small, maxUnavailable: '2' });
  const operator = await world.readyOperator();
  world.cluster.faults.add({
    match: { client: 'operator-1', verb: 'delete', resource: 'pods' },
    nth: 2,
    action: { kind: 'error', code: 500 },
  });
  await world.setImage(images.new);
  await world.clock.quiesce();
  assert.deepEqual(deletedPods(world).slice(0, 1), ['ingester-zone-a-0']);
  const failed = await series(world, operator, 'rollout_operator_group_reconciles_failed_total');
  assert.deepEqual(failed, ['{rollout_group="ingester"} 1']);
  // A 500 does not say that nothing was done: the pod may still go.
  assert.ok(eventReasons(world, 'ingester-zone-a').includes('AwaitingAnswer'));
  await world.untilRolled(images.new);
  assert.equal(deletedPods(world).length, 4);
  await assertAtRest(world);
  await world.close();
});

test('[scenario 32] a status write that conflicts is tried again on a fresh read', async () => {
  const world = await World.create(small);
  await world.readyOperator();
  world.cluster.faults.add({
    match: { client: 'operator-1', verb: 'update', resource: 'statefulsets' },
    count: 2,
    action: { kind: 'conflict' },
  });
  await world.setImage(images.new);
  await world.untilRolled(images.new);
  const outcomes = world.cluster.eventLog.calls
    .filter(({ user, subresource }) => user === OPERATOR_USER && subresource === 'status')
    .map(({ name, outcome }) => `${name} ${outcome}`);
  assert.deepEqual(outcomes.slice(0, 2), ['ingester-zone-a 409', 'ingester-zone-a 409']);
  assert.ok(outcomes.includes('ingester-zone-a 200'));
  assert.equal(deletedPods(world).length, 4);
  await assertAtRest(world);
  await world.close();
});

test('[scenario 39] changes of pods and sets alone lead to passes, at once', async () => {
  const world = await World.create({ ...small, flags: ['-reconcile.interval=0'] });
  const operator = await world.readyOperator();
  const plans = (): number => operator.plans.length;
  await world.clock.advance(minutes(10));
  const calm = plans();
  await world.clock.advance(minutes(30));
  assert.equal(plans(), calm, 'no pass without a change');
  await world.deletePod('ingester-zone-a-0');
  assert.ok(plans() > calm, 'a pass at the deletion, without any wait');
  await world.clock.advance(minutes(1));
  assert.ok(plans() - calm < 20, `${plans() - calm} passes for one pod that came back`);
  assertKept(world);
  await world.close();
});

test('[scenario 40] a pass that failed is tried again without any event, ever more rarely', async () => {
  const world = await World.create({ ...small, flags: ['-reconcile.interval=0'] });
  await world.readyOperator();
  const disarm = world.cluster.faults.add({
    match: { client: 'operator-1', verb: 'delete', resource: 'pods' },
    action: { kind: 'error', code: 403 },
  });
  await world.setImage(images.new);
  await world.clock.advance(minutes(10));
  const tries = world.cluster.faults.hits.length;
  assert.ok(tries > 5 && tries < 60, `${tries} tries in 10 min`);
  disarm();
  await world.untilRolled(images.new, minutes(2));
  await assertAtRest(world);
  await world.close();
});

test('[scenario 73] series of a group go with its sets, unless another group fails', async () => {
  const world = await World.create(small);
  await world.addGroup('store-gateway');
  const operator = await world.readyOperator();
  const groups = async (): Promise<readonly string[]> => {
    const lines = await series(world, operator, 'rollout_operator_group_reconciles_total');
    return lines.map((line) => /rollout_group="([^"]*)"/.exec(line)?.[1] ?? '').sort();
  };
  await world.clock.advance(seconds(10));
  assert.deepEqual(await groups(), ['ingester', 'store-gateway']);
  const wrong = { spec: { updateStrategy: { $patch: 'replace', type: 'RollingUpdate' } } };
  await world.patchSet('b', wrong);
  for (const zone of world.zones) await deleteSet(world, setName(zone, 'store-gateway'));
  await world.clock.advance(minutes(1));
  assert.deepEqual(await groups(), ['ingester', 'store-gateway']);
  await world.patchSet('b', { spec: { updateStrategy: { $patch: 'replace', type: 'OnDelete' } } });
  await world.clock.advance(minutes(1));
  assert.deepEqual(await groups(), ['ingester']);
  await world.close();
});

async function deleteSet(world: World, name: string): Promise<void> {
  const at = { namespace: NAMESPACE, name };
  const { metadata } = await world.run(world.admin.get(resourceTypes.statefulSets, at));
  const preconditions = { uid: metadata.uid };
  await world.run(world.admin.delete(resourceTypes.statefulSets, at, { preconditions }));
}

test('[scenario 74] the counter of failures is 0 after the first pass', async () => {
  const world = await World.create(small);
  const operator = await world.readyOperator();
  await world.clock.quiesce();
  const failed = await series(world, operator, 'rollout_operator_group_reconciles_failed_total');
  assert.deepEqual(failed, ['{rollout_group="ingester"} 0']);
  await world.close();
});

test('[scenario 80] it ends at once when idle, and after the request when one is under way', async () => {
  const world = await World.create(small);
  const idle = await world.readyOperator();
  await world.clock.advance(seconds(10));
  const idleSince = world.clock.now();
  await world.run(idle.stop());
  assert.deepEqual(idle.ended, { error: undefined });
  assert.ok(world.clock.now() - idleSince <= 2_000);

  const busy = await world.readyOperator();
  world.cluster.faults.add({
    match: { client: 'operator-2', verb: 'delete', resource: 'pods' },
    count: 1,
    action: { kind: 'delay', delay: seconds(1), when: 'after' },
  });
  await world.setImage(images.new);
  await world.clock.runUntil(() => world.cluster.faults.hits.length === 1);
  const busySince = world.clock.now();
  await world.run(busy.stop());
  assert.deepEqual(busy.ended, { error: undefined });
  assert.ok(world.clock.now() - busySince <= 4_000);
  await world.clock.advance(minutes(1));
  assert.ok(deletedPods(world).length <= 1);
  assertKept(world, {});
  await world.close();
});
