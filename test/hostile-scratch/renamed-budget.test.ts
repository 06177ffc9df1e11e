import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { World } from '#testing/world.ts';
import { GROUP, images, NAMESPACE } from '#testing/world-group.ts';
import { budgetedWorld, damageLedger, dropBudget, givenAway, makeBudget } from '../integration/budget-stage.ts';
import { EvictionReplica, said } from './eviction-replica.ts';

async function stage() {
  const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1' });
  const one = await EvictionReplica.start(world, 'one');
  one.lead();
  const two = await EvictionReplica.start(world, 'two');
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  return { world, one, two };
}

async function end(world: World, ...replicas: EvictionReplica[]): Promise<void> {
  for (const each of replicas) await each.stop();
  await world.close();
}

test('a permission of a second ago counts under a budget that takes the place of the one that gave it', async () => {
  const { world, one, two } = await stage();
  assert.equal(said(await one.evict('a-0')), 'allowed');
  await dropBudget(world);
  await makeBudget(world, { maxUnavailable: 1 }, 'renamed');
  await world.clock.advance(seconds(1));
  const answer = said(await one.evict('b-0'));
  console.log('renamed', answer);
  assert.match(answer, /^429/);
  await end(world, one, two);
});

test('a permission of a second ago counts where budget and ledger were deleted and the budget made again', async () => {
  const { world, one, two } = await stage();
  assert.equal(said(await one.evict('a-0')), 'allowed');
  await dropBudget(world);
  await damageLedger(world, 'deleted');
  await makeBudget(world);
  await world.clock.advance(seconds(1));
  const answer = said(await one.evict('b-0'));
  console.log('made again', answer);
  assert.match(answer, /^429/);
  await end(world, one, two);
});

test('a permission counts after the selector of its budget has changed and changed back', async () => {
  const { world, one, two } = await stage();
  assert.equal(said(await one.evict('a-0')), 'allowed');
  const key = { namespace: NAMESPACE, name: GROUP };
  for (const app of ['other', GROUP]) {
    const document = { spec: { selector: { matchLabels: { app } } } };
    const body = { kind: 'merge', document } as const;
    await world.run(
      world.admin.patch(resourceTypes.zoneAwarePodDisruptionBudgets, key, { body } as never),
    );
    await world.clock.advance(seconds(5));
    console.log(app, givenAway(world));
  }
  const answer = said(await two.evict('b-0'));
  console.log('selector', answer);
  assert.match(answer, /^429/);
  await end(world, one, two);
});

test('[LIVE-1] a rollout goes on while a drainer asks every 5 s for a pod that a native budget never lets go', async () => {
  const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1' });
  await world.readyOperator();
  await world.clock.advance(minutes(3));
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  const two = await EvictionReplica.start(world, 'two');
  assert.equal(said(await two.evict('c-0')), 'allowed');
  await world.setImage(images.new);
  for (let at = 0; at < 360; at += 1) {
    await two.evict('c-0');
    await world.clock.advance(seconds(5));
  }
  const deleted = world.cluster.eventLog.commits.filter(
    ({ resource, verb }) => resource === 'pods' && verb === 'delete',
  ).length;
  console.log('drained for 30 min: pods deleted', deleted);
  assert.ok(deleted > 0);
  await two.stop();
  await world.close();
});

test('a rollout and evictions, each asked through its own replica, never take two zones', async () => {
  const world = await budgetedWorld({ replicas: 4, maxUnavailable: '1' });
  await world.readyOperator();
  await world.clock.advance(minutes(3));
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  const two = await EvictionReplica.start(world, 'two');
  await world.setImage(images.new);
  let allowed = 0;
  for (let n = 0; n < 400 && !world.isComplete(images.new); n += 1) {
    const slot = `${'abc'[n % 3]}-${n % 4}`;
    if (said(await two.evict(slot)) === 'allowed') {
      allowed += 1;
      const name = `ingester-zone-${slot}`;
      const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: NAMESPACE } };
      await world.run(
        world.admin.create(resourceTypes.pods, { namespace: NAMESPACE, name } as never, { body, subresource: 'eviction' } as never).catch(() => undefined) as Promise<unknown>,
      );
    }
    await world.clock.advance(seconds(1.3));
    const down = new Set(
      world.names('pods').filter((name) => {
        const pod = world.stored('pods', name) as { metadata: { deletionTimestamp?: string }; status?: { conditions?: { type: string; status: string }[] } } | undefined;
        return pod?.metadata.deletionTimestamp !== undefined || pod?.status?.conditions?.some((c) => c.type === 'Ready' && c.status !== 'True') === true;
      }).map((name) => name.split('-')[2]),
    );
    assert.ok(down.size <= 1, [...down].join());
  }
  console.log('mixed: allowed', allowed, 'complete', world.isComplete(images.new));
  assert.ok(world.isComplete(images.new));
  await two.stop();
  await world.close();
});
