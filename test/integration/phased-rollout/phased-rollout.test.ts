/** PhasedRollouts, as the program carries them out on the embedded cluster. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { PhasedStage, usualCheck } from './phased-stage.ts';

test('a set is taken over and its next update blocked, before which the finalizer stands, and nothing is reported [phased 9, 10]', async () => {
  const stage = await PhasedStage.open();
  const run = stage.start();
  await stage.create();
  await stage.settled();
  assert.equal(stage.owner(), 'pr1');
  assert.deepEqual(stage.partitions(), [0, 3]);
  assert.deepEqual(
    [stage.condition('Ready'), stage.condition('Updated')],
    ['True Ready', 'True Updated'],
  );
  assert.deepEqual(stage.events(), []);
  const writes = stage.writes();
  assert.match(writes[0] ?? '', /^patch phasedrollouts/);
  await run.stop();
  await stage.close();
});

test('a rollout goes pod by pod, each after the delay and two checks that pass [phased 21, 22, 23, 24, 27, 29]', async () => {
  const stage = await PhasedStage.open();
  const run = stage.start();
  await stage.create();
  await stage.settled();
  await stage.change('db:2');
  const begun = stage.env.clock.monotonic();
  await stage.until('the first pod may go', () => stage.partition() === 2);
  const [first = 0, second = 0] = stage.prometheus.asked.map(({ at }) => at - begun);
  assert.ok(first > 9_000 && first < 11_500, `first asked after ${first} ms`);
  assert.ok(second - first > 4_000 && second - first < 6_100, `then after ${second - first} ms`);
  const released = stage.env.clock.monotonic() - begun - second;
  assert.ok(released < 200, `let go ${released} ms later`);
  await stage.completed('db:2');
  assert.deepEqual(stage.partitions(), [0, 3, 2, 1, 0, 3]);
  assert.equal(stage.prometheus.asked.length, 6);
  assert.deepEqual(stage.events(), ['RolloutStarted', 'CheckPassed', 'RolloutCompleted']);
  assert.equal(stage.step(), '');
  await run.stop();
  await stage.close();
});

test('a set of one pod goes after one analysis [phased 30]', async () => {
  const stage = await PhasedStage.open({ replicas: 1 });
  const run = stage.start();
  await stage.create();
  await stage.until('it is blocked', () => stage.phase() === 'Updated' && stage.partition() === 1);
  await stage.change('db:2');
  await stage.until('it is complete', () => stage.env.imageOf('db-0') === 'db:2');
  await stage.until('it is blocked', () => stage.phase() === 'Updated' && stage.partition() === 1);
  assert.deepEqual(stage.partitions(), [0, 1, 0, 1]);
  assert.equal(stage.prometheus.asked.length, 2);
  await run.stop();
  await stage.close();
});

test('nothing is written and nothing asked while nothing is rolled out', async () => {
  const stage = await PhasedStage.open();
  const run = stage.start([]);
  await stage.create();
  await stage.settled();
  const before = stage.writes().length;
  await stage.env.clock.advance(seconds(3_600));
  assert.equal(stage.writes().length, before);
  assert.equal(stage.prometheus.asked.length, 0);
  await run.stop();
  await stage.close();
});

test('a partition that a user moves is put back, and follows the replicas [phased 19, 20]', async () => {
  const stage = await PhasedStage.open();
  const run = stage.start();
  await stage.create();
  await stage.settled();
  await stage.movePartition(1);
  await stage.settled();
  await stage.env.patchSet({ spec: { replicas: 5 } });
  await stage.until('it follows up', () => stage.partition() === 5);
  await stage.env.patchSet({ spec: { replicas: 0 } });
  await stage.until('it follows down', () => stage.partition() === 0);
  assert.equal(stage.phase(), 'Updated');
  await run.stop();
  await stage.close();
});

test('maxUnavailable stays what it was [phased 18]', async () => {
  const rollingUpdate = { maxUnavailable: 2 };
  const stage = await PhasedStage.open({
    updateStrategy: { type: 'RollingUpdate', rollingUpdate },
  });
  const run = stage.start();
  await stage.create();
  await stage.settled();
  assert.deepEqual(stage.rollingUpdate(), { maxUnavailable: 2, partition: 3 });
  await run.stop();
  await stage.close();
});

test('who comes second says so once, and takes over when the first goes [phased 13, 14, 69]', async () => {
  const stage = await PhasedStage.open();
  const run = stage.start();
  await stage.create();
  await stage.settled();
  await stage.create({}, 'pr2');
  await stage.until('it cannot manage', () => stage.phase('pr2') === 'ErrorCannotManage');
  assert.equal(stage.condition('Ready', 'pr2'), 'False ErrorCannotManage');
  assert.equal(stage.condition('Updated', 'pr2'), 'Unknown ErrorCannotManage');
  assert.deepEqual(stage.events('pr2'), ['CannotManage']);
  assert.equal(stage.owner(), 'pr1');
  await stage.remove('pr1');
  await stage.until('the other has it', () => stage.owner() === 'pr2');
  await stage.until('the other blocks', () => stage.phase('pr2') === 'Updated');
  assert.equal(stage.partition(), 3);
  assert.equal(stage.rollout('pr1'), undefined);
  await run.stop();
  await stage.close();
});

test('of two that are made at once one has the set, and the other says that it has not [phased 15]', async () => {
  const stage = await PhasedStage.open();
  const run = stage.start();
  await Promise.all([stage.create({}, 'pr1'), stage.create({}, 'pr2')]);
  const phases = (): string => [stage.phase('pr1'), stage.phase('pr2')].toSorted().join();
  await stage.until('one has it', () => phases() === 'ErrorCannotManage,Updated');
  assert.equal(stage.phase(stage.owner()), 'Updated');
  await run.stop();
  await stage.close();
});

test('an annotation of no owner, or of one that targets another set, is replaced [phased 11, 12]', async () => {
  const stage = await PhasedStage.open();
  await stage.create({ targetRef: 'another' }, 'pr2');
  for (const owner of ['nobody', 'pr2']) {
    await stage.env.patchSet({ metadata: { annotations: { 'sts.plus/phasedRollout': owner } } });
    const run = stage.start();
    await stage.create({});
    await stage.settled();
    assert.equal(stage.owner(), 'pr1');
    await stage.remove();
    await stage.until('it is gone', () => stage.rollout() === undefined);
    await run.stop();
  }
  await stage.close();
});

test('a set that is missing is waited for, and taken when it is there [phased 16, 61]', async () => {
  const stage = await PhasedStage.open();
  const run = stage.start();
  await stage.create({ targetRef: 'later' });
  await stage.until('it says so', () => stage.phase() === 'ErrorSTSNotFound');
  assert.equal(stage.condition('Ready'), 'False ErrorSTSNotFound');
  assert.deepEqual(stage.events(), []);
  await stage.env.createSet({}, 'later');
  await stage.until('it is taken', () => stage.phase() === 'Updated');
  assert.equal(stage.owner('later'), 'pr1');
  assert.equal(stage.partition('later'), 3);
  await run.stop();
  await stage.close();
});

test('a set with OnDelete is taken and left as it is, until it is switched [phased 17]', async () => {
  const stage = await PhasedStage.open({ updateStrategy: { type: 'OnDelete' } });
  const run = stage.start();
  await stage.create();
  await stage.until('it cannot manage', () => stage.phase() === 'ErrorCannotManage');
  assert.equal(stage.owner(), 'pr1');
  assert.deepEqual(stage.events(), ['CannotManage']);
  await stage.env.patchSet({ spec: { updateStrategy: { type: 'RollingUpdate' } } });
  await stage.settled();
  await run.stop();
  await stage.close();
});

test('what is deleted lets its set go: the annotation, the partition, then itself [phased 66, 68]', async () => {
  for (const withMost of [false, true]) {
    const rollingUpdate = withMost ? { maxUnavailable: 2 } : {};
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate };
    const stage = await PhasedStage.open({ updateStrategy });
    const run = stage.start();
    await stage.create();
    await stage.settled();
    await stage.remove();
    await stage.until('it is gone', () => stage.rollout() === undefined);
    assert.equal(stage.owner(), '');
    const { partition: _, ...rest } = stage.rollingUpdate();
    assert.deepEqual(rest, rollingUpdate);
    assert.equal(stage.partition(), 0);
    await stage.create({ targetRef: 'none' }, 'pr2');
    await stage.until('it says so', () => stage.phase('pr2') === 'ErrorSTSNotFound');
    await stage.remove('pr2');
    await stage.until('it is gone', () => stage.rollout('pr2') === undefined);
    await run.stop();
    await stage.close();
  }
});

test('what is deleted in mid-rollout lets all go at once, and says so [phased 67]', async () => {
  const stage = await PhasedStage.open();
  const run = stage.start();
  await stage.create();
  await stage.settled();
  await stage.change('db:2');
  await stage.until('one is let go', () => stage.partition() === 2);
  await stage.remove();
  await stage.until('all are new', () => stage.env.imageOf('db-0') === 'db:2');
  assert.equal(stage.rollout(), undefined);
  assert.ok(stage.events().includes('Released'));
  await run.stop();
  await stage.close();
});

test('what others keep alive after its deletion takes its set no more [phased 70]', async () => {
  const stage = await PhasedStage.open();
  const run = stage.start();
  await stage.create();
  await stage.settled();
  const finalizers = ['sts.plus/finalizer', 'somebody.else/keeps'];
  await stage.edit({ metadata: { finalizers } });
  await stage.remove();
  await stage.until('it is released', () => stage.owner() === '');
  await stage.env.clock.advance(seconds(600));
  assert.equal(stage.owner(), '');
  assert.equal(stage.partition(), 0);
  await run.stop();
  await stage.close();
});

test('a changed targetRef takes the new set, and lets the former go [phased 71]', async () => {
  const stage = await PhasedStage.open();
  await stage.env.createSet({}, 'other');
  const run = stage.start();
  await stage.create();
  await stage.settled();
  await stage.edit({ spec: { targetRef: 'other' } });
  await stage.until('the other is taken', () => stage.partition('other') === 3);
  await stage.until('the former is let go', () => stage.owner() === '');
  assert.equal(stage.partition(), 0);
  await run.stop();
  await stage.close();
});

test('standardRollingUpdate lets all go, and back there is nothing to gate any more [phased 58, 59]', async () => {
  const stage = await PhasedStage.open();
  const run = stage.start();
  await stage.create();
  await stage.settled();
  await stage.change('db:2');
  await stage.until('one is let go', () => stage.partition() === 2);
  await stage.edit({ spec: { standardRollingUpdate: true } });
  await stage.until('it is suspended', () => stage.phase() === 'Suspended');
  assert.equal(stage.partition(), 0);
  assert.equal(stage.condition('Updated'), 'Unknown Suspended');
  assert.ok(stage.events().includes('Suspended'));
  const asked = stage.prometheus.asked.length;
  await stage.edit({ spec: { standardRollingUpdate: false } });
  await stage.completed('db:2');
  assert.equal(stage.prometheus.asked.length, asked);
  await run.stop();
  await stage.close();
});

test('without a look of the webhook what is missing has its default [phased 3]', async () => {
  const stage = await PhasedStage.open();
  const run = stage.start();
  await stage.create({ check: { query: usualCheck['query'] ?? {} } });
  await stage.settled();
  await stage.change('db:2');
  const begun = stage.env.clock.monotonic();
  await stage.until('one is let go', () => stage.partition() === 2, seconds(600));
  const took = stage.env.clock.monotonic() - begun;
  assert.ok(took > 179_000 && took < 190_000, `let go after ${took} ms`);
  assert.equal(stage.prometheus.asked.length, 3);
  await run.stop();
  await stage.close();
});
