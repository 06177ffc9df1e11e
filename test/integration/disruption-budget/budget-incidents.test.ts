/** What happened to others with disruption budgets, and must not happen here (docs/rules/incidents.md). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Millis, millis, minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { World } from '#support/world/world.ts';
import { evict, reviewEvictions } from '#support/world/world-evictions.ts';
import { images, NAMESPACE } from '#support/world/world-group.ts';
import { budgetedWorld, givenAway, makeBudget } from '../stages/budget-stage.ts';
import { setReady } from '../stages/hostile-stage.ts';
import { assertKept, blockedBy, deletedPods } from '../stages/rollout-stage.ts';
import { reviewedWorld, zonesDown } from './incident-stage.ts';

const a0 = 'ingester-zone-a-0';
const b0 = 'ingester-zone-b-0';

/** What is given away of zone a, as it is told to who asks for a pod of zone b. */
const deniedForA = /^429 .*denied the request: 1 pod not ready in ingester-zone-a /;

/** What a native budget says. */
const deniedByNative = /^429 .*: Cannot evict pod as it would violate the pod's disruption budget/;

/** Has a native budget refuse, after us, that pods of zone a are evicted. */
async function keepZone(world: World): Promise<void> {
  const spec = { maxUnavailable: 0, selector: { matchLabels: { name: 'ingester-zone-a' } } };
  const body = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'a' },
    spec,
  };
  const at = { namespace: NAMESPACE, name: 'a' };
  await world.run(world.admin.create(resourceTypes.podDisruptionBudgets, at, { body }));
  await world.clock.advance(seconds(15));
}

/** Has the eviction of the first pod of zone a allowed by us, and refused by a native budget. */
async function allowInVain(world: World): Promise<void> {
  await keepZone(world);
  assert.match(await evict(world, a0), deniedByNative);
  assert.deepEqual(givenAway(world), [a0]);
}

/** Evicts the pods one after the other, again every 5 s after 429 and after nothing else, as kubectl drain does. */
async function drain(world: World, pods: readonly string[]): Promise<readonly string[]> {
  const answers: string[] = [];
  for (const pod of pods) {
    for (;;) {
      const answer = await evict(world, pod);
      answers.push(answer.slice(0, 3));
      if (!answer.startsWith('429')) break;
      await world.clock.advance(seconds(5));
    }
  }
  return answers;
}

describe('incidents', () => {
  test('INCIDENT-3 what is given away stays so when the readiness of the pod changes, and after 5 s', async () => {
    const world = await reviewedWorld();
    await allowInVain(world);
    await setReady(world, a0, { status: 'False' });
    await setReady(world, a0, { status: 'True' });
    await world.clock.advance(seconds(20));
    assert.match(await evict(world, b0), deniedForA);
    assert.deepEqual(givenAway(world), [a0]);
    await world.close();
  });

  test('INCIDENT-4 a pod whose peer of the same partition is not found is kept', async () => {
    const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1' });
    await world.readyOperator();
    await world.clock.advance(minutes(3));
    await reviewEvictions(world);
    await makeBudget(world, {
      maxUnavailable: 1,
      podNamePartitionRegex: '[a-z\\-]+-zone-[a-z]-([0-9]+)',
    });
    await world.patchSet('b', { spec: { replicas: 2 } });
    await world.clock.advance(seconds(30));
    assert.match(
      await evict(world, 'ingester-zone-a-2'),
      /^429 .*denied the request: 1 pod unknown in partition 2 /,
    );
    assert.equal(await evict(world, 'ingester-zone-a-1'), '201');
    await world.close();
  });

  test('INCIDENT-5 a rollout waits for an eviction that was just allowed, though its pod still serves', async () => {
    const world = await reviewedWorld();
    await keepZone(world);
    assert.match(await evict(world, 'ingester-zone-a-2'), deniedByNative);
    await world.patchSet('a', {
      metadata: { annotations: { 'grafana.com/rollout-paused': 'true' } },
    });
    await world.setImage(images.new, ['b', 'c']);
    await world.clock.advance(seconds(60));
    assert.deepEqual(deletedPods(world), []);
    const [operator] = world.operators;
    assert.equal(operator && (await blockedBy(world, operator)), 'BudgetRefused');
    await world.clock.advance(minutes(3));
    assert.equal(deletedPods(world).length, 6);
    assertKept(world);
    await world.close();
  });

  for (const offset of [0, 250, 500, 750, 1_000].map(millis)) {
    test(`INCIDENT-5 a rollout and an eviction ${offset} ms later never take pods of two zones`, async () => {
      const world = await reviewedWorld();
      const most = zonesDown(world);
      await world.setImage(images.new);
      await world.clock.advance(offset);
      await evict(world, 'ingester-zone-c-1');
      await world.untilRolled(images.new);
      assert.equal(most(), 1);
      assertKept(world);
      await world.close();
    });
  }

  for (const [how, end] of Object.entries<(world: World) => Promise<void>>({
    'is killed': async (world) => {
      world.operators[0]?.kill();
      await world.readyOperator();
    },
    ends: async (world) => {
      await world.run(world.operators[0]?.stop() ?? Promise.resolve());
      await world.readyOperator();
    },
  })) {
    test(`INCIDENT-6 what an operator gave away is known to its successor when it ${how}`, async () => {
      const world = await reviewedWorld();
      await allowInVain(world);
      await end(world);
      assert.match(await evict(world, b0), deniedForA);
      assert.deepEqual(givenAway(world), [a0]);
      await world.close();
    });
  }

  test('INCIDENT-15 a drain that retries after 429 alone ends, also when a replica of the operator ends', async () => {
    const world = await reviewedWorld(2);
    const most = zonesDown(world);
    const first = await drain(world, [a0, b0]);
    await world.run(world.operators[0]?.stop() ?? Promise.resolve());
    const second = await drain(world, ['ingester-zone-c-0', 'ingester-zone-a-1']);
    assert.deepEqual(new Set([...first, ...second]), new Set(['201', '429']));
    assert.equal(most(), 1);
    await world.close();
  });

  test('INCIDENT-15 a review that dies with its replica is answered by the other when it is asked again', async () => {
    const world = await reviewedWorld(2);
    const [leader] = world.operators;
    world.cluster.faults.add({
      match: { client: leader?.client ?? '', verb: 'update', resource: 'configmaps' },
      action: { kind: 'delay', delay: seconds(5) },
      count: 1,
    });
    world.clock.timer(seconds(1), () => leader?.kill(), { owner: 'test' });
    assert.match(await evict(world, a0), /^500 .*failed calling webhook/);
    assert.equal(await evict(world, a0), '201');
    assert.match(await evict(world, b0), deniedForA);
    await world.close();
  });

  test('INCIDENT-16 what we allowed and a native budget refused is given back after 120 s, and never counted twice', async () => {
    const world = await reviewedWorld();
    await allowInVain(world);
    const from = world.clock.now();
    for (let again = 0; again < 3; again += 1) {
      assert.match(await evict(world, a0), deniedByNative);
      assert.deepEqual(givenAway(world), [a0]);
    }
    assert.match(await evict(world, b0), deniedForA);
    const waited = await untilEvicted(world, b0, from);
    assert.ok(waited >= seconds(110) && waited <= seconds(135), `${waited} ms`);
    await world.clock.advance(minutes(3));
    assert.equal(await evict(world, 'ingester-zone-c-0'), '201');
    await world.close();
  });

  test('INCIDENT-17 pods of the operator are evicted while a budget governs the group, also that of the last replica', async () => {
    const world = await reviewedWorld(2);
    for (const name of ['rollout-operator-1', 'rollout-operator-2']) {
      const metadata = { name, labels: { name: 'rollout-operator' } };
      const spec = { containers: [{ name: 'rollout-operator', image: images.old }] };
      const at = { namespace: NAMESPACE, name };
      await world.run(world.admin.create(resourceTypes.pods, at, { body: { metadata, spec } }));
    }
    await world.clock.advance(seconds(10));
    assert.equal(await evict(world, a0), '201');
    assert.equal(await evict(world, 'rollout-operator-1'), '201');
    await world.run(world.operators[0]?.stop() ?? Promise.resolve());
    assert.equal(await evict(world, 'rollout-operator-2'), '201');
    await world.close();
  });
});

/** Evicts `pod` again every 5 s until it goes. @returns how long that is after `from` */
async function untilEvicted(world: World, pod: string, from: number): Promise<Millis> {
  while ((await evict(world, pod)) !== '201') {
    assert.ok(world.clock.now() - from < minutes(5), `${pod} is kept`);
    await world.clock.advance(seconds(5));
  }
  return millis(world.clock.now() - from);
}
