/** StatefulsetRollouts whose operator is killed, or halted, before or after any of its writes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, seconds } from '#base/units.ts';
import { PausableClock } from '#support/clocks/pausable-clock.ts';
import { gateNumbers } from '#support/extent.ts';
import { PercentStage } from './percent-stage.ts';

/** A set of four ready pods on `db:1`. */
async function settled(clock?: (stage: PercentStage) => PausableClock): Promise<PercentStage> {
  const stage = await PercentStage.open();
  stage.start(clock?.(stage));
  await stage.create('db:1');
  await stage.ended();
  return stage;
}

const writes = /^(?:create|update|patch|delete)$/;

/** What `operator-1` sent to change anything, but for its Lease and Events. */
function writesOf(stage: PercentStage): PercentStage['env']['cluster']['eventLog']['calls'] {
  return stage.env.cluster.eventLog.calls.filter(
    ({ user, verb, resource }) =>
      user === 'operator-1' && writes.test(verb) && !/^(?:leases|events)\b/.test(resource),
  );
}

/** Each incarnation that was evicted, and how often. */
function assertEachOnce(stage: PercentStage, what: string): void {
  const { commits } = stage.env.cluster.eventLog;
  const gone = new Map<string, number>();
  for (const { resource, name, before, after } of commits) {
    if (resource !== 'pods' || before === undefined || after !== undefined) continue;
    gone.set(name, (gone.get(name) ?? 0) + 1);
  }
  const twice = [...gone].filter(([, count]) => count > 1).map(([name]) => `${what}: ${name}`);
  assert.deepEqual(twice, []);
}

/** Which writes there are, and how many of each a rollout of four pods has at least. */
const points = [
  { resource: 'statefulsetrollouts', verb: 'update', least: 5 },
  { resource: 'statefulsets', verb: 'patch', least: 1 },
  { resource: 'pods', verb: 'create', least: 4 },
] as const;
const occasions = points.flatMap((point) => [
  { ...point, when: 'before' as const },
  { ...point, when: 'after' as const },
]);

for (const [at, { when, resource, verb, least }] of occasions.entries()) {
  test(`an operator that is killed ${when} any ${verb} of ${resource} is followed by one that evicts no pod twice [T-37, T-48]`, async () => {
    let killed = 0;
    const numbers = gateNumbers(least + 2, 2, 1 + (at % 2));
    for (const nth of numbers) {
      const stage = await settled();
      const [first] = stage.running;
      const match = { user: 'operator-1', verb, resource };
      const { faults } = stage.env.cluster;
      let isDead = false;
      const die = (): void => {
        isDead = true;
        // What had left and not arrived arrives 20 s later.
        first?.die(seconds(20));
      };
      if (when === 'before') faults.beforeWrite(match, nth, die);
      else faults.afterWrite(match, nth, die);
      await stage.edit({ statefulset: stage.carried('db:2') });
      await stage.until('it is dead, or done', () => isDead || stage.phase() === 'RolloutDone');
      if (isDead) killed += 1;
      stage.start();
      await stage.ended();
      const what = `killed ${when} ${verb} ${nth} of ${resource}`;
      assert.deepEqual(stage.images(), ['db:2', 'db:2', 'db:2', 'db:2'], what);
      assertEachOnce(stage, what);
      assert.ok(stage.mostDown() <= 2, `${what}: ${stage.mostDown()} away`);
      await stage.close();
    }
    assert.ok(killed >= numbers.filter((nth) => nth <= least).length, `${killed}`);
  });
}

for (const { resource, verb, least } of points) {
  test(`a leader that is halted after any ${verb} of ${resource} changes nothing once another one may lead [SPLIT-1]`, async () => {
    let halted = 0;
    const numbers = gateNumbers(least + 1, 2);
    for (const nth of numbers) {
      let clock: PausableClock | undefined;
      const stage = await settled(({ env }) => {
        clock = new PausableClock(env.clock);
        return clock;
      });
      stage.start();
      let haltedAfter = Number.POSITIVE_INFINITY;
      const match = { user: 'operator-1', verb, resource };
      stage.env.cluster.faults.afterWrite(match, nth, () => {
        haltedAfter = stage.env.clock.monotonic();
        clock?.pause(seconds(60));
      });
      await stage.edit({ statefulset: stage.carried('db:2') });
      await stage.ended();
      const start = stage.env.clock.now() - stage.env.clock.monotonic();
      const late = writesOf(stage).filter(({ startedAt }) => startedAt - start > haltedAfter);
      assert.deepEqual(
        late.map((call) => `halted at ${verb} ${nth}: ${call.verb} ${call.resource} ${call.name}`),
        [],
      );
      assert.ok(stage.mostDown() <= 2);
      assertEachOnce(stage, `halted at ${nth}`);
      if (haltedAfter < Number.POSITIVE_INFINITY) halted += 1;
      await stage.close();
    }
    assert.ok(halted >= numbers.filter((nth) => nth <= least).length, `${halted}`);
  });
}

test('an eviction that arrives twice lets no pod of the new version go', async () => {
  const stage = await settled();
  stage.env.cluster.faults.add({
    match: { user: 'operator-1', verb: 'create', resource: 'pods' },
    action: { kind: 'delay', delay: seconds(25), when: 'before' },
    count: 1,
  });
  await stage.edit({ statefulset: stage.carried('db:2') });
  await stage.until('one is asked', () => stage.phase() === 'WaitingForReady');
  await stage.env.clock.advance(millis(500));
  await stage.env.deletePod('db-3');
  await stage.ended();
  assertEachOnce(stage, 'late eviction');
  await stage.close();
});

test('an interval is kept by who comes after an operator that is killed right after an eviction [T-40]', async () => {
  const stage = await settled();
  const [first] = stage.running;
  const match = { user: 'operator-1', verb: 'create', resource: 'pods' };
  let isDead = false;
  stage.env.cluster.faults.afterWrite(match, 1, () => {
    isDead = true;
    first?.die();
  });
  await stage.edit({ minPodEvictionIntervalSeconds: 300, statefulset: stage.carried('db:2') });
  await stage.until('it is dead', () => isDead);
  stage.start();
  await stage.ended();
  const { calls } = stage.env.cluster.eventLog;
  const times = calls
    .filter(({ subresource }) => subresource === 'eviction')
    .map(({ startedAt }) => startedAt);
  assert.equal(times.length, 4);
  for (const [at, time] of times.slice(1).entries()) {
    assert.ok(time - (times[at] ?? 0) >= 300_000, `${time - (times[at] ?? 0)} ms`);
  }
  await stage.close();
});
