/** ZoneAwareUpdates whose leader is halted at any of its writes, and goes on when another one may lead. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { PausableClock } from '#support/clocks/pausable-clock.ts';
import { gateNumbers } from '#support/extent.ts';
import { ZoneUpdateStage } from './zone-update-stage.ts';

/** By which its Lease has passed to somebody else. */
const halt = seconds(60);

interface Halted {
  readonly stage: ZoneUpdateStage;
  /** How many pods `operator-1` deleted. */
  readonly deletions: number;
}

/** An update of which `operator-1` is halted after its `nth` write of what `resource` names. */
async function haltedAt(resource: string, verb: string, nth: number): Promise<Halted> {
  const stage = await ZoneUpdateStage.open();
  const clock = new PausableClock(stage.env.clock);
  stage.start(undefined, clock);
  await stage.create({ exponentialFactor: '0', maxUnavailable: 1 });
  await stage.until('it is settled', () => stage.condition() === 'True Updated');
  stage.start();
  const before = deletionsOf(stage).length;
  let haltedAfter = Number.POSITIVE_INFINITY;
  stage.env.cluster.faults.afterWrite({ user: 'operator-1', verb, resource }, nth, () => {
    haltedAfter = stage.env.clock.monotonic();
    clock.pause(halt);
  });
  await stage.change('db:2');
  await stage.completed('db:2');
  const start = stage.env.clock.now() - stage.env.clock.monotonic();
  const late = deletionsOf(stage).filter(({ startedAt }) => startedAt - start > haltedAfter);
  assert.deepEqual(
    late.map(({ name }) => `halted at ${verb} ${nth} of ${resource}: delete ${name}`),
    [],
  );
  return { stage, deletions: deletionsOf(stage).length - before };
}

function deletionsOf(
  stage: ZoneUpdateStage,
): ZoneUpdateStage['env']['cluster']['eventLog']['calls'] {
  return stage.env.cluster.eventLog.calls.filter(
    ({ user, verb, resource }) => user === 'operator-1' && verb === 'delete' && resource === 'pods',
  );
}

const points = [
  ['zoneawareupdates', 'update'],
  ['pods', 'delete'],
] as const;

for (const [resource, verb] of points) {
  test(`a leader that is halted at any ${verb} of ${resource} deletes no pod once another one may lead [SPLIT-1]`, async () => {
    let halted = 0;
    const numbers = gateNumbers(12, 3);
    for (const nth of numbers) {
      const { stage, deletions } = await haltedAt(resource, verb, nth);
      if (deletions < 12) halted += 1;
      await stage.close();
    }
    assert.ok(halted >= numbers.filter((nth) => nth <= 8).length, `${halted}`);
  });
}
