/** What planted bugs showed that no test near them asserts; all of this holds today. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { minutes, type Monotonic, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { World } from '#testing/world.ts';
import { GROUP, images, NAMESPACE, setOf } from '#testing/world-group.ts';
import {
  budgetedWorld,
  damageLedger,
  dropBudget,
  givenAway,
  ledgerName,
  makeBudget,
} from '../integration/budget-stage.ts';
import { EvictionReplica, said } from './eviction-replica.ts';

const budgets = resourceTypes.zoneAwarePodDisruptionBudgets;

async function stage(spec: JsonObject = { maxUnavailable: 1 }) {
  const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1' });
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

test('a dry run is judged by the ledger, and gives nothing away (judged-dry-run-reserves)', async () => {
  const { world, one, two } = await stage();
  const before = JSON.stringify(world.stored('configmaps', ledgerName()));
  assert.equal(said(await two.evict('a-0', { isDryRun: true })), 'allowed');
  const object = { deleteOptions: { dryRun: '["All"]' } };
  assert.equal(said(await two.evict('b-0', { object })), 'allowed');
  assert.equal(JSON.stringify(world.stored('configmaps', ledgerName())), before);
  await end(world, one, two);
});

test('a governed pod of a ReplicaSet is refused for good (owner-of-another-kind-waited-for)', async () => {
  const { world, one, two } = await stage();
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'u', controller: true };
  const body = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'of-rs', namespace: NAMESPACE, labels: { app: GROUP }, ownerReferences: [owner] },
    spec: { containers: [{ name: 'c', image: images.old }] },
  };
  await world.run(world.admin.create(resourceTypes.pods, { namespace: NAMESPACE }, { body }));
  await world.clock.advance(seconds(20));
  assert.match(
    said(await two.evict('x', { name: 'of-rs' })),
    /^403 pod owner is not a StatefulSet - of-rs has owner rs \(ReplicaSet\)/,
  );
  await end(world, one, two);
});

test('while budgets cannot be read nothing passes (unproven-namespace-passes)', async () => {
  const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1' });
  world.cluster.faults.add({
    match: { client: 'two', resource: 'zoneawarepoddisruptionbudgets' },
    action: { kind: 'error', code: 503 },
  });
  const two = await EvictionReplica.start(world, 'two');
  assert.match(said(await two.evict('a-0')), /^429 /);
  await end(world, two);
});

test('a set that is not seen yet governs its pods all the same (unseen-set-governs-nothing)', async () => {
  const { world, one, two } = await stage();
  for (const each of world.cluster.faults.watches({ client: 'two' })) {
    if (each.options.resource?.startsWith('statefulsets') === true) each.pause();
  }
  const at = { namespace: NAMESPACE, name: 'ingester-zone-d' };
  const body = setOf({ zone: 'd' }, { replicas: 2 });
  await world.run(world.admin.create(resourceTypes.statefulSets, at, { body }));
  await world.clock.advance(seconds(20));
  assert.match(said(await two.evict('d-0')), /^429 /);
  await end(world, one, two);
});

test('a limit that is lowered counts for a ledger that is open (limit-of-a-budget-kept)', async () => {
  const { world, one, two } = await stage({ maxUnavailable: 2 });
  assert.equal(said(await two.evict('a-0')), 'allowed');
  const body = { kind: 'merge', document: { spec: { maxUnavailable: 1 } } } as const;
  const key = { namespace: NAMESPACE, name: GROUP };
  await world.run(world.admin.patch(budgets, key, { body } as never));
  await world.clock.advance(seconds(1));
  assert.match(said(await two.evict('a-1')), /^429 /);
  await end(world, one, two);
});

test('the ledger of a new budget is looked at again where the first look failed (new-ledger-looked-at-once)', async () => {
  const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1' });
  const one = await EvictionReplica.start(world, 'one');
  one.lead();
  world.cluster.faults.add({
    match: { client: 'one', verb: 'get', resource: 'configmaps' },
    action: { kind: 'error', code: 403 },
    count: 1,
  });
  await makeBudget(world);
  await world.clock.advance(seconds(9));
  assert.deepEqual(givenAway(world), []);
  await end(world, one);
});

test('a ledger whose budget is gone is written no more (closed-ledger-tidies-on)', async () => {
  const { world, one, two } = await stage();
  assert.equal(said(await one.evict('a-0')), 'allowed');
  await dropBudget(world);
  await world.clock.advance(seconds(1));
  const from = world.clock.now();
  await world.clock.advance(minutes(5));
  assert.deepEqual(one.calls(from, ['update', 'get', 'list', 'create']), []);
  await end(world, one, two);
});

test('who does not lead any more begins no ledger (rollout-asks-in-no-term-after-resign)', async () => {
  const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1' });
  const one = await EvictionReplica.start(world, 'one');
  one.lead();
  one.budgets.authority.resign();
  await makeBudget(world);
  await world.clock.advance(seconds(5));
  await one.evict('a-0');
  assert.equal(givenAway(world), undefined);
  await end(world, one);
});

test('a leader does not void the intents of an earlier term before that is waited out (predecessors-always-over)', async () => {
  const { world, one, two } = await stage();
  const pod = one.budgets.authority.evictions.pod(NAMESPACE, 'ingester-zone-a-0');
  assert.ok(pod);
  one.budgets.authority.wants('demo/ingester', new Set([pod.uid]));
  const wanted = [{ pod, by: 'rollout', maxUnavailable: 1 }] as never;
  await world.run(one.budgets.authority.ask(wanted, new AbortController().signal));
  assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
  one.budgets.authority.resign();
  two.budgets.authority.lead({
    term: 'the next',
    predecessorsOverAt: (two.clock.monotonic() + 120_000) as Monotonic,
  });
  await world.clock.advance(seconds(30));
  assert.match(said(await two.evict('b-0')), /^429 /);
  assert.deepEqual(givenAway(world), ['ingester-zone-a-0']);
  await damageLedger(world, {});
  await end(world, one, two);
});
