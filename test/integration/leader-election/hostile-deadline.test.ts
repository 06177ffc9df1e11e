/** Hostile: a wait that is counted from the wrong instant (D-50, WRIT-2). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { forEver } from '../stages/hostile-stage.ts';

const group: WorldOptions = { replicas: 4, maxUnavailable: '1', operators: 1 };

const flagsOf = (deadline: number): readonly string[] => [
  '-leader-election.lease-duration=60s',
  `-leader-election.renew-deadline=${deadline}s`,
  '-leader-election.retry-period=2s',
];

test('a predecessor whose renew deadline was longer than our own is waited out for 120 s after it [WRIT-2]', async () => {
  let flags = flagsOf(55);
  const options: WorldOptions = {
    ...group,
    operators: 2,
    get flags() {
      return flags;
    },
  };
  const world = await World.create(options);
  const first = await world.readyOperator();
  flags = flagsOf(5);
  await world.readyOperator();
  await world.clock.advance(minutes(1));
  // Its renewals get no answer from here on; it leads for 55 s more, and in the last of them sends a DELETE.
  world.cluster.faults.add({
    match: { client: first.client, resource: 'leases' },
    action: { kind: 'delay', delay: forEver },
  });
  world.cluster.faults.add({
    match: { client: first.client, verb: 'delete', resource: 'pods' },
    action: { kind: 'delay', delay: seconds(1) },
  });
  await world.clock.advance(seconds(50));
  await world.setImage(images.new, ['c']);
  await world.clock.runUntil(() => world.record.statements.length === 1);
  first.kill({ late: seconds(110) });
  await world.setImage(images.old, ['c']);
  await world.setImage(images.new, ['a']);
  await world.clock.advance(minutes(6));
  const broken = world.judge().violations.map(({ id }) => id);
  await world.close();
  assert.deepEqual(broken, []);
});
