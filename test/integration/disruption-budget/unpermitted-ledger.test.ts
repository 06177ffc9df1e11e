/** Disruption budgets under a Role that permits no ConfigMap, as the one of the first peer's chart. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { forbidConfigMaps } from '#support/world/config-map-role.ts';
import type { World } from '#support/world/world.ts';
import { evict, reviewEvictions } from '#support/world/world-evictions.ts';
import { images } from '#support/world/world-group.ts';
import { budgetedWorld, makeBudget } from '../stages/budget-stage.ts';
import { deletedPods } from '../stages/rollout-stage.ts';
import { nine } from './budgeted-stage.ts';

const rule = "[{apiGroups: [''], resources: [configmaps], verbs: [create, get, update]}]";

/** One operator under that Role, and a budget that was there before it. */
async function unpermitted(): Promise<{ readonly world: World; readonly said: readonly string[] }> {
  const world = await budgetedWorld(nine);
  forbidConfigMaps(world);
  await makeBudget(world);
  await reviewEvictions(world);
  const said = hear(world);
  await world.readyOperator();
  await world.clock.advance(minutes(3));
  return { world, said };
}

/** Collects what operators say from now on of ledgers that their Role does not permit. */
function hear(world: World): readonly string[] {
  const said: string[] = [];
  world.onLog.add(({ message, fields }) => {
    if (fields['rules'] === rule && message.includes('ledger')) said.push(message);
  });
  return said;
}

test('[found R-21] a group rolls under a budget although no ledger can be stored, zone by zone, and the lacking rule is said once', async () => {
  const { world, said } = await unpermitted();
  await world.setImage(images.new);
  await world.untilRolled(images.new);
  const zones = deletedPods(world).map((pod) => pod.replace(/-\d+$/, ''));
  assert.equal(zones.length, 9);
  assert.deepEqual(zones, zones.toSorted());
  assert.equal(said.length, 1, said.join('\n'));
  assert.match(said[0] ?? '', /run a single replica, or add the rule/);
  await world.close();
});

test('[found R-21] evictions are judged by what this process remembers: one zone goes, another one does not', async () => {
  const { world } = await unpermitted();
  assert.equal(await evict(world, 'ingester-zone-a-0'), '201');
  assert.match(await evict(world, 'ingester-zone-b-0'), /^429 .*ingester-zone-a/);
  await world.clock.advance(minutes(5));
  assert.equal(await evict(world, 'ingester-zone-b-0'), '201');
  assert.match(await evict(world, 'ingester-zone-c-0'), /^429 .*ingester-zone-b/);
  await world.close();
});

test('[found R-21] a process that begins again has forgotten what was let go, and waits as long as that may take', async () => {
  const { world } = await unpermitted();
  assert.equal(await evict(world, 'ingester-zone-a-0'), '201');
  const [first] = world.operators;
  await first?.stop();
  await world.readyOperator();
  await world.clock.advance(seconds(10));
  assert.match(await evict(world, 'ingester-zone-c-0'), /^429 .*until 20/);
  await world.close();
});

test('[found R-21] the first budget that is made later is obeyed at once, and the lacking rule is said then', async () => {
  const world = await budgetedWorld(nine);
  forbidConfigMaps(world);
  await reviewEvictions(world);
  const said = hear(world);
  await world.readyOperator();
  await world.clock.advance(minutes(3));
  assert.deepEqual(said, []);
  await makeBudget(world);
  await world.clock.advance(seconds(20));
  assert.equal(await evict(world, 'ingester-zone-a-0'), '201');
  assert.match(await evict(world, 'ingester-zone-b-0'), /^429 .*ingester-zone-a/);
  assert.equal(said.length, 1);
  await world.close();
});
