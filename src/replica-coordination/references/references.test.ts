import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { numberAt } from '#support/objects/json-path.ts';
import { createReplicaTemplate } from '#support/objects/scaling.ts';
import { mirroredTemplate, mirroredZone } from '#support/world/mirrored-zone.ts';
import { setName } from '#support/world/world-group.ts';

/** How long a resource is gone, and what is known of it when it comes back. */
const absences = {
  '12 ms, before it can be read as gone': millis(12),
  '7 s, and read as gone': seconds(7),
  '3 minutes, and read as gone again and again': minutes(3),
};

for (const [absence, span] of Object.entries(absences)) {
  test(`a mirrored resource that was away for ${absence}, is read within 100 ms of its return`, async () => {
    const world = await mirroredZone();
    await world.clock.advance(minutes(1));
    await world.run(
      world.admin.delete(resourceTypes.replicaTemplates, mirroredTemplate, { preconditions: {} }),
    );
    await world.clock.advance(span);
    await world.run(createReplicaTemplate(world.admin, mirroredTemplate, 5));
    await world.clock.advance(millis(100));
    const set = world.stored('statefulsets.apps', setName('a')) ?? {};
    assert.equal(numberAt(set, 'spec', 'replicas'), 5);
    await world.close();
  });
}
