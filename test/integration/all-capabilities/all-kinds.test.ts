/** An operator of groups alone, and sets of its group that resources of each kind name (D-63). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '#base/units.ts';
import type { World } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { OPERATOR_USER } from '#support/world/world-operator.ts';
import { movedByNobody, type NamingKind, namingKinds } from './all-kinds.ts';
import { forbidRollouts, messagesOf, newPodsOf, openGroups } from './all-stage.ts';

const set = 'ingester-zone-b';

function newPods(world: World): readonly number[] {
  return world.zones.map((zone) => newPodsOf(world, zone));
}

for (const [kind, naming] of Object.entries<NamingKind>(namingKinds)) {
  const { named, plural } = naming;

  test(`an operator of groups alone leaves a set alone that a ${kind} names, where it may list those`, async () => {
    const world = await openGroups();
    await naming.install(world);
    await naming.create(world, set);
    await world.readyOperator();
    await world.setImage(images.new);
    await world.clock.advance(minutes(5));
    assert.deepEqual(newPods(world), [2, 0, 2]);
    assert.deepEqual(messagesOf(world, set, 'ConflictingOwners'), [movedByNobody(set, named)]);
    await naming.remove(world);
    await world.untilRolled(images.new);
    await world.close();
  });

  test(`an operator of groups alone whose Role does not permit listing what a ${kind} is reads none, says nothing of it, and rolls`, async () => {
    const world = await openGroups();
    await naming.install(world);
    await naming.create(world, set);
    forbidRollouts(world);
    await world.readyOperator();
    await world.setImage(images.new);
    await world.untilRolled(images.new);
    const asked = world.cluster.eventLog.calls.filter(
      ({ user, resource }) => user === OPERATOR_USER && resource.startsWith(plural),
    );
    assert.deepEqual(asked, []);
    const lines = world.record.log.filter((each) => JSON.stringify(each).includes(plural));
    assert.deepEqual(lines, []);
    await world.close();
  });

  test(`nothing is taken away while a ${kind} may be there that could not be listed yet, which is reported`, async () => {
    const world = await openGroups();
    await naming.install(world);
    const disarm = world.cluster.faults.add({
      match: { user: OPERATOR_USER, resource: plural },
      action: { kind: 'error', code: 500 },
    });
    await world.readyOperator();
    await world.setImage(images.new);
    await world.clock.advance(minutes(5));
    assert.deepEqual(newPods(world), [0, 0, 0]);
    assert.match(
      world.zones
        .flatMap((zone) => messagesOf(world, `ingester-zone-${zone}`, 'ViewNotFresh'))
        .join(),
      new RegExp(`whether a ${kind} names a set is not known`),
    );
    disarm();
    await world.untilRolled(images.new);
    await world.close();
  });
}
