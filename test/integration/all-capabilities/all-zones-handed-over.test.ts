/** A set that leaves a ZoneAwareUpdate for a rollout group, while a deletion of the update is still under way. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { OPERATOR_USER } from '#support/world/world-operator.ts';
import { patchAny, until } from './all-stage.ts';
import {
  changeWeb,
  createUpdate,
  createWeb,
  deleteUpdate,
  installZones,
  openZoned,
  updateCondition,
} from './all-zones-stage.ts';

test('[found R-16] a deletion that a ZoneAwareUpdate has under way counts in the group that its set is handed to [MAXU-1]', async () => {
  const world = await openZoned();
  await installZones(world);
  await createWeb(world);
  await world.readyOperator();
  await createUpdate(world, 'web', { maxUnavailable: 1 });
  await until(world, 'all is up to date', () => updateCondition(world).startsWith('Updated'));
  await world.clock.advance(minutes(3));
  world.cluster.faults.add({
    match: { user: OPERATOR_USER, verb: 'delete', resource: 'pods' },
    action: { kind: 'delay', delay: seconds(100) },
    count: 1,
  });
  const begun = world.clock.now();
  await changeWeb(world, 'web:2');
  await world.clock.advance(seconds(35));
  await deleteUpdate(world);
  await patchAny(world, 'web', {
    metadata: {
      labels: { 'rollout-group': 'other' },
      annotations: { 'rollout-max-unavailable': '1' },
    },
  });
  await world.clock.advance(minutes(3));
  const sent = world.cluster.eventLog.calls
    .filter(({ user, verb, resource }) => {
      return user === OPERATOR_USER && verb === 'delete' && resource === 'pods';
    })
    .map(({ startedAt }) => startedAt - begun)
    .filter((time) => time >= 0);
  assert.ok(sent.length > 1, 'the group goes on in the end');
  const early = sent.filter((time) => time < seconds(100));
  assert.equal(early.length, 1, `sent after ${early.join(', ')} ms`);
  await world.close();
});
