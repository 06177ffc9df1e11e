import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { World } from '#testing/world.ts';
import { NAMESPACE, GROUP, images } from '#testing/world-group.ts';
import { budgetedWorld, damageLedger, givenAway, ledgerName, makeBudget } from '../integration/budget-stage.ts';
import { EvictionReplica, said } from './eviction-replica.ts';

async function stage(replicas = 3) {
  const world = await budgetedWorld({ replicas, maxUnavailable: '1' });
  const one = await EvictionReplica.start(world, 'one');
  const two = await EvictionReplica.start(world, 'two');
  return { world, one, two };
}

async function end(world: World, ...replicas: EvictionReplica[]): Promise<void> {
  for (const each of replicas) await each.stop();
  await world.close();
}

function ledgerText(world: World): string {
  return JSON.stringify(world.stored('configmaps', ledgerName()) ?? 'none');
}

test('[D-34] a ledger that was missing once, then stood, and is deleted, is waited for anew', async () => {
  const { world, one, two } = await stage();
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  // Nobody leads yet: there is no ledger, and nothing is given away.
  assert.match(said(await two.evict('b-0')), /^429 /);
  // One leads only for a budget that it saw being made: here it waits 120 s, and gives a-0 away.
  assert.match(said(await one.evict('a-0')), /^429 /);
  await world.clock.advance(seconds(120.5));
  assert.equal(said(await one.evict('a-0')), 'allowed');
  await damageLedger(world, 'deleted');
  const answer = said(await two.evict('b-0'));
  console.log('lost:', answer);
  assert.match(answer, /^429 /);
  await end(world, one, two);
});

test('[D-34] the same where the leader made the ledger of a new budget at once', async () => {
  const { world, one, two } = await stage();
  one.lead();
  world.cluster.faults.add({
    match: { client: 'one', verb: 'create', resource: 'configmaps' },
    action: { kind: 'delay', delay: seconds(2) },
    count: 1,
  });
  const made = makeBudget(world);
  await made;
  await world.clock.advance(seconds(0.5));
  assert.match(said(await two.evict('b-0')), /^429 /);
  await world.clock.advance(seconds(118));
  assert.equal(said(await one.evict('a-0')), 'allowed');
  await damageLedger(world, 'deleted');
  await world.clock.advance(seconds(2));
  const answer = said(await two.evict('b-0'));
  console.log('lost, leader:', answer);
  assert.match(answer, /^429 /);
  await end(world, one, two);
});

test('dry runs never change the ledger, nor make one', async () => {
  const { world, one, two } = await stage();
  one.lead();
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  assert.equal(said(await one.evict('a-0')), 'allowed');
  await world.clock.advance(seconds(40));
  const before = ledgerText(world);
  const kubectl = (dryRun: unknown) => ({
    object: { deleteOptions: { dryRun } } as never,
  });
  assert.equal(said(await two.evict('a-0', { isDryRun: true })), 'allowed');
  assert.equal(said(await two.evict('a-1', { isDryRun: true })).slice(0, 3), '429');
  console.log('kubectl a-0', said(await two.evict('a-0', kubectl('["All"]'))));
  await world.clock.advance(seconds(100));
  assert.equal(said(await two.evict('b-0', { isDryRun: true })), 'allowed');
  await world.clock.advance(seconds(2));
  console.log(before === ledgerText(world) ? 'same' : `${before}\n${ledgerText(world)}`);
  await end(world, one, two);
});

test('the deadline passes while the write is under way: nobody is told, and the permission ends within 130 s', async () => {
  const { world, one, two } = await stage();
  one.lead();
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  world.cluster.faults.add({
    match: { client: 'one', verb: 'update', resource: 'configmaps' },
    action: { kind: 'delay', delay: seconds(6), when: 'after' },
    count: 1,
  });
  const told = await world.run(one.ask('a-0'));
  console.log('deadline:', said(told.decision), told.took, givenAway(world));
  assert.match(said(told.decision), /^429 /);
  assert.ok(told.took <= 5_000);
  let waited = 0;
  while (said(await two.evict('b-0')) !== 'allowed' && waited < 400) {
    await world.clock.advance(seconds(5));
    waited += 5;
  }
  console.log('free after', waited);
  assert.ok(waited <= 130);
  await end(world, one, two);
});

test('[LOAD-3] API server at +500 ms, 20 % errors, 60 s unreachable, and back: every answer is allowed or 429, in time', async () => {
  const { world, one, two } = await stage(6);
  one.lead();
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  const phases = [
    { name: '+500 ms', action: { kind: 'delay', delay: seconds(0.5) }, probability: 1, span: 30 },
    { name: '20 % errors', action: { kind: 'error', code: 500 }, probability: 0.2, span: 30 },
    { name: 'unreachable', action: { kind: 'delay', delay: seconds(100_000) }, probability: 1, span: 60 },
    { name: 'back', action: undefined, probability: 1, span: 30 },
  ] as const;
  for (const { name, action, probability, span } of phases) {
    const off = ['one', 'two'].map((client) =>
      action === undefined
        ? () => undefined
        : world.cluster.faults.add({ match: { client }, action: action as never, probability }),
    );
    const seen = new Map<string, number>();
    let slowest = 0;
    let firstAllowed = -1;
    const begun = world.clock.now();
    for (let at = 0; at < span; at += 1) {
      const asked = [one, two].flatMap((replica) =>
        ['a-0', 'a-1', 'b-0', 'c-3'].map((pod) => replica.ask(pod)),
      );
      await world.clock.advance(seconds(1));
      void Promise.all(asked).then((all) => {
        for (const { decision, took } of all) {
          slowest = Math.max(slowest, took);
          const key = decision.isAllowed ? 'allowed' : String(decision.code);
          if (decision.isAllowed && firstAllowed < 0) firstAllowed = world.clock.now() - begun;
          seen.set(key, (seen.get(key) ?? 0) + 1);
        }
      });
    }
    await world.clock.advance(seconds(6));
    for (const stop of off) stop();
    console.log(name, Object.fromEntries(seen), 'slowest', slowest, 'first allowed', firstAllowed);
    assert.ok([...seen.keys()].every((key) => key === 'allowed' || key === '429'));
    assert.ok(slowest <= 5_000);
  }
  await end(world, one, two);
});

test('ConfigMaps are forbidden: 429 with a cause, and few calls', async () => {
  const { world, one, two } = await stage();
  one.lead();
  world.cluster.faults.add({
    match: { resource: 'configmaps', client: 'two' },
    action: { kind: 'error', code: 403 },
  });
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  const from = world.clock.now();
  for (let n = 0; n < 20; n += 1) {
    const asked = Array.from({ length: 10 }, () => two.ask('a-0'));
    await world.clock.advance(seconds(0.5));
    for (const { decision } of await world.run(Promise.all(asked))) {
      assert.match(said(decision), /^429 /);
      if (n === 0) console.log(said(decision), JSON.stringify(decision));
    }
  }
  const calls = two.calls(from);
  console.log('calls for 200 evictions while forbidden:', calls.length, new Set(calls));
  console.log(two.log.slice(-3).map((l) => l.message), two.log.length);
  await end(world, one, two);
});

test('[R16] a native budget that refuses after our allow blocks for 130 s at most', async () => {
  const { world, one, two } = await stage();
  one.lead();
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  assert.equal(said(await one.evict('a-0')), 'allowed');
  // The drainer goes on to ask for a-0 every 5 s for 5 minutes, refused elsewhere each time; then gives up.
  for (let at = 0; at < 60; at += 1) {
    await world.clock.advance(seconds(5));
    await one.evict('a-0');
  }
  let waited = 0;
  while (said(await two.evict('b-0')) !== 'allowed' && waited < 600) {
    await world.clock.advance(seconds(5));
    waited += 5;
  }
  console.log('after the last retry of a-0, b-0 waits', waited);
  assert.ok(waited <= 130);
  await end(world, one, two);
});

test('[LIVE-4] where replicas share the retries of an evictor whose eviction others refuse', async () => {
  const { world, one, two } = await stage();
  one.lead();
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  const both = [one, two];
  assert.equal(said(await one.evict('a-0')), 'allowed');
  let waited = 0;
  for (let n = 0; said(await both[n % 2]!.evict('b-0')) !== 'allowed' && waited < 600; n += 1) {
    await world.clock.advance(seconds(5));
    waited += 5;
  }
  console.log('shared retries', waited);
  assert.ok(waited <= 130);
  await end(world, one, two);
});

test('a rollout is not kept for ever by forged reviews of 1 KB, one each 30 s', async () => {
  const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1' });
  const leader = await world.readyOperator();
  await world.clock.advance(minutes(3));
  await makeBudget(world);
  await world.clock.advance(seconds(11));
  const two = await EvictionReplica.start(world, 'two');
  assert.equal(said(await two.evict('c-0')), 'allowed');
  await world.setImage(images.new);
  let forged = 0;
  let allowed = 0;
  for (let at = 0; at < 60; at += 1) {
    forged += 1;
    if (said(await two.evict('c-0')) === 'allowed') allowed += 1;
    await world.clock.advance(seconds(30));
  }
  const deleted = world.cluster.eventLog.commits.filter(
    ({ resource, verb }) => resource === 'pods' && verb === 'delete',
  ).length;
  console.log('forged', forged, 'allowed', allowed, 'pods deleted in 30 min', deleted, leader.client);
  assert.ok(deleted > 0);
  await two.stop();
  await world.close();
});
