/** How old the view of budgets is, and how it is made new. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BudgetBench } from '#support/budgets/budget-bench.ts';
import { refusal } from '#support/rollouts/group-world.ts';

const notRead = 'ZoneAwarePodDisruptionBudgets cannot be read yet, and one might govern this pod';

test('BudgetsInView are proven by a list of the namespace, from its sending, for as long as it is the newest (D-51)', async () => {
  const bench = new BudgetBench();
  const { server } = bench;
  assert.equal(bench.provenAt(), 'unproven');
  server.put();
  await server.clock.advance(200);
  server.atSend = () => server.clock.advance(300);
  server.after = () => server.clock.advance(400);
  await bench.look();
  assert.deepEqual(server.requests, ['zoneawarepoddisruptionbudgets of test']);
  assert.equal(bench.provenAt(), 500);
  assert.equal(bench.provenAt('other'), 'unproven', 'the cache has not reached the list');
  server.show();
  assert.equal(bench.provenAt('other'), 500, 'the cache has');
  await server.clock.advance(1_000);
  server.relist();
  assert.equal(bench.provenAt(), 1_900);
});

test('BudgetsInView prove nothing by a list that fails', async () => {
  const bench = new BudgetBench();
  bench.server.after = () => {
    throw refusal(503);
  };
  await assert.rejects(bench.look(), { name: 'ApiError' });
  assert.equal(bench.provenAt(), 'unproven');
});

test('BudgetsInView trust no list that is older than what the cache had been shown before it was sent (D-6)', async () => {
  const bench = new BudgetBench();
  bench.server.informer.freshness.delivered('5000');
  await bench.server.clock.advance(1);
  await assert.rejects(bench.look(), { name: 'RevisionWentBackError' });
  assert.equal(bench.provenAt(), 'unproven');
});

test('BudgetsInView trust no list that is older than what a write of ours was answered with', async () => {
  const bench = new BudgetBench();
  const { clock, informer } = bench.server;
  informer.freshness.ownWrite({ sentAt: clock.monotonic(), before: '1', answered: '5000' });
  await clock.advance(1);
  await assert.rejects(bench.look(), { name: 'LaggingReadError' });
  assert.equal(bench.provenAt(), 'unproven');
});

test('BudgetsInView are proven by a server without the type, which may be installed later (D-51)', async () => {
  const bench = new BudgetBench();
  const { server } = bench;
  server.isInstalled = false;
  await bench.look();
  assert.deepEqual([bench.provenAt(), bench.governing()], [0, 'none']);
  server.isInstalled = true;
  server.put();
  await server.clock.advance(10);
  await bench.look();
  assert.deepEqual([bench.provenAt(), bench.governing()], [10, 'ingester ingester-uid 1']);
});

test('BudgetsInView check whether a type that was absent is there now, and list it before its cache does', async () => {
  const bench = new BudgetBench();
  const { server } = bench;
  const { informer } = server;
  server.uninstall();
  assert.deepEqual([bench.provenAt(), bench.governing()], [0, 'none']);
  await server.clock.advance(10);
  informer.onLook = () => {
    informer.absence = { provenAt: server.clock.monotonic() };
  };
  await bench.look();
  assert.deepEqual([bench.provenAt(), server.requests], [10, []]);
  await server.clock.advance(10);
  informer.onLook = () => {
    informer.absence = undefined;
    informer.hasSynced = false;
    informer.tellState();
  };
  server.isInstalled = true;
  server.put();
  await bench.look();
  assert.deepEqual([bench.provenAt(), bench.governing()], [20, 'ingester ingester-uid 1']);
});

test('BudgetsInView know nothing of a type that went and came again until it is read', async () => {
  const bench = new BudgetBench();
  const { server } = bench;
  server.put();
  await bench.look();
  await server.clock.advance(10);
  server.uninstall();
  assert.deepEqual([bench.provenAt(), bench.governing()], [10, 'none']);
  server.informer.absence = undefined;
  server.informer.hasSynced = false;
  server.informer.tellState();
  assert.deepEqual([bench.provenAt(), bench.governing()], ['unproven', notRead]);
});

test('BudgetsInView share one list among all who ask before it is sent, and none that was sent before', async () => {
  const bench = new BudgetBench();
  const { server } = bench;
  server.atSend = () => server.clock.yield();
  const held = Promise.withResolvers<void>();
  server.after = () => held.promise;
  const first = [bench.look(), bench.look(), bench.look()];
  await server.clock.settle();
  assert.equal(server.requests.length, 1);
  server.put();
  const later = [bench.look(), bench.look()];
  held.resolve();
  await Promise.all(first);
  assert.equal(bench.governing(), 'none');
  await Promise.all(later);
  assert.equal(server.requests.length, 2);
  assert.equal(bench.governing(), 'ingester ingester-uid 1');
});

test('BudgetsInView are not set back by a list that was answered late', async () => {
  const bench = new BudgetBench();
  const { server } = bench;
  const held = Promise.withResolvers<void>();
  server.after = () => held.promise;
  const hanging = bench.look();
  await server.clock.settle();
  server.after = () => undefined;
  server.put();
  const beside = bench.look();
  await server.clock.advance(1_000);
  await beside;
  assert.equal(bench.provenAt(), 1_000);
  held.resolve();
  await hanging;
  assert.deepEqual([bench.provenAt(), bench.governing()], [1_000, 'ingester ingester-uid 1']);
});

test('BudgetsInView know what the newer of two lists showed, although the other was sent after it', async () => {
  const bench = new BudgetBench();
  const { server } = bench;
  const held = Promise.withResolvers<void>();
  server.before = () => held.promise;
  const slow = bench.look();
  await server.clock.settle();
  server.before = () => undefined;
  // The cache has reached neither.
  server.put({ namespace: 'other' });
  const beside = bench.look();
  await server.clock.advance(1_000);
  await beside;
  server.put();
  held.resolve();
  await slow;
  assert.deepEqual([bench.provenAt(), bench.governing()], [1_000, 'ingester ingester-uid 1']);
});

test('BudgetsInView know what a list showed as soon as its proof is known, whichever pass asked for it (D-49)', async () => {
  const bench = new BudgetBench();
  const { server } = bench;
  server.put();
  let pair: readonly unknown[] = [];
  const watching = (async () => {
    while (bench.provenAt() === 'unproven') await Promise.resolve();
    pair = [bench.provenAt(), bench.governing()];
  })();
  await Promise.all([bench.look(), watching]);
  assert.deepEqual(pair, [0, 'ingester ingester-uid 1']);
});
