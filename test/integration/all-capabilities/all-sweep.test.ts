/** Processes that run everything and are killed around each of their first writes, while a group and a PhasedRollout roll under one budget. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { isWhole } from '#support/extent.ts';
import type { World } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { OPERATOR_USER } from '#support/world/world-operator.ts';
import { allowBudgets, givenAway, makeBudget } from '../stages/budget-stage.ts';
import {
  changeDb,
  createDb,
  createRollout,
  installRollouts,
  LackWatch,
  openBoth,
  partitionOf,
  phaseOf,
  until,
  untilDb,
} from './all-stage.ts';

/** Writes that the first process makes before it is killed. */
const writes = 16;

/** Kills the process right after its write number `at`; its requests that are on their way arrive within 120 s. */
function killAfter(world: World, at: number): void {
  let seen = 0;
  world.cluster.eventLog.onCommit(({ user, resource }) => {
    if (user !== OPERATOR_USER || /^(?:events|leases)/.test(resource)) return;
    seen += 1;
    if (seen !== at) return;
    world.operators[0]?.kill({ late: 'seeded' });
    world.startOperator();
  });
}

/** Each write at night; the gate takes every third. */
const struck = Array.from({ length: writes }, (_, index) => index + 1).filter(
  (at) => isWhole || at % 3 === 2,
);

for (const at of struck) {
  test(`a process that is killed after its write ${at} leaves no two sets without pods, and its successor ends both rollouts [BUDG-1, EXCL-1, LIVE-3]`, async () => {
    const world = await openBoth({ seed: at });
    await installRollouts(world);
    await createDb(world);
    await allowBudgets(world);
    await world.readyOperator();
    await makeBudget(world);
    await createRollout(world, 'db');
    await until(world, 'it is settled', () => phaseOf(world) === 'Updated');
    await until(world, 'it is blocked', () => partitionOf(world) === 3);
    await world.clock.advance(seconds(130));
    const lacks = new LackWatch(world);
    killAfter(world, at);
    await changeDb(world, 'db:2');
    await world.setImage(images.new);
    await until(world, 'a successor is there', () => world.operators.length === 2);
    await untilDb(world, 'db:2');
    await world.untilRolled(images.new);
    assert.deepEqual([...lacks.together], []);
    await until(world, 'all is given back', () => givenAway(world)?.length === 0);
    await world.clock.advance(minutes(1));
    await world.close();
  });
}
