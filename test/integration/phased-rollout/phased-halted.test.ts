/** PhasedRollouts whose leader is halted at any of its writes, and goes on when another one may lead. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { PausableClock } from '#support/clocks/pausable-clock.ts';
import { gateNumbers } from '#support/extent.ts';
import { mostDown } from './phased-judge.ts';
import { PhasedStage, usualCheck } from './phased-stage.ts';

const pods = ['db-0', 'db-1', 'db-2'];
const check = { ...usualCheck, initialDelaySeconds: 2, periodSeconds: 1 };
/** By which its Lease has passed to somebody else. */
const halt = seconds(60);

/** A rollout of which `operator-1` is halted after its write of that number; how many it makes without. */
async function haltedAt(nth: number): Promise<{ stage: PhasedStage; writes: number }> {
  const stage = await PhasedStage.open();
  const clock = new PausableClock(stage.env.clock);
  stage.start(['--leader-elect'], clock);
  await stage.create({ check });
  await stage.settled();
  stage.start();
  const before = writesOf(stage).length;
  const match = { user: 'operator-1', verb: ['update', 'patch'], resource: 'phasedrollouts' };
  let haltedAfter = Number.POSITIVE_INFINITY;
  stage.env.cluster.faults.afterWrite(match, nth, () => {
    haltedAfter = stage.env.clock.monotonic();
    clock.pause(halt);
  });
  await stage.change('db:2');
  await stage.completed('db:2');
  const start = stage.env.clock.now() - stage.env.clock.monotonic();
  const late = writesOf(stage).filter(({ startedAt }) => startedAt - start > haltedAfter);
  assert.deepEqual(
    late.map(({ verb, name }) => `halted at ${nth}: ${verb} ${name}`),
    [],
  );
  assert.equal(mostDown(stage.env.cluster.eventLog.commits, pods), 1);
  return { stage, writes: writesOf(stage).length - before };
}

/** What `operator-1` wrote to sets. */
function writesOf(stage: PhasedStage): PhasedStage['env']['cluster']['eventLog']['calls'] {
  return stage.env.cluster.eventLog.calls.filter(
    ({ user, verb, resource }) =>
      user === 'operator-1' && verb === 'patch' && resource.startsWith('statefulsets'),
  );
}

test('a leader that is halted at any moment sets no partition once another one may lead [SPLIT-1, GATE-1]', async () => {
  const whole = await haltedAt(1_000);
  await whole.stage.close();
  assert.equal(whole.writes, 4);
  let halted = 0;
  const numbers = gateNumbers(24, 3);
  for (const nth of numbers) {
    const { stage, writes } = await haltedAt(nth);
    if (writes < whole.writes) halted += 1;
    await stage.close();
  }
  assert.ok(halted >= numbers.filter((nth) => nth <= 10).length, `${halted}`);
});
