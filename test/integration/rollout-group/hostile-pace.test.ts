import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, minutes, seconds } from '#base/units.ts';
import type { FaultAction } from '#cluster/faults.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { images, NAMESPACE } from '#support/world/world-group.ts';
import { callsWithin } from '../stages/hostile-stage.ts';

const group: WorldOptions = { replicas: 3, maxUnavailable: '1', zones: ['a', 'b'] };

/** Has another program change a pod of the group five times a second, each of which wakes the group. */
function disturb(world: World): () => void {
  const state = { isOver: false, turn: 0 };
  const touch = (): void => {
    if (state.isOver) return;
    state.turn += 1;
    const document = { metadata: { annotations: { note: `turn ${state.turn}` } } };
    const key = { namespace: NAMESPACE, name: 'ingester-zone-b-0' };
    void world.admin.patch(resourceTypes.pods, key, { body: { kind: 'merge', document } });
    world.clock.timer(millis(200), touch);
  };
  touch();
  return () => {
    state.isOver = true;
  };
}

interface Refused {
  readonly verb: string | readonly string[];
  readonly resource: string;
  readonly action: FaultAction;
  /** Verbs of the requests that are counted in the third minute, and how many of each are bearable. */
  readonly counted: string;
  readonly most: number;
}

const refused: Readonly<Record<string, Refused>> = {
  'lists of pods': {
    verb: 'list',
    resource: 'pods',
    action: { kind: 'error', code: 500 },
    counted: 'list',
    most: 20,
  },
  'lists of pods that are to wait for 60 s': {
    verb: 'list',
    resource: 'pods',
    action: { kind: 'throttle', retryAfterSeconds: 60 },
    counted: 'list',
    most: 20,
  },
  'writes of the current revision that are to wait for 60 s': {
    verb: 'update',
    resource: 'statefulsets',
    action: { kind: 'throttle', retryAfterSeconds: 60 },
    counted: 'update',
    most: 3,
  },
  'writes of the current revision that lose each race': {
    verb: 'update',
    resource: 'statefulsets',
    action: { kind: 'error', code: 409, reason: 'Conflict' },
    counted: 'update',
    most: 20,
  },
};

for (const [what, { verb, resource, action, counted, most }] of Object.entries(refused)) {
  test(`${what} are repeated ever more rarely, however often pods change`, async () => {
    const world = await World.create(group);
    const operator = await world.readyOperator();
    await world.clock.advance(seconds(30));
    const match = { client: operator.client, verb, resource };
    world.cluster.faults.add({ match, action });
    const calm = disturb(world);
    await world.setImage(images.new, ['a']);
    await world.clock.advance(minutes(2));
    const from = world.clock.now();
    await world.clock.advance(minutes(1));
    const plural = resource === 'pods' ? resource : `${resource}.apps`;
    const calls = callsWithin(world, [counted, plural], [from, minutes(1)]);
    calm();
    await world.close();
    assert.ok(calls <= most, `${calls} in the third minute`);
  });
}
