/** Sets under a PhasedRollout that are deleted with `--cascade=orphan` and made again over their pods. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { type Millis, millis, minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { noData, someData } from '#support/external-services/fake-prometheus.ts';
import { templateOf } from '../stages/virtual-environment.ts';
import { PhasedStage, usualCheck } from './phased-stage.ts';

const pods = ['db-0', 'db-1', 'db-2', 'db-3', 'db-4'];

/** Returns how many pods of the store run `image`. */
function running(stage: PhasedStage, image: string): number {
  const stored = stage.env.stored('pods');
  return pods.filter((pod) => stored.has(pod) && stage.env.imageOf(pod) === image).length;
}

/** Deletes the set without its pods, and applies its manifest, which has no partition, after `gap`. */
async function makeAgain(stage: PhasedStage, gap: Millis, image: string): Promise<void> {
  const { client, clock } = stage.env;
  const key = { namespace: 'demo', name: 'db' };
  const options = { preconditions: {}, propagationPolicy: 'Orphan' } as const;
  await client.delete(resourceTypes.statefulSets, key, options);
  await clock.advance(gap);
  await stage.until('the set is gone', () => stage.set() === undefined);
  await stage.env.createSet({ replicas: 5, template: templateOf(image) });
}

/** Five pods at rest, with all updates blocked. */
async function resting(spec: JsonObject = {}): Promise<PhasedStage> {
  const stage = await PhasedStage.open({ replicas: 5 });
  stage.start();
  await stage.create(spec);
  await stage.until('it rests', () => stage.phase() === 'Updated' && stage.partition() === 5);
  return stage;
}

/** Two of five pods run `db:2`, and no check passes from now on. */
async function failing(spec: JsonObject = {}): Promise<PhasedStage> {
  const stage = await resting(spec);
  await stage.change('db:2');
  await stage.until('two are new', () => stage.partition() === 3 && running(stage, 'db:2') === 2);
  stage.prometheus.answer = () => noData;
  await stage.env.clock.advance(seconds(1));
  return stage;
}

for (const gap of [millis(200), seconds(3), seconds(30)]) {
  test(`[found R-3] a set that is made again after ${gap / 1_000} s over its pods goes on where its checks fail, and no further pod goes`, async () => {
    const stage = await failing();
    await stage.env.clock.advance(minutes(5));
    await makeAgain(stage, gap, 'db:2');
    await stage.env.clock.advance(minutes(20));
    // The controller itself may take one before any gate stands: the manifest has none.
    assert.ok(running(stage, 'db:2') <= 3, `${running(stage, 'db:2')} pods run db:2`);
    assert.deepEqual([stage.phase(), stage.condition('Updated')], ['Rolling', 'False Rolling']);
    assert.deepEqual(stage.messages('RevisionReverted'), []);
    stage.prometheus.answer = () => someData;
    await stage.until('it is complete', () => running(stage, 'db:2') === 5);
    await stage.until('it rests', () => stage.phase() === 'Updated' && stage.partition() === 5);
    await stage.env.close();
  });
}

for (const [onFailure, gap, most] of [
  ['Pause', millis(200), 3],
  ['Pause', seconds(30), 3],
  ['Rollback', seconds(30), 1],
] as const) {
  test(`[found R-3] an update that has failed with onFailure ${onFailure} stays so when its set is made again after ${gap / 1_000} s`, async () => {
    const failureBudget = { consecutiveFailures: 2, onFailure };
    const stage = await failing({ check: { ...usualCheck, failureBudget } });
    await stage.env.clock.advance(minutes(5));
    await makeAgain(stage, gap, 'db:2');
    stage.prometheus.answer = () => someData;
    await stage.env.clock.advance(minutes(20));
    assert.ok(running(stage, 'db:2') <= most, `${running(stage, 'db:2')} pods run db:2`);
    assert.equal(stage.step(), 'Paused');
    await stage.env.close();
  });
}

test('[found R-3] a set at rest that is made again with another template waits for its checks', async () => {
  const stage = await resting();
  stage.prometheus.answer = () => noData;
  await makeAgain(stage, seconds(3), 'db:2');
  await stage.env.clock.advance(minutes(20));
  assert.ok(running(stage, 'db:2') <= 1, `${running(stage, 'db:2')} pods run db:2`);
  stage.prometheus.answer = () => someData;
  await stage.until('it is complete', () => running(stage, 'db:2') === 5);
  await stage.until('it rests', () => stage.phase() === 'Updated' && stage.partition() === 5);
  await stage.env.close();
});

test('[found R-3] a set that is made again with the template from before its rollout has its pods go back without checks', async () => {
  const stage = await failing();
  await makeAgain(stage, seconds(3), 'db:1');
  await stage.until('all are back', () => running(stage, 'db:1') === 5);
  await stage.until('it rests', () => stage.phase() === 'Updated' && stage.partition() === 5);
  await stage.env.close();
});

test('[found R-3] a process that was not there while its set was made again goes on where the checks fail', async () => {
  const stage = await failing();
  const [run] = stage.running;
  await run?.stop();
  await makeAgain(stage, seconds(3), 'db:2');
  stage.start();
  const before = running(stage, 'db:2');
  await stage.env.clock.advance(minutes(20));
  assert.ok(running(stage, 'db:2') <= before + 1, `${running(stage, 'db:2')} pods run db:2`);
  await stage.env.close();
});
