import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { gateNumbers } from '#support/extent.ts';
import { World } from '#support/world/world.ts';
import { images, NAMESPACE } from '#support/world/world-group.ts';
import { failureText } from './compare-runs.ts';
import { fuzzed } from './fuzz.ts';
import { reference } from './scenario.ts';
import { tellReference } from './sweep-engine.ts';

test('[cluster 59] the same seed gives byte-identical logs', async () => {
  const [one, other] = [await historyOf(7), await historyOf(7)];
  assert.equal(one, other);
  assert.notEqual(one, await historyOf(8), 'another seed gives other uids');
});

test('[cluster 59] orders of events, 50 of them in the night, all end in the same state with the same deletions', async () => {
  const { run } = await tellReference(reference);
  const failures: string[] = [];
  for (const seed of gateNumbers(50, 4)) {
    const { run: other } = await tellReference(fuzzed(reference, seed, millis(200)));
    if (other.problems.length > 0) failures.push(failureText(other));
    assert.deepEqual(other.removals, run.removals, `seed ${seed}`);
  }
  assert.deepEqual(failures, []);
});

test('[cluster 59] time runs idle after a finished rollout', async () => {
  const world = await World.create(reference.world);
  await world.readyOperator();
  await world.setImage(images.new);
  await world.clock.runUntilIdle({ maxVirtual: minutes(10), maxSteps: 20_000 });
  assert.ok(world.isComplete(images.new));
  await world.close();
});

test('[cluster 21] a rollout ends although events reach the operator up to 5 s late', async () => {
  const { run } = await tellReference(fuzzed(reference, 1, seconds(5)));
  assert.deepEqual(run.problems, []);
  assert.equal(run.removals.size, 4);
});

test('[cluster 22] a rollout ends whichever of pods and sets the operator hears of first', async () => {
  for (const late of ['pods', 'statefulsets.apps']) {
    const { run } = await tellReference({
      ...reference,
      name: `${late} half a second late`,
      play: async (world) => {
        const watches = world.cluster.faults.watches({ client: 'operator-1', resource: late });
        for (const watch of watches) Object.assign(watch, { delay: millis(500) });
        await reference.play(world);
      },
    });
    assert.deepEqual(run.problems, [], late);
    assert.equal(run.removals.size, 4, late);
  }
});

test('[cluster 58] a rollout goes on while another client writes to every pod each 10 ms', async () => {
  const { run } = await tellReference({
    ...fuzzed(reference, 3, millis(25)),
    name: 'conflict storm',
    play: async (world) => {
      storm(world);
      await reference.play(world);
    },
  });
  assert.deepEqual(run.problems, []);
  assert.equal(run.removals.size, 4);
  const bumps = run.world.cluster.eventLog.commits.filter(({ user }) => user === 'bystander');
  assert.ok(bumps.length > 1_000, `only ${bumps.length} writes of the bystander`);
});

/** Annotates every pod each 10 ms until the rollout is over. */
function storm(world: World): void {
  const client = world.clientOf({ user: 'bystander', client: 'bystander' });
  const again = (): void => {
    if (world.isComplete(images.new)) return;
    for (const name of world.names('pods')) {
      const document = { metadata: { annotations: { bump: String(world.clock.now()) } } };
      client
        .patch(
          resourceTypes.pods,
          { namespace: NAMESPACE, name },
          { body: { kind: 'merge', document } },
        )
        // The pod is gone by now.
        .catch(() => undefined);
    }
    world.clock.timer(millis(10), again, { owner: 'storm' });
  };
  again();
}

async function historyOf(seed: number): Promise<string> {
  const { run } = await tellReference({ ...reference, world: { ...reference.world, seed } });
  const { commits, calls } = run.world.cluster.eventLog;
  const { log } = run.world.record;
  return JSON.stringify({ commits, calls, log });
}
