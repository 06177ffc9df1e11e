import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { World } from '#testing/world.ts';
import { GROUP, images, NAMESPACE } from '#testing/world-group.ts';
import { budgetedWorld, dropBudget, givenAway, ledgerName, makeBudget } from '../integration/budget-stage.ts';
import { EvictionReplica, evictionOf, said } from './eviction-replica.ts';

async function stage(replicas = 3, spec: JsonObject = { maxUnavailable: 1 }) {
  const world = await budgetedWorld({ replicas, maxUnavailable: '1' });
  const one = await EvictionReplica.start(world, 'one');
  one.lead();
  const two = await EvictionReplica.start(world, 'two');
  await makeBudget(world, spec);
  await world.clock.advance(seconds(11));
  return { world, one, two };
}

async function end(world: World, ...replicas: EvictionReplica[]): Promise<void> {
  for (const each of replicas) await each.stop();
  await world.close();
}

function kinds(all: readonly { readonly decision: Parameters<typeof said>[0] }[]) {
  const seen: Record<string, number> = {};
  for (const { decision } of all) {
    const key = decision.isAllowed ? 'allowed' : String(decision.code);
    seen[key] = (seen[key] ?? 0) + 1;
  }
  return seen;
}

test('1,000 invented names: requests are few, metrics and log do not grow', async () => {
  const { world, one, two } = await stage();
  const from = world.clock.now();
  const asked = Array.from({ length: 1_000 }, (_, n) => two.ask('x', { name: `invented-${n}` }));
  const all = await world.run(Promise.all(asked));
  console.log('invented names', kinds(all), 'calls', two.calls(from).length, 'log', two.log.length);
  const spaces = Array.from({ length: 1_000 }, (_, n) =>
    two.ask('x', { name: 'x', namespace: `invented-${n}` }),
  );
  const middle = world.clock.now();
  await world.clock.advance(seconds(1));
  const other = await world.run(Promise.all(spaces));
  console.log('invented namespaces', kinds(other), 'calls', two.calls(middle + 1).length);
  const series = (await two.registry.expose()).split('\n').filter((l) => l.includes('zpdb_evic')).length;
  console.log('series', series);
  assert.ok(series < 20);
  await end(world, one, two);
});

async function makePod(world: World, name: string, owner: JsonObject | undefined, zone = 'a'): Promise<void> {
  const body = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: NAMESPACE,
      labels: { app: GROUP, zone },
      ...(owner !== undefined && { ownerReferences: [owner] }),
    },
    spec: { containers: [{ name: 'c', image: images.old }] },
  };
  await world.run(world.admin.create(resourceTypes.pods, { namespace: NAMESPACE }, { body }));
}

test('1,000 evictions of a governed pod that a ReplicaSet controls cost few requests of the client that rollouts use', async () => {
  const { world, one, two } = await stage();
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'rs-uid', controller: true };
  await makePod(world, 'of-replica-set', owner);
  await makePod(world, 'bare', undefined);
  await world.clock.advance(seconds(20));
  console.log('bare', said(await two.evict('x', { name: 'bare' })));
  console.log('rs', said(await two.evict('x', { name: 'of-replica-set' })));
  const from = world.clock.now();
  const asked = Array.from({ length: 1_000 }, () => two.ask('x', { name: 'of-replica-set' }));
  await world.clock.advance(seconds(1));
  const all = await world.run(Promise.all(asked));
  const calls = two.calls(from).length;
  console.log('replica set', kinds(all), 'calls', calls);
  assert.ok(calls <= 20, `${calls} calls`);
  await end(world, one, two);
});

test('1,000 denials in a minute cost no request but one look at the ledger each 10 s', async () => {
  const { world, one, two } = await stage();
  assert.equal(said(await one.evict('a-0')), 'allowed');
  await world.clock.advance(seconds(1));
  const from = world.clock.now();
  for (let n = 0; n < 60; n += 1) {
    const asked = Array.from({ length: 17 }, () => two.ask('b-0'));
    const all = await world.run(Promise.all(asked));
    assert.deepEqual(kinds(all), { '429': 17 });
    await world.clock.advance(seconds(1));
  }
  const counts: Record<string, number> = {};
  for (const call of two.calls(from)) counts[call] = (counts[call] ?? 0) + 1;
  console.log('denials', counts);
  assert.ok(two.calls(from).length <= 10);
  await end(world, one, two);
});

for (const size of [50, 1_000]) {
  test(`${size} evictions at once over two replicas, in a rollout, where each write of the ledger conflicts`, async () => {
    const world = await budgetedWorld({ replicas: 12, maxUnavailable: '3' });
    const leader = await world.readyOperator();
    await world.clock.advance(minutes(3));
    await makeBudget(world, { maxUnavailable: 3 });
    await world.clock.advance(seconds(11));
    const [one, two] = [
      await EvictionReplica.start(world, 'one'),
      await EvictionReplica.start(world, 'two'),
    ];
    await world.setImage(images.new);
    await world.clock.advance(seconds(2));
    let bumps = 0;
    const bump = (): void => {
      bumps += 1;
      const key = { namespace: NAMESPACE, name: ledgerName() };
      const body = { kind: 'merge', document: { metadata: { annotations: { bump: String(bumps) } } } };
      void world.admin.patch(resourceTypes.configMaps, key, { body } as never).catch(() => undefined);
    };
    const off = world.cluster.faults.add({
      match: { verb: 'update', resource: 'configmaps' },
      action: { kind: 'conflict' },
      probability: 0.8,
    });
    const from = world.clock.now();
    const asked = Array.from({ length: size }, (_, n) =>
      (n % 2 === 0 ? one : two).ask(`${'abc'[n % 3]}-${Math.floor(n / 3) % 12}`),
    );
    bump();
    const all = await world.run(Promise.all(asked));
    off();
    const allowed = all.filter(({ decision }) => decision.isAllowed).map(({ pod }) => pod);
    const slowest = Math.max(...all.map(({ took }) => took));
    const zones = new Set(allowed.map((pod) => pod[0]));
    const writes = world.cluster.eventLog.calls.filter(
      ({ verb, resource, startedAt }) =>
        verb === 'update' && resource === 'configmaps' && startedAt >= from,
    ).length;
    console.log(size, kinds(all), 'zones', zones, 'pods', new Set(allowed).size, 'slowest', slowest, 'writes', writes, 'ledger', givenAway(world));
    assert.ok(zones.size <= 1);
    assert.ok(new Set(allowed).size <= 3);
    assert.deepEqual(Object.keys(kinds(all)).filter((k) => k !== 'allowed' && k !== '429'), []);
    assert.ok(slowest <= 5_000);
    await world.untilRolled(images.new);
    console.log(leader.client, world.judge().violations?.length ?? world.judge());
    await end(world, one, two);
  });
}

test('the same uid asked at once at both replicas is allowed at both, and reserved once', async () => {
  const { world, one, two } = await stage();
  const all = await world.run(
    Promise.all([one.ask('a-0'), two.ask('a-0'), one.ask('a-0'), two.ask('a-0')]),
  );
  console.log(all.map(({ decision }) => said(decision)), givenAway(world));
  assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
  await end(world, one, two);
});

test('a restart in the middle of a storm forgets nothing (BUDG-1)', async () => {
  const { world, one, two } = await stage(6, { maxUnavailable: 2 });
  const first = ['a-0', 'b-0', 'a-1', 'c-0', 'a-2', 'a-3'].map((pod) => one.ask(pod));
  const told = new Set<string>();
  void Promise.allSettled(first.map(async (each) => {
    const { decision, pod } = await each;
    if (decision.isAllowed) told.add(pod);
  }));
  await world.clock.advance(seconds(0.001));
  one.kill();
  const three = await EvictionReplica.start(world, 'three');
  const rest = await world.run(
    Promise.all(['b-0', 'c-1', 'a-1', 'a-4', 'a-5'].flatMap((pod) => [two.ask(pod), three.ask(pod)])),
  );
  for (const { decision, pod } of rest) if (decision.isAllowed) told.add(pod);
  console.log('storm', [...told], givenAway(world));
  assert.ok(told.size <= 2);
  await end(world, two, three);
});

test('a budget that vanishes and comes back under load answers allowed or 429 only', async () => {
  const { world, one, two } = await stage();
  for (let n = 0; n < 3; n += 1) {
    const asked = ['a-0', 'b-0', 'c-0'].flatMap((pod) => [one.ask(pod), two.ask(pod)]);
    await dropBudget(world);
    const all = await world.run(Promise.all(asked));
    console.log(kinds(all));
    await makeBudget(world);
    const again = await world.run(
      Promise.all(['a-0', 'b-0', 'c-0'].flatMap((pod) => [one.ask(pod), two.ask(pod)])),
    );
    console.log(kinds(again), again.map(({ decision }) => said(decision))[0]);
  }
  await end(world, one, two);
});

test('an Eviction that demands another uid is not given a reservation that keeps other zones', async () => {
  const { world, one, two } = await stage();
  const object = { deleteOptions: { preconditions: { uid: 'of-another-pod' } } } as never;
  console.log('precondition', said(await two.evict('a-0', { object })), givenAway(world));
  console.log(evictionOf('a-0', { object }).name);
  assert.deepEqual(givenAway(world), []);
  await end(world, one, two);
});
