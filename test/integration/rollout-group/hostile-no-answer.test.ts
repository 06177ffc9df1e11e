import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { World } from '#support/world/world.ts';
import { images, setName } from '#support/world/world-group.ts';
import { eventsAbout, forEver } from '../stages/hostile-stage.ts';
import { blockedBy } from '../stages/rollout-stage.ts';

test('while a deletion has had no answer for more than 10 s and every pod is available, the gauge and an Event say that its answer is awaited', async () => {
  const world = await World.create({
    replicas: 3,
    maxUnavailable: '1',
    zones: ['a', 'b'],
    flags: ['-reconcile.interval=1h'],
  });
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(1));
  world.cluster.faults.add({
    match: { client: operator.client, verb: 'delete', resource: 'pods' },
    action: { kind: 'delay', delay: forEver },
  });
  await world.setImage(images.new, ['a']);
  // Whatever the group shows until then: nothing but the time makes it be looked at.
  await world.clock.advance(seconds(11));
  assert.equal(await blockedBy(world, operator), 'AwaitingAnswer');
  const said: (string | undefined)[] = [];
  for (let look = 0; look < 6; look += 1) {
    await world.clock.advance(seconds(15));
    said.push(await blockedBy(world, operator));
  }
  const told = eventsAbout(world, setName('a')).filter(({ reason }) => reason === 'AwaitingAnswer');
  await world.close();
  const isTrue = (reason: string | undefined): boolean =>
    reason === 'AwaitingAnswer' || reason === 'AwaitingRequest' || reason === 'RequestRefused';
  assert.ok(said.every(isTrue), said.join(', '));
  assert.match(
    told[0]?.message ?? '',
    /^the deletion of ingester-zone-a-0 has not been answered for more than 10 s, so it may still happen$/,
  );
});
