/** Processes that lead without a Lease while the Role is amended (D-50, WRIT-1, WRIT-2). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { forbidLeases } from '#support/world/lease-role.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { type OperatorRun, usualRenewals } from '#support/world/world-operator.ts';

const group: WorldOptions = {
  replicas: 8,
  maxUnavailable: '1',
  operators: 2,
  flags: usualRenewals,
};

function deletionsOf(world: World, { client }: OperatorRun): readonly number[] {
  return world.cluster.eventLog.calls
    .filter((call) => call.client === client && call.verb === 'delete' && call.resource === 'pods')
    .map(({ startedAt }) => startedAt);
}

test('of two replicas that led without a Lease only one goes on once the Role permits it, also where the other cannot read the Lease [WRIT-1]', async () => {
  const world = await World.create(group);
  const permit = forbidLeases(world, 'get', 'create', 'update');
  const holder = await world.readyOperator();
  const other = await world.readyOperator();
  await world.clock.advance(minutes(3));
  permit();
  // From here on the other one hears 503 when it asks for the Lease: it is not refused any more.
  world.cluster.faults.add({
    match: { client: other.client, resource: 'leases' },
    action: { kind: 'error', code: 503 },
  });
  await world.clock.advance(minutes(5));
  const from = world.clock.now();
  await world.setImage(images.new);
  await world.clock.advance(minutes(5));
  const both = [holder, other].map(
    (each) => deletionsOf(world, each).filter((at) => at >= from).length,
  );
  await world.close();
  assert.equal(
    both.filter((count) => count > 0).length,
    1,
    `deletions of each: ${both.join(', ')}`,
  );
});

test('the last request of a replica that had no Lease, sent before it noticed that another has one by now, is waited out [WRIT-2]', async () => {
  const world = await World.create({ ...group, replicas: 4 });
  const permit = forbidLeases(world, 'get', 'create', 'update');
  const holder = await world.readyOperator();
  await world.clock.advance(seconds(27));
  const other = await world.readyOperator();
  await world.clock.advance(minutes(3));
  permit();
  const lease = 'leases.coordination.k8s.io';
  await world.clock.runUntil(() => world.stored(lease, 'rollout-operator') !== undefined);
  assert.match(JSON.stringify(world.stored(lease, 'rollout-operator')), new RegExp(holder.client));
  await world.clock.advance(seconds(20));
  world.cluster.faults.add({
    match: { client: other.client, verb: 'delete', resource: 'pods' },
    action: { kind: 'delay', delay: seconds(1) },
  });
  await world.setImage(images.new, ['c']);
  await world.clock.runUntil(() => world.record.statements.length === 1);
  // It is killed, and its request arrives within the 120 s that a request may take.
  other.kill({ late: seconds(112) });
  await world.setImage(images.old, ['c']);
  await world.setImage(images.new, ['a']);
  await world.clock.advance(minutes(5));
  const ids = world.judge().violations.map(({ id }) => id);
  const broken = ids.filter((id) => id.startsWith('EXCL'));
  await world.close();
  assert.deepEqual(broken, []);
});
