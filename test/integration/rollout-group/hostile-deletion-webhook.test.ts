import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { World } from '#support/world/world.ts';
import { images, setName } from '#support/world/world-group.ts';
import { eventsAbout } from '../stages/hostile-stage.ts';
import { blockedBy } from '../stages/rollout-stage.ts';

test('a deletion that a webhook is in the way of is a refusal with its text, and tried again while that is so [found R-8]', async () => {
  const world = await World.create({
    replicas: 3,
    maxUnavailable: '1',
    zones: ['a', 'b'],
    flags: ['-reconcile.interval=1h'],
  });
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(1));
  const message =
    'Internal error occurred: failed calling webhook "guard.test.example": failed to call webhook: connection refused';
  const lift = world.cluster.faults.add({
    match: { client: operator.client, verb: 'delete', resource: 'pods' },
    action: { kind: 'error', code: 500, reason: 'InternalError', message },
  });
  await world.setImage(images.new, ['a']);
  const said: (string | undefined)[] = [];
  for (let look = 0; look < 4; look += 1) {
    await world.clock.advance(seconds(15));
    said.push(await blockedBy(world, operator));
  }
  const told = eventsAbout(world, setName('a'));
  const tries = world.cluster.faults.hits.length;
  lift();
  await world.clock.advance(seconds(31));
  const gone = await blockedBy(world, operator);
  await world.close();
  assert.deepEqual(
    said,
    Array.from({ length: 4 }, () => 'RequestRefused'),
  );
  assert.ok(tries >= 5, `the deletion was sent ${tries} times in a minute`);
  assert.deepEqual(
    told.filter(({ reason }) => reason === 'AwaitingAnswer'),
    [],
  );
  assert.ok(
    told.some(
      ({ reason, message: text }) => reason === 'RequestRefused' && text?.includes(message),
    ),
    JSON.stringify(told),
  );
  assert.notEqual(gone, 'RequestRefused');
});
