/** StatefulsetRollouts that pin pods: their partition lets pods go that nobody evicts, so that no webhook is asked. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { numberAt, objectAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { World } from '#support/world/world.ts';
import { evict, reviewEvictions } from '#support/world/world-evictions.ts';
import { NAMESPACE } from '#support/world/world-group.ts';
import { OPERATOR_USER } from '#support/world/world-operator.ts';
import { allowBudgets, dropBudget, makeBudget } from '../stages/budget-stage.ts';
import {
  carrierState,
  changeCarried,
  createCarrier,
  installCarriers,
  untilCarried,
} from './all-rollouts-stage.ts';
import { until } from './all-stage.ts';
import { openZoned } from './all-zones-stage.ts';

const broken = 'ingester-zone-a-0';

/** A rollout group under a budget of one zone, and a set under the same budget that pins its pods. */
async function pinnedUnderBudget(): Promise<World> {
  const world = await openZoned({ operators: 1, maxUnavailable: '1' });
  await installCarriers(world);
  await allowBudgets(world);
  await reviewEvictions(world);
  await world.readyOperator();
  await createCarrier(world, 'carried');
  const document = { spec: { versionLeak: { policy: 'Pin' } } };
  const key = { namespace: NAMESPACE, name: 'sr' };
  const body = { kind: 'merge', document } as const;
  await world.run(world.admin.patch(resourceTypes.statefulsetRollouts, key, { body }));
  await untilCarried(world, 'carried', 'carried:1');
  await until(world, 'it is done', () => carrierState(world) === 'RolloutDone RolloutDone');
  await makeBudget(world);
  await world.clock.advance(seconds(130));
  return world;
}

/** Has one pod of another zone of the budget become not ready for good. */
async function breakZone(world: World): Promise<() => void> {
  const lasting = world.kubelet.behaviours.add({ match: { name: broken }, behave: 'neverReady' });
  await deletePod(world, broken);
  await world.clock.advance(seconds(30));
  return () => lasting.remove();
}

async function deletePod(world: World, name: string): Promise<void> {
  const key = { namespace: NAMESPACE, name };
  await world.run(world.admin.delete(resourceTypes.pods, key, { preconditions: {} }));
}

/** Names of the pods of the pinned set that began to terminate from commit `from` on. */
function gone(world: World, from: number): readonly string[] {
  const pods = world.cluster.eventLog.commits
    .slice(from)
    .filter(({ resource, name, after }) => {
      const isOfSet = resource === 'pods' && name.startsWith('carried-');
      return isOfSet && textAt(after, 'metadata', 'deletionTimestamp') !== '';
    })
    .map(({ name }) => name);
  return [...new Set(pods)];
}

/** Partitions of the pinned set that the program wrote from commit `from` on, each once on end. */
function partitions(world: World, from: number): readonly (number | undefined)[] {
  return world.cluster.eventLog.commits
    .slice(from)
    .filter(({ resource, name, user }) => {
      return resource === 'statefulsets.apps' && name === 'carried' && user === OPERATOR_USER;
    })
    .map(({ after }) => numberAt(after, 'spec', 'updateStrategy', 'rollingUpdate', 'partition'))
    .filter((each, at, all) => each !== all[at - 1]);
}

function reasonOf(world: World): string {
  const stored = world.stored('statefulsetrollouts.bedrock.operator.slack.com', 'sr');
  return textAt(objectAt(stored, 'status'), 'reason');
}

test('[found R-17] a partition lets no pod go while another zone of its budget is not whole, and says so [BUDG-1]', async () => {
  const world = await pinnedUnderBudget();
  const mend = await breakZone(world);
  const from = world.cluster.eventLog.commits.length;
  await changeCarried(world, 'carried', 'carried:2');
  await world.clock.advance(minutes(5));
  assert.deepEqual(gone(world, from), []);
  assert.deepEqual(partitions(world, from), [3]);
  assert.match(reasonOf(world), /ingester-zone-a/);
  mend();
  await deletePod(world, broken);
  await untilCarried(world, 'carried', 'carried:2');
  assert.deepEqual(partitions(world, from).slice(0, 4), [3, 2, 1, 0]);
  await world.close();
});

test('[found R-17] once the budget is deleted, the partition falls as the number of pods says that may be away', async () => {
  const world = await pinnedUnderBudget();
  await breakZone(world);
  const from = world.cluster.eventLog.commits.length;
  await changeCarried(world, 'carried', 'carried:2');
  await world.clock.advance(minutes(2));
  assert.deepEqual(gone(world, from), []);
  await dropBudget(world);
  await untilCarried(world, 'carried', 'carried:2');
  await world.close();
});

test('[found R-17] pods that a partition lets go are in the ledger one by one, so that no eviction takes another zone', async () => {
  const world = await pinnedUnderBudget();
  const slow = world.kubelet.behaviours.add({
    match: { name: 'carried-2' },
    behave: 'neverReady',
  });
  const from = world.cluster.eventLog.commits.length;
  await changeCarried(world, 'carried', 'carried:2');
  await until(world, 'the first has gone', () => gone(world, from).length > 0);
  await world.clock.advance(seconds(1));
  assert.match(await evict(world, 'ingester-zone-b-0'), /^429 .*carried/);
  slow.remove();
  await deletePod(world, 'carried-2');
  await untilCarried(world, 'carried', 'carried:2');
  assert.deepEqual(partitions(world, from).slice(0, 4), [3, 2, 1, 0]);
  await world.close();
});
