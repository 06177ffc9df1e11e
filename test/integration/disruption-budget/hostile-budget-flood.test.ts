/** What a hostile review of disruption budgets tried: many evictions at once, of which few or none may be. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { World } from '#support/world/world.ts';
import { GROUP, images, NAMESPACE } from '#support/world/world-group.ts';
import { dropBudget, givenAway, makeBudget } from '../stages/budget-stage.ts';
import {
  type Answered,
  EvictionReplica,
  endAll,
  ledUnderBudget,
  replicasUnderBudget,
} from '../stages/eviction-replica.ts';
import { assertKept } from '../stages/rollout-stage.ts';

/** What was answered, each once: `allowed`, or the code of a denial. */
function kinds(all: readonly Answered[]): readonly string[] {
  return [...new Set(all.map(({ answer }) => answer.split(' ')[0] ?? ''))].toSorted();
}

/** Makes a pod under the budget that a ReplicaSet controls. */
async function makeForeignPod(world: World): Promise<void> {
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: 'rs',
    uid: 'rs-uid',
    controller: true,
  };
  const body = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'of-rs',
      namespace: NAMESPACE,
      labels: { app: GROUP },
      ownerReferences: [owner],
    },
    spec: { containers: [{ name: 'c', image: images.old }] },
  };
  await world.run(world.admin.create(resourceTypes.pods, { namespace: NAMESPACE }, { body }));
  await world.clock.advance(seconds(20));
}

test('names and namespaces that are made up let no series of a metric appear, and nothing be given away', async () => {
  const { world, one, two } = await replicasUnderBudget();
  const names = Array.from({ length: 1_000 }, (_, at) => `made-up-${at}`);
  const byName = names.map((name) => two.ask('x', { name }));
  await world.run(Promise.all(byName));
  const bySpace = names.map((namespace) => two.ask('x', { name: 'x', namespace }));
  await world.run(Promise.all(bySpace));
  const lines = (await two.registry.expose()).split('\n');
  assert.ok(lines.filter((line) => line.includes('made-up')).length === 0);
  assert.ok(lines.filter((line) => line.includes('zpdb_evic')).length < 20);
  assert.deepEqual(givenAway(world), []);
  await endAll(world, one, two);
});

test('a thousand evictions of a pod that a ReplicaSet controls cost few requests', async () => {
  const { world, one, two } = await replicasUnderBudget();
  await makeForeignPod(world);
  const from = world.clock.now();
  const asked = Array.from({ length: 1_000 }, () => two.ask('x', { name: 'of-rs' }));
  const all = await world.run(Promise.all(asked));
  assert.ok(!kinds(all).includes('allowed'));
  assert.ok(two.calls(from).length <= 20, two.calls(from).join());
  assert.deepEqual(givenAway(world), []);
  await endAll(world, one, two);
});

test('a thousand denials in a minute cost ten requests at most', async () => {
  const { world, one, two } = await replicasUnderBudget();
  assert.equal(await one.evict('a-0'), 'allowed');
  await world.clock.advance(seconds(1));
  const from = world.clock.now();
  for (let at = 0; at < 60; at += 1) {
    const asked = Array.from({ length: 17 }, () => two.ask('b-0'));
    assert.deepEqual(kinds(await world.run(Promise.all(asked))), ['429']);
    await world.clock.advance(seconds(1));
  }
  assert.ok(two.calls(from).length <= 10, two.calls(from).join());
  assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
  await endAll(world, one, two);
});

test('an evictor that is denied once each 11 s costs no request', async () => {
  const { world, one, two } = await replicasUnderBudget({ maxUnavailable: 0 });
  await world.clock.advance(minutes(1));
  const from = world.clock.now();
  for (let at = 0; at < 20; at += 1) {
    assert.match(await one.evict('a-0'), /^4/);
    await world.clock.advance(seconds(11));
  }
  assert.deepEqual(one.calls(from), []);
  await endAll(world, one, two);
});

for (const size of [50, 1_000]) {
  test(`${size} evictions at once over two replicas, in a rollout whose writes of the ledger conflict, take one zone at most`, async () => {
    const twelve = { replicas: 12, maxUnavailable: '3' };
    const { world, two } = await ledUnderBudget({ maxUnavailable: 3 }, twelve);
    const one = await EvictionReplica.start(world, 'one');
    await world.setImage(images.new);
    await world.clock.advance(seconds(2));
    const undo = world.cluster.faults.add({
      match: { verb: 'update', resource: 'configmaps' },
      action: { kind: 'conflict' },
      probability: 0.8,
    });
    const asked = Array.from({ length: size }, (_, at) =>
      (at % 2 === 0 ? one : two).ask(`${'abc'[at % 3]}-${Math.floor(at / 3) % 12}`),
    );
    const all = await world.run(Promise.all(asked));
    undo();
    const allowed = new Set(all.filter(({ answer }) => answer === 'allowed').map(({ pod }) => pod));
    assert.ok(new Set([...allowed].map((pod) => pod[0])).size <= 1, [...allowed].join());
    assert.ok(allowed.size <= 3, [...allowed].join());
    assert.ok(
      kinds(all).every((kind) => ['allowed', '429'].includes(kind)),
      kinds(all).join(),
    );
    assert.ok(all.every(({ took }) => took <= 5_000));
    await world.untilRolled(images.new);
    assertKept(world);
    await endAll(world, one, two);
  });
}

test('a budget that vanishes and comes back under load lets no client get an answer but allowed or 429', async () => {
  const { world, one, two } = await replicasUnderBudget();
  const pods = ['a-0', 'b-0', 'c-0'];
  const askAll = (): Promise<readonly Answered[]> =>
    Promise.all(pods.flatMap((pod) => [one.ask(pod), two.ask(pod)]));
  for (let at = 0; at < 3; at += 1) {
    const asked = askAll();
    await dropBudget(world);
    const all = [...(await world.run(asked))];
    await makeBudget(world);
    all.push(...(await world.run(askAll())));
    assert.ok(
      kinds(all).every((kind) => ['allowed', '429'].includes(kind)),
      kinds(all).join(),
    );
    assert.ok((givenAway(world) ?? []).length <= 1);
  }
  await endAll(world, one, two);
});

for (const qps of [1, 5]) {
  test(`a drain of 20 evictions a second is allowed its first pod within 10 s where the operator may ask ${qps} a second`, async () => {
    const { world, one } = await replicasUnderBudget({ maxUnavailable: 0 }, { replicas: 6 });
    await dropBudget(world);
    await one.stop();
    const flags = [`-kubernetes.client-qps=${qps}`, '-kubernetes.client-burst=10'];
    const limited = await EvictionReplica.start(world, 'limited', { flags });
    limited.lead();
    await makeBudget(world);
    await world.clock.advance(seconds(15));
    const answers: string[] = [];
    for (let at = 0; at < 20 * 10; at += 1) {
      const pod = `${'abc'[at % 3]}-${at % 6}`;
      limited.ask(pod).then(
        ({ answer }) => answers.push(answer),
        (error: unknown) => answers.push(String(error)),
      );
      await world.clock.advance(seconds(0.05));
    }
    assert.ok(answers.includes('allowed'));
    await world.clock.advance(seconds(6));
    assert.ok(answers.every((answer) => answer === 'allowed' || answer.startsWith('429 ')));
    assert.equal(new Set((givenAway(world) ?? []).map((name) => name[14])).size, 1);
    await endAll(world, limited);
  });
}

test('evictions of a pod of a ReplicaSet keep no limited operator from its ledger', async () => {
  const { world, one, two } = await replicasUnderBudget();
  await makeForeignPod(world);
  const flags = ['-kubernetes.client-qps=5', '-kubernetes.client-burst=10'];
  const limited = await EvictionReplica.start(world, 'limited', { flags });
  await world.clock.advance(minutes(1));
  const foreign = Array.from({ length: 500 }, () => limited.ask('x', { name: 'of-rs' }));
  await world.clock.advance(seconds(0.1));
  assert.equal(await limited.evict('a-0'), 'allowed');
  assert.ok(!kinds(await world.run(Promise.all(foreign))).includes('allowed'));
  assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
  await endAll(world, one, two, limited);
});
