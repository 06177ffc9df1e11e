/** StatefulsetRollouts that pin pods, whose operator is killed, or halted, before or after any of its writes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { objectAt } from '#cluster/json/read-json.ts';
import { PausableClock } from '#support/clocks/pausable-clock.ts';
import { gateNumbers } from '#support/extent.ts';
import { PercentStage } from './percent-stage.ts';
import { loweringFaults, pinFaults } from './pin-judge.ts';

/** A set of four ready pods on `db:1`, which are pinned. */
async function settled(clock?: (stage: PercentStage) => PausableClock): Promise<PercentStage> {
  const stage = await PercentStage.open();
  stage.start(clock?.(stage));
  await stage.create('db:1', { versionLeak: { policy: 'Pin', repair: true } });
  await stage.ended();
  await stage.env.clock.advance(seconds(5));
  return stage;
}

/** How often each pod went since `begin`; more than once is a fault, as is any that was made on the wrong version. */
function assertRolled(stage: PercentStage, begin: number, what: string): void {
  const { commits } = stage.env.cluster.eventLog;
  const gone = commits
    .slice(begin)
    .filter(({ resource, before, after }) => resource === 'pods' && before && !after)
    .map(({ name }) => name);
  assert.deepEqual(gone.toSorted(), [...new Set(gone)].toSorted(), what);
  assert.deepEqual([...pinFaults(commits), ...loweringFaults(commits, 2)], [], what);
  assert.ok(stage.mostDown() <= 2, `${what}: ${stage.mostDown()} away`);
}

function partition(stage: PercentStage): string {
  return JSON.stringify(objectAt(stage.set(), 'spec', 'updateStrategy', 'rollingUpdate'));
}

/** Which writes there are, and how many of each a rollout of four pods has at least: of the set, the template and three partitions. */
const points = [
  { resource: 'statefulsetrollouts', verb: 'update', least: 6 },
  { resource: 'statefulsets', verb: 'patch', least: 4 },
  { resource: 'pods', verb: 'create', least: 2 },
] as const;
const occasions = points.flatMap((point) => [
  { ...point, when: 'before' as const },
  { ...point, when: 'after' as const },
]);

for (const [at, { when, resource, verb, least }] of occasions.entries()) {
  test(`an operator that pins and is killed ${when} any ${verb} of ${resource} is followed by one that goes on`, async () => {
    let killed = 0;
    const numbers = gateNumbers(least + 2, 3, 1 + (at % 3));
    for (const nth of numbers) {
      const stage = await settled();
      const [first] = stage.running;
      const match = { user: 'operator-1', verb, resource };
      const { faults, eventLog } = stage.env.cluster;
      let isDead = false;
      const die = (): void => {
        isDead = true;
        // What had left and not arrived arrives 20 s later.
        first?.die(seconds(20));
      };
      if (when === 'before') faults.beforeWrite(match, nth, die);
      else faults.afterWrite(match, nth, die);
      const begin = eventLog.commits.length;
      await stage.edit({ statefulset: stage.carried('db:2') });
      await stage.until('it is dead, or done', () => isDead || stage.phase() === 'RolloutDone');
      if (isDead) killed += 1;
      stage.start();
      await stage.ended();
      const what = `killed ${when} ${verb} ${nth} of ${resource}`;
      assert.deepEqual(stage.images(), ['db:2', 'db:2', 'db:2', 'db:2'], what);
      assert.equal(partition(stage), '{"partition":4}', what);
      assertRolled(stage, begin, what);
      await stage.close();
    }
    assert.ok(killed >= numbers.filter((nth) => nth <= least).length, `${killed}`);
  });
}

test('an operator that is killed at any write of a partial rollback is followed by one that goes on [T-68]', async () => {
  for (const { resource, verb } of points) {
    for (const nth of gateNumbers(3, 2)) {
      const stage = await settled();
      await stage.edit({ percent: 75, statefulset: stage.carried('db:2') });
      await stage.ended();
      await stage.env.clock.advance(seconds(5));
      const [first] = stage.running;
      const { faults, eventLog } = stage.env.cluster;
      const match = { user: 'operator-1', verb, resource };
      faults.afterWrite(match, nth, () => first?.die(seconds(20)));
      const begin = eventLog.commits.length;
      await stage.edit({ percent: 25 });
      stage.start();
      await stage.ended();
      const what = `killed after ${verb} ${nth} of ${resource}`;
      assert.deepEqual(stage.images(), ['db:1', 'db:1', 'db:1', 'db:2'], what);
      assertRolled(stage, begin, what);
      await stage.close();
    }
  }
});

test('a leader that pins and is halted after any write of the set changes nothing later [SPLIT-1]', async () => {
  for (let nth = 1; nth <= 4; nth += 1) {
    let clock: PausableClock | undefined;
    const stage = await settled(({ env }) => {
      clock = new PausableClock(env.clock);
      return clock;
    });
    stage.start();
    const { faults, eventLog } = stage.env.cluster;
    faults.afterWrite({ user: 'operator-1', verb: 'patch', resource: 'statefulsets' }, nth, () => {
      clock?.pause(seconds(60));
    });
    const begin = eventLog.commits.length;
    await stage.edit({ statefulset: stage.carried('db:2') });
    await stage.ended();
    assertRolled(stage, begin, `halted at ${nth}`);
    assert.equal(partition(stage), '{"partition":4}');
    await stage.close();
  }
});
