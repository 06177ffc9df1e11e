/** Those who leave while a write waits for its turn must not keep those who stay. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, minutes, seconds } from '#base/units.ts';
import type { Asking } from '#disruption/reservation.ts';
import { budgetedWorld, givenAway, makeBudget } from '../integration/budget-stage.ts';
import { EvictionReplica, said } from './eviction-replica.ts';
import { DisruptionLedger } from '#control/disruption-ledger.ts';
import { standingOf } from '#disruption/standing.ts';
import { budget, request, zones } from '#testing/budgeted-zones.ts';
import { FakeClock } from '#testing/fake-clock.ts';
import { StoredMap } from '#testing/stored-map.ts';
import { T0 } from '#testing/views.ts';

test('a rollout gets its permission while evictors come and go, where each write waits 200 ms for its turn', async () => {
  const clock = new FakeClock(T0);
  const given = budget();
  const standing = standingOf(given, zones(), T0);
  const stored = new StoredMap();
  const turns: (() => void)[] = [];
  stored.atSend = () => new Promise<void>((resolve) => turns.push(resolve));
  const ledger = new DisruptionLedger({
    clock,
    map: stored,
    object: 'x',
    budget: given.ref,
    sawCreation: () => true,
    view: () => ({ standing, provenAt: clock.monotonic() }),
    prove: () => Promise.resolve(),
    leader: () => ({ term: 't', arePredecessorsOver: true, isIntended: () => true }),
  });
  const asking: Asking = { by: 'rollout', term: 't' };
  let isAnswered = false;
  void ledger.ask(request('a-0', { asking }), new AbortController().signal).then(() => {
    isAnswered = true;
  });
  const settle = async () => {
    for (let n = 0; n < 50; n += 1) await Promise.resolve();
  };
  let attempts = 0;
  for (let n = 0; n < 50 && !isAnswered; n += 1) {
    // One who evicts b-0, which is denied, and gives up before the turn comes.
    const leaving = new AbortController();
    void ledger.ask(request('b-0'), leaving.signal).catch(() => undefined);
    await settle();
    leaving.abort(new Error('gone'));
    await settle();
    for (const turn of turns.splice(0)) {
      attempts += 1;
      turn();
    }
    await settle();
    await clock.advance(millis(700));
  }
  console.log('answered', isAnswered, 'after attempts', attempts, stored.calls.length);
  assert.ok(isAnswered, `not in ${attempts} turns`);
  ledger.close();
});

for (const ahead of [seconds(30), seconds(60), minutes(5)]) {
  test(`[BUDG-4] a process that starts with a clock ${ahead / 1000} s ahead holds a permission for 120 s`, async () => {
    const world = await budgetedWorld({ replicas: 3, maxUnavailable: '1' });
    const one = await EvictionReplica.start(world, 'one');
    one.lead();
    await makeBudget(world);
    await world.clock.advance(seconds(11));
    assert.equal(said(await one.evict('a-0')), 'allowed');
    const three = await EvictionReplica.start(world, 'three');
    three.clock.step(ahead);
    let held = 1;
    while (said(await three.evict('b-0')) !== 'allowed') {
      await world.clock.advance(seconds(5));
      held += 5;
    }
    console.log('ahead', ahead, 'held for', held, givenAway(world));
    await one.stop();
    await three.stop();
    await world.close();
    assert.ok(held >= 119, `${held} s`);
  });
}
