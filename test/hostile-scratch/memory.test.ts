import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { DisruptionLedger } from '#control/disruption-ledger.ts';
import { standingOf } from '#disruption/standing.ts';
import { budget, partitions, request, zones } from '#testing/budgeted-zones.ts';
import { FakeClock } from '#testing/fake-clock.ts';
import { StoredMap } from '#testing/stored-map.ts';
import { T0 } from '#testing/views.ts';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;
const heap = () => {
  gc();
  return process.memoryUsage().heapUsed / 2 ** 20;
};

test('10,000 governed pods, 2,000 given away, 20,000 denials: what stays in memory', async () => {
  const zone = { spec: { replicas: 3_334 } };
  const snapshot = zones({ a: zone, b: zone, c: zone });
  const given = budget({ mode: partitions() });
  const before = heap();
  const standing = standingOf(given, snapshot, T0);
  const after = heap();
  const clock = new FakeClock(T0);
  const ledger = new DisruptionLedger({
    clock,
    map: new StoredMap(),
    object: 'x',
    budget: given.ref,
    sawCreation: () => true,
    view: () => ({ standing, provenAt: clock.monotonic() }),
    prove: () => Promise.resolve(),
    leader: () => ({ term: 't', arePredecessorsOver: true, isIntended: () => true }),
  });
  const never = new AbortController();
  await Promise.all(Array.from({ length: 2_000 }, (_, n) => ledger.ask(request(`a-${n}`), never.signal)));
  const granted = heap();
  for (let n = 0; n < 10; n += 1) {
    await Promise.all(Array.from({ length: 2_000 }, (_, m) => ledger.ask(request(`b-${m}`), never.signal)));
  }
  const denied = heap();
  console.log({ standing: after - before, granted: granted - after, denied: denied - granted });
  assert.ok(denied - granted < 5);
  assert.ok(standing.places.size > 10_000);
  ledger.close();
});
