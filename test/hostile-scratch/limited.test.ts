import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { GROUP, images, NAMESPACE } from '#testing/world-group.ts';
import { budgetedWorld, givenAway, makeBudget } from '../integration/budget-stage.ts';
import { EvictionReplica, said } from './eviction-replica.ts';

for (const qps of [1, 5]) {
  test(`with the peer's limiter (${qps} a second) a drain at 20 evictions a second is granted its first pod within 10 s`, async () => {
    const world = await budgetedWorld({ replicas: 6, maxUnavailable: '1' });
    const two = await EvictionReplica.start(world, 'two', undefined, [
      `-kubernetes.client-qps=${qps}`,
      '-kubernetes.client-burst=10',
    ]);
    two.lead();
    await makeBudget(world);
    await world.clock.advance(seconds(15));
    const seen: Record<string, number> = {};
    let firstAllowed = -1;
    let slowest = 0;
    for (let n = 0; n < 20 * 60; n += 1) {
      const at = n / 20;
      void two.ask(`${'abc'[n % 3]}-${n % 6}`).then(({ decision, took }) => {
        const key = said(decision).replace(/ingester-zone-.-./g, 'X').replace(/until .*/, '').slice(0, 140);
        seen[key] = (seen[key] ?? 0) + 1;
        slowest = Math.max(slowest, took);
        if (decision.isAllowed && firstAllowed < 0) firstAllowed = at;
      });
      await world.clock.advance(seconds(0.05));
    }
    await world.clock.advance(seconds(6));
    console.log(qps, 'first allowed', firstAllowed, 'slowest', slowest, seen, givenAway(world));
    assert.ok(firstAllowed >= 0 && firstAllowed <= 10);
    await two.stop();
    await world.close();
  });
}

test('forged evictions of a pod of a ReplicaSet do not keep a limited operator from its ledger', async () => {
  const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1' });
  const two = await EvictionReplica.start(world, 'two', undefined, [
    '-kubernetes.client-qps=5',
    '-kubernetes.client-burst=10',
  ]);
  two.lead();
  await makeBudget(world);
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'rs-uid', controller: true };
  const body = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'of-rs', namespace: NAMESPACE, labels: { app: GROUP }, ownerReferences: [owner] },
    spec: { containers: [{ name: 'c', image: images.old }] },
  };
  await world.run(world.admin.create(resourceTypes.pods, { namespace: NAMESPACE }, { body }));
  await world.clock.advance(minutes(1));
  for (let n = 0; n < 500; n += 1) void two.ask('x', { name: 'of-rs' });
  await world.clock.advance(seconds(0.1));
  const answer = await world.run(two.ask('a-0'));
  console.log('limited', said(answer.decision), answer.took);
  assert.equal(said(answer.decision), 'allowed');
  await two.stop();
  await world.close();
});

test('a budget that cannot be read, and two over one pod, show in the gauge of problems', async () => {
  const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1' });
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(3));
  await makeBudget(world, { maxUnavailable: 1, podNamePartitionRegex: '([bad' }, 'broken');
  await makeBudget(world, { maxUnavailable: 1 }, 'first');
  await makeBudget(world, { maxUnavailable: 1 }, 'second');
  await world.setImage(images.new);
  await world.clock.advance(minutes(5));
  const metrics = await operator.registry.expose();
  const shown = metrics.split('\n').filter((l) => l.startsWith('rollout_operator_disruption_budget_problem{'));
  console.log(shown, world.record.log.filter((l) => l.level !== 'debug').slice(-3).map((l) => `${l.message} ${JSON.stringify(l.fields)}`.slice(0, 300)));
  assert.ok(shown.length >= 3);
  await world.close();
});
