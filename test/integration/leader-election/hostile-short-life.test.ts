/** What a chain of short lives forgets of the process that was killed at its head (D-50, WRIT-2). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { mirrorAnnotations } from '#support/objects/scaling.ts';
import { forbidLeases } from '#support/world/lease-role.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { usualRenewals } from '#support/world/world-operator.ts';
import { annotateSet, createTemplate } from '../stages/scaling-stage.ts';

const group: WorldOptions = {
  replicas: 8,
  maxUnavailable: '1',
  operators: 1,
  flags: usualRenewals,
};

test('a process that was killed without a Lease is waited out, also when one came between that ended before it had looked at the group [WRIT-2]', async () => {
  const world = await World.create(group);
  await createTemplate(world, 't-a', 8);
  await annotateSet(world, 'a', mirrorAnnotations('t-a'));
  // The peer's Role: no Leases.
  const permit = forbidLeases(world, 'get', 'create', 'update');
  const first = await world.readyOperator();
  await world.clock.advance(minutes(3));
  world.cluster.faults.add({
    match: { client: first.client, verb: 'delete', resource: 'pods' },
    action: { kind: 'delay', delay: seconds(1) },
  });
  await world.setImage(images.new, ['c']);
  await world.clock.runUntil(() => world.record.statements.length === 1);
  const sentAt = world.clock.now();
  // Its DELETE of a pod of zone c arrives 100 s later.
  first.kill({ late: seconds(100) });
  permit();
  // The Role is amended. The next process takes the Lease, and is asked to end while it reads the mirrored scale.
  world.cluster.faults.add({
    match: { client: 'operator-2', verb: 'get', subresource: 'scale' },
    action: { kind: 'delay', delay: seconds(5) },
  });
  const second = world.startOperator();
  await world.clock.runUntil(() => second.readiness.isReady());
  await world.clock.advance(seconds(1));
  await world.run(second.stop());
  // Its successor goes on at once, as if nobody had been killed.
  await world.setImage(images.old, ['c']);
  await world.setImage(images.new, ['a', 'b']);
  world.startOperator();
  await world.clock.advance(minutes(5));
  const [next] = world.cluster.eventLog.calls.filter(
    ({ client, verb, resource }) =>
      client === 'operator-3' && verb === 'delete' && resource === 'pods',
  );
  const took = (next?.startedAt ?? Number.NaN) - sentAt;
  const broken = world.judge().violations.map(({ id }) => id);
  await world.close();
  assert.deepEqual(broken, []);
  assert.ok(took >= 120_000, `${took} ms after the killed one had sent its last request`);
});
