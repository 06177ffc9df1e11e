/** Rollbacks of PhasedRollouts while everything else changes: users, pods, processes, and a status that a user wrote. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { noData, someData } from '#support/external-services/fake-prometheus.ts';
import { mostDown } from './phased-judge.ts';
import { PhasedStage, usualCheck } from './phased-stage.ts';

const namespace = 'demo';
const failureBudget = { consecutiveFailures: 2, onFailure: 'Rollback' };

function podsOf(stage: PhasedStage): readonly string[] {
  return [...stage.env.stored('pods').keys()].filter((name) => /^db-\d+$/.test(name)).toSorted();
}

function imagesOf(stage: PhasedStage): string {
  return podsOf(stage)
    .map((pod) => stage.env.imageOf(pod))
    .join(' ');
}

/** Six pods, two of them new, whose checks fail: a rollback begins. */
async function rollingBack(
  spec: JsonObject = {},
  check: JsonObject = { failureBudget },
): Promise<PhasedStage> {
  const stage = await PhasedStage.open({ replicas: 6, ...spec });
  stage.start();
  await stage.create({ check: { ...usualCheck, ...check } });
  await stage.until('it is settled', () => stage.phase() === 'Updated' && stage.partition() === 6);
  await stage.env.clock.advance(seconds(1));
  await stage.change('db:2');
  await stage.until('two are new', () => imagesOf(stage).split('db:2').length === 3);
  stage.prometheus.answer = () => noData;
  stage.isLifted = true;
  await stage.until('it goes back', () => stage.step() === 'RollingBack');
  return stage;
}

/** Deletions by the program, by name. */
function deleted(stage: PhasedStage): readonly string[] {
  return stage.env.cluster.eventLog.calls
    .filter(
      ({ user, verb, resource }) =>
        user.startsWith('operator-') && verb === 'delete' && resource === 'pods',
    )
    .map(({ name }) => name);
}

async function isBack(stage: PhasedStage, replicas = 6): Promise<void> {
  await stage.until('it is rolled back', () => stage.step() === 'RolledBack', minutes(20));
  assert.equal(imagesOf(stage), Array.from({ length: replicas }, () => 'db:1').join(' '));
}

function assertOneDown(stage: PhasedStage): void {
  const pods = Array.from({ length: 6 }, (_, ordinal) => `db-${ordinal}`);
  assert.equal(mostDown(stage.env.cluster.eventLog.commits, pods), 1);
}

test('a rollback that a user takes over by the former template ends there', async () => {
  const stage = await rollingBack();
  await stage.change('db:1');
  await stage.until('it is whole', () => stage.phase() === 'Updated' && stage.partition() === 6);
  assert.match(imagesOf(stage), /^(?:db:1 ?){6}$/);
  assertOneDown(stage);
  await stage.close();
});

test('another template in the middle of a rollback begins a rollout of its own, with checks', async () => {
  const stage = await rollingBack();
  await stage.change('db:3');
  await stage.env.clock.advance(seconds(5));
  assert.ok(!imagesOf(stage).includes('db:3'), imagesOf(stage));
  stage.prometheus.answer = () => someData;
  await stage.until('all are new', () => /^(?:db:3 ?){6}$/.test(imagesOf(stage)));
  await stage.until('it is told', () => stage.phase() === 'Updated');
  assertOneDown(stage);
  await stage.close();
});

for (const replicas of [8, 3]) {
  test(`a set that is scaled to ${replicas} in the middle of a rollback has only pods of the former revision in the end`, async () => {
    const stage = await rollingBack();
    await stage.env.patchSet({ spec: { replicas } });
    await isBack(stage, replicas);
    await stage.env.clock.advance(minutes(5));
    await stage.env.patchSet({ spec: { replicas: 6 } });
    await stage.env.clock.advance(minutes(5));
    assert.match(imagesOf(stage), /^(?:db:1 ?){6}$/);
    await stage.close();
  });
}

test('a process that is killed in the middle of a rollback is followed by one that ends it', async () => {
  const stage = await rollingBack();
  await stage.until('one is deleted', () => deleted(stage).length === 1);
  stage.running[0]?.die();
  stage.start();
  await isBack(stage);
  assertOneDown(stage);
  await stage.close();
});

test('a former revision that cannot start either takes no second pod down, and says so', async () => {
  const stage = await rollingBack();
  stage.env.kubelet.behaviours.add({
    match: { image: 'db:1', name: 'db-[45]' },
    behave: 'crashLoop',
  });
  stage.env.kubelet.behaviours.add({ match: { name: 'db-5' }, behave: 'crashLoop' });
  await stage.until('one is deleted', () => deleted(stage).length === 1);
  await stage.env.clock.advance(minutes(60));
  assert.ok(new Set(deleted(stage)).size === 1, deleted(stage).join(', '));
  assert.ok(deleted(stage).length <= 2, deleted(stage).join(', '));
  assertOneDown(stage);
  assert.match(
    [...stage.messages('AwaitingAvailability'), ...stage.messages('StuckPodKept')].join(),
    /db-5/,
  );
  await stage.close();
});

test('a wish for a rollback that is taken back keeps the pods that have not gone yet', async () => {
  const stage = await rollingBack();
  await stage.until('one is deleted', () => deleted(stage).length === 1);
  const paused = { consecutiveFailures: 2, onFailure: 'Pause' };
  await stage.edit({ spec: { check: { failureBudget: paused } } });
  await stage.until('it is paused', () => stage.step() === 'Paused');
  await stage.env.clock.advance(minutes(10));
  assert.equal(deleted(stage).length, 1);
  assert.equal(imagesOf(stage).split('db:2').length, 2);
  await stage.close();
});

test('a status that a stranger wrote brings no pod back where no rollback is wanted', async () => {
  const stage = await PhasedStage.open({ replicas: 6 });
  stage.start();
  await stage.create();
  await stage.until('it is settled', () => stage.phase() === 'Updated' && stage.partition() === 6);
  await stage.change('db:2');
  await stage.until('two are new', () => imagesOf(stage).split('db:2').length === 3);
  const status = { rollingPodStatus: { status: 'RollingBack' } };
  const body = { kind: 'merge', document: { status } } as const;
  const key = { namespace, name: 'pr1' };
  const write = { body, subresource: 'status' } as const;
  await stage.env.client.patch(resourceTypes.phasedRollouts, key, write);
  await stage.until('it is complete', () => /^(?:db:2 ?){6}$/.test(imagesOf(stage)));
  assert.deepEqual(deleted(stage), []);
  await stage.close();
});

for (const [what, spec] of Object.entries({
  'ordinals that begin at 5': { ordinals: { start: 5 } },
  'minReadySeconds of 40': { minReadySeconds: 40 },
  'pods that are made all at once': { podManagementPolicy: 'Parallel' },
})) {
  test(`a set with ${what} goes back one pod at a time`, async () => {
    const stage = await rollingBack(spec);
    await isBack(stage);
    const pods = podsOf(stage);
    assert.equal(mostDown(stage.env.cluster.eventLog.commits, pods), 1);
    await stage.close();
  });
}

test('a pod that a user deletes in the middle of a rollback is waited for', async () => {
  const stage = await rollingBack();
  stage.env.kubelet.behaviours.add({
    match: { name: 'db-0' },
    behave: 'slowStart',
    by: minutes(3),
  });
  await stage.env.deletePod('db-0');
  const before = deleted(stage).length;
  await stage.env.clock.advance(minutes(2));
  assert.ok(deleted(stage).length <= before + 1);
  await isBack(stage);
  await stage.close();
});

test('a set that is switched to OnDelete in the middle of a rollback is left alone', async () => {
  const stage = await rollingBack();
  await stage.env.patchSet({ spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } } });
  const before = deleted(stage).length;
  await stage.env.clock.advance(minutes(20));
  assert.ok(deleted(stage).length <= before + 1, deleted(stage).join(', '));
  assert.equal(stage.phase(), 'ErrorCannotManage');
  await stage.close();
});
