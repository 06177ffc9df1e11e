import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { images, NAMESPACE, setName } from '#support/world/world-group.ts';
import { OPERATOR_USER } from '#support/world/world-operator.ts';
import { callsWithin, eventsAbout } from '../stages/hostile-stage.ts';
import { blockedBy } from '../stages/rollout-stage.ts';

const group: WorldOptions = { replicas: 3, maxUnavailable: '1', zones: ['a', 'b'] };

interface StoredStatus {
  readonly status: { readonly currentRevision: string };
}

/** Has another writer put the old current revision of zone b back, 50 ms after each write of an operator. */
function contest(world: World): void {
  const name = setName('b');
  const stored = world.stored('statefulsets.apps', name) as unknown as StoredStatus;
  const { currentRevision } = stored.status;
  const body = { kind: 'merge', document: { status: { currentRevision } } } as const;
  world.cluster.eventLog.onCommit((commit) => {
    if (commit.resource !== 'statefulsets.apps' || commit.name !== name) return;
    if (commit.user !== OPERATOR_USER) return;
    world.clock.timer(millis(50), () => {
      const key = { namespace: NAMESPACE, name };
      void world.admin.patch(resourceTypes.statefulSets, key, { body, subresource: 'status' });
    });
  });
}

test('against another writer of status.currentRevision, at most 20 PUTs and 40 GETs are sent in the third minute, and it is told', async () => {
  const world = await World.create({ ...group, replicas: 2 });
  const operator = await world.readyOperator();
  await world.clock.advance(seconds(30));
  contest(world);
  await world.setImage(images.new);
  await world.clock.advance(minutes(2));
  const from = world.clock.now();
  await world.clock.advance(minutes(1));
  const puts = callsWithin(world, ['update', 'statefulsets.apps'], [from, minutes(1)]);
  const gets = callsWithin(world, ['get', 'statefulsets.apps'], [from, minutes(1)]);
  const reasons = eventsAbout(world, setName('b')).map(({ reason }) => reason);
  const said = {
    blockedBy: await blockedBy(world, operator),
    isTold: reasons.some((reason) => /Contested|Refused/.test(reason)),
  };
  await world.close();
  assert.ok(puts <= 20 && gets <= 40, `${puts} PUTs and ${gets} GETs in the third minute`);
  assert.notEqual(said.blockedBy, undefined);
  assert.equal(said.isTold, true);
});
