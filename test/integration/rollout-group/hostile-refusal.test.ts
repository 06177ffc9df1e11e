import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, minutes, seconds } from '#base/units.ts';
import type { FaultAction } from '#cluster/faults.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { images, NAMESPACE } from '#support/world/world-group.ts';
import { assertBlockedBy, callsWithin } from '../stages/hostile-stage.ts';

/** Ten requests a second: an operator that repeats its requests at once would use them all. */
const group: WorldOptions = {
  replicas: 3,
  maxUnavailable: '1',
  zones: ['a', 'b'],
  flags: ['-kubernetes.client-qps=10', '-kubernetes.client-burst=10'],
};

/** Has another program change a pod of the group five times a second, each of which wakes the group. */
function disturb(world: World): () => void {
  let isOver = false;
  let turn = 0;
  const touch = (): void => {
    if (isOver) return;
    turn += 1;
    const document = { metadata: { annotations: { note: `turn ${turn}` } } };
    const body = { kind: 'merge', document } as const;
    const key = { namespace: NAMESPACE, name: 'ingester-zone-b-0' };
    void world.admin.patch(resourceTypes.pods, key, { body });
    world.clock.timer(millis(200), touch);
  };
  touch();
  return () => {
    isOver = true;
  };
}

/** How the API server refuses deletions, and how many of them it may get at most. */
interface Refused {
  readonly action: FaultAction;
  readonly inTenSeconds: number;
  readonly inThirdMinute: number;
}

const refusals: Readonly<Record<string, Refused>> = {
  // Repeated after 25 ms, then after twice as long each time, up to 30 s.
  'are forbidden': {
    action: { kind: 'error', code: 403, reason: 'Forbidden' },
    inTenSeconds: 9,
    inThirdMinute: 2,
  },
  'are to wait for 20 s': {
    action: { kind: 'throttle', retryAfterSeconds: 20 },
    inTenSeconds: 1,
    inThirdMinute: 3,
  },
};

for (const [what, { action, inTenSeconds, inThirdMinute }] of Object.entries(refusals)) {
  test(`deletions that ${what} are repeated no sooner, however often pods change`, async () => {
    const world = await World.create(group);
    const operator = await world.readyOperator();
    await world.clock.advance(seconds(30));
    const match = { client: operator.client, verb: 'delete', resource: 'pods' };
    const permit = world.cluster.faults.add({ match, action });
    const calm = disturb(world);
    const from = world.clock.now();
    await world.setImage(images.new);
    await world.clock.advance(seconds(10));
    const soon = callsWithin(world, ['delete', 'pods'], [from, seconds(10)]);
    assert.ok(soon >= 1 && soon <= inTenSeconds, `${soon} in 10 s`);
    await assertBlockedBy([world, operator], ['RequestRefused']);
    await world.clock.advance(seconds(170));
    const late = callsWithin(world, ['delete', 'pods'], [from + 120_000, minutes(1)]);
    assert.ok(late >= 1 && late <= inThirdMinute, `${late} in the third minute`);
    calm();
    permit();
    await world.untilRolled(images.new);
    await world.close();
  });
}
