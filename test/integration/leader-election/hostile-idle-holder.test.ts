/** Who holds the Lease does nothing with it (LIVE-1, LIVE-2). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '#base/units.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { usualRenewals } from '#support/world/world-operator.ts';
import { forEver } from '../stages/hostile-stage.ts';
import { deletedPods, eventReasons } from '../stages/rollout-stage.ts';

const group: WorldOptions = {
  replicas: 2,
  maxUnavailable: '1',
  operators: 2,
  flags: usualRenewals,
};

for (const resource of ['pods', 'statefulsets'] as const) {
  test(`a replica that cannot list ${resource} does not keep the Lease from one that can [LIVE-1]`, async () => {
    const world = await World.create(group);
    world.cluster.faults.add({
      match: { client: 'operator-1', verb: ['list', 'watch'], resource },
      action: { kind: 'delay', delay: forEver },
    });
    world.startOperator();
    await world.clock.advance(minutes(1));
    await world.readyOperator();
    await world.setImage(images.new);
    await world.clock.advance(minutes(15));
    const { length } = deletedPods(world);
    const said = eventReasons(world, 'ingester-zone-a');
    await world.close();
    assert.equal(length, 6, `no pod was rolled, and the set has the Events [${said.join(', ')}]`);
  });
}
