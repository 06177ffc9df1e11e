import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '#base/units.ts';
import { World } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';

test('D-6 an operator whose consistent read is older than what it had seen ends with one sentence', async () => {
  const world = await World.create({ zones: ['a', 'b'], replicas: 2 });
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(1));
  const revision = (world.cluster.eventLog.commits.at(-1)?.revision ?? 0) - 1;
  world.cluster.faults.add({
    match: { client: operator.transport.client, verb: 'list', resource: 'statefulsets' },
    action: { kind: 'stale', revision },
  });
  await world.setImage(images.new);
  await world.clock.runUntil(() => operator.ended !== undefined, { maxVirtual: minutes(5) });
  assert.match(String(operator.ended?.error), /RevisionWentBackError/);
  assert.equal(operator.readiness.isReady(), false);
  assert.deepEqual(world.judge().violations, []);
  await world.close();
});
