/** CPU of denials and grants, at the size that LOAD-5 names, with the ledger as full as it gets. */
import assert from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { test } from 'node:test';
import { DisruptionLedger } from '#control/disruption-ledger.ts';
import { standingOf } from '#disruption/standing.ts';
import { budget, partitions, request, textOf, zones } from '#testing/budgeted-zones.ts';
import { FakeClock } from '#testing/fake-clock.ts';
import { StoredMap } from '#testing/stored-map.ts';
import { T0 } from '#testing/views.ts';

const never = new AbortController().signal;

function ledgerOver(replicas: number) {
  const clock = new FakeClock(T0);
  const zone = { spec: { replicas } };
  const snapshot = zones({ a: zone, b: zone, c: zone });
  const given = budget({ mode: partitions() });
  const standing = standingOf(given, snapshot, T0);
  const stored = new StoredMap();
  return {
    clock,
    stored,
    ledger: new DisruptionLedger({
      clock,
      map: stored,
      object: 'ConfigMap ops/ledger',
      budget: given.ref,
      sawCreation: () => true,
      view: () => ({ standing, provenAt: clock.monotonic() }),
      prove: () => Promise.resolve(),
      leader: () => ({ term: 't', arePredecessorsOver: true, isIntended: () => true }),
      begun: () => [],
    }),
  };
}

const cpu = (before = process.cpuUsage()) => {
  const { user, system } = process.cpuUsage(before);
  return user + system;
};

for (const [replicas, reserved] of [
  [100, 0],
  [3_334, 0],
  [3_334, 100],
  [3_334, 1_000],
  [3_334, 3_000],
] as const) {
  test(`3 × ${replicas} pods, ${reserved} given away: a denial that comes alone takes less than 1 ms of CPU`, async () => {
    const { ledger, stored } = ledgerOver(replicas);
    const first = await Promise.all(
      Array.from({ length: reserved + 1 }, (_, n) => ledger.ask(request(`a-${n}`), never)),
    );
    const given = first.filter(({ kind }) => kind === 'allowed').length;
    const rounds = 300;
    const run = async () => {
      const before = process.cpuUsage();
      let longest = 0;
      for (let n = 0; n < rounds; n += 1) {
        const at = performance.now();
        const answer = await ledger.ask(request(`b-${n % given}`), never);
        longest = Math.max(longest, performance.now() - at);
        assert.equal(answer.kind, 'denied');
      }
      return { each: Math.round(cpu(before) / rounds), longest: Math.round(longest) };
    };
    await run();
    const denial = await run();
    // What changes nothing is denied; what is given costs a write.
    const before = process.cpuUsage();
    const granted = await ledger.ask(request(`a-${replicas - 1}`), never);
    const grant = cpu(before);
    const burst = process.cpuUsage();
    const at = performance.now();
    await Promise.all(
      Array.from({ length: 5_000 }, (_, n) => ledger.ask(request(`b-${n % given}`), never)),
    );
    const stall = performance.now() - at;
    console.log(
      `pods ${3 * replicas}, given ${given}: denial ${denial.each} µs (longest ${denial.longest} ms), grant ${grant} µs (${granted.kind === 'unclear' || granted.kind === 'unproven' ? granted.kind : textOf(granted)}), 5,000 at once ${Math.round(cpu(burst) / 5_000)} µs each, in one turn of ${Math.round(stall)} ms; ledger ${JSON.stringify([...stored.texts]).length} bytes`,
    );
    assert.ok(denial.each < 1_000, `${denial.each} µs`);
    assert.ok(stall < 200, `${stall} ms`);
  });
}
