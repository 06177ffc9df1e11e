import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis } from '#base/units.ts';
import type { Asking } from '#disruption/reservation.ts';
import { standingOf } from '#disruption/standing.ts';
import { budget, request, zones } from '#support/budgets/budgeted-zones.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { T0 } from '#support/objects/views.ts';
import { StoredMap } from '#support/rollouts/stored-map.ts';
import { DisruptionLedger } from './disruption-ledger.ts';

test('who asks is answered while others come and give up before each turn of a write', async () => {
  const clock = new FakeClock(T0);
  const judged = budget();
  const standing = standingOf(judged, zones(), T0);
  const map = new StoredMap();
  const turns: (() => void)[] = [];
  map.atSend = () => new Promise<void>((resolve) => turns.push(resolve));
  const ledger = new DisruptionLedger({
    clock,
    map,
    object: 'ConfigMap test/ledger',
    budget: judged.ref,
    sawCreation: () => true,
    view: () => ({ standing, provenAt: clock.monotonic() }),
    prove: () => Promise.resolve(),
    leader: () => ({ term: 't', arePredecessorsOver: true, isIntended: () => true }),
  });
  const asking: Asking = { by: 'rollout', term: 't' };
  const answers: string[] = [];
  const asked = ledger.ask(request('a-0', { asking }), new AbortController().signal);
  const noted = asked.then(({ kind }) => answers.push(kind));
  for (let at = 0; at < 50 && answers.length === 0; at += 1) {
    const leaving = new AbortController();
    const left = ledger.ask(request('b-0'), leaving.signal).catch(() => undefined);
    await clock.advance(millis(100));
    leaving.abort(new Error('gone'));
    await left;
    for (const turn of turns.splice(0)) turn();
    await clock.advance(millis(700));
  }
  assert.deepEqual(answers, ['allowed']);
  await noted;
  ledger.close();
});
