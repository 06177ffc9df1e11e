import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import { type Environment, startEnvironment, templateOf } from '../stages/virtual-environment.ts';

const partition = (value: number): JsonObject => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: value } },
});

async function settled(env: Environment): Promise<void> {
  await env.clock.runUntilIdle();
}

function deletedPods(env: Environment): readonly string[] {
  return env.cluster.eventLog.calls
    .filter(({ verb, resource, user }) => {
      return verb === 'delete' && resource === 'pods' && user.endsWith('statefulset-controller');
    })
    .map(({ name }) => name);
}

test('[cluster 31] a broken revision blocks an ordered set, and so does the revert, until the pod is deleted', async () => {
  const env = await startEnvironment();
  env.kubelet.behaviours.add({ match: { image: '*:broken' }, behave: 'imagePullBackOff' });
  await env.createSet();
  await settled(env);
  await env.patchSet({ spec: { template: templateOf('db:broken') } });
  await settled(env);
  assert.equal(env.imageOf('db-2'), 'db:broken');
  await env.patchSet({ spec: { template: templateOf('db:1') } });
  await settled(env);
  assert.equal(env.imageOf('db-2'), 'db:broken');
  assert.deepEqual(deletedPods(env), ['db-2']);
  await env.deletePod('db-2');
  await settled(env);
  assert.equal(env.imageOf('db-2'), 'db:1');
  assert.equal(env.statusOf('db').readyReplicas, 3);
  await env.close();
});

test('[cluster 31] a parallel set recovers from a broken revision by the revert alone', async () => {
  const env = await startEnvironment({ controllers: { switches: { maxUnavailable: false } } });
  env.kubelet.behaviours.add({ match: { image: '*:broken' }, behave: 'imagePullBackOff' });
  await env.createSet({ podManagementPolicy: 'Parallel' });
  await settled(env);
  await env.patchSet({ spec: { template: templateOf('db:broken') } });
  await settled(env);
  assert.equal(env.imageOf('db-2'), 'db:broken');
  await env.patchSet({ spec: { template: templateOf('db:1') } });
  await settled(env);
  assert.equal(env.imageOf('db-2'), 'db:1');
  assert.equal(env.statusOf('db').readyReplicas, 3);
  await env.close();
});

test('[cluster 32] a deleted pod is seen terminating, and its replacement has another uid', async () => {
  const env = await startEnvironment();
  await env.createSet();
  await settled(env);
  const uid = env.uidOf('pods', 'db-1');
  await env.deletePod('db-1');
  const before = env.stored('pods').get('db-1');
  assert.equal(JSON.stringify(before).includes('deletionTimestamp'), true);
  await settled(env);
  assert.notEqual(env.uidOf('pods', 'db-1'), uid);
  await env.close();
});

test('[cluster 32] a pod is Ready again after exactly stop + bind + start + ready', async () => {
  const delays = { stop: millis(200), bind: millis(100), start: millis(500), ready: millis(1_400) };
  const env = await startEnvironment({ kubelet: { delays } });
  await env.createSet();
  await settled(env);
  const start = env.clock.now();
  await env.deletePod('db-1');
  await env.clock.runUntil(() => env.statusOf('db').readyReplicas === 2);
  await env.clock.runUntil(() => env.isReady('db-1'));
  assert.equal(env.clock.now() - start, 2_200);
  await env.close();
});

test('[cluster 33] scaling down takes the highest pod first and waits for health; it goes before an update', async () => {
  const env = await startEnvironment();
  await env.createSet({ replicas: 5 });
  await settled(env);
  await env.patchSet({ spec: { replicas: 3, template: templateOf('db:2') } });
  await settled(env);
  assert.deepEqual(deletedPods(env), ['db-4', 'db-3', 'db-2', 'db-1', 'db-0']);
  assert.deepEqual([...env.stored('pods').keys()].toSorted(), ['db-0', 'db-1', 'db-2']);
  await env.close();
});

test('[cluster 34] OnDelete deletes nothing; a deleted pod returns updated; currentRevision never moves', async () => {
  const env = await startEnvironment();
  await env.createSet({ updateStrategy: { type: 'OnDelete' } });
  await settled(env);
  const first = env.statusOf('db').currentRevision;
  await env.patchSet({ spec: { template: templateOf('db:2') } });
  await settled(env);
  assert.deepEqual(deletedPods(env), []);
  for (const name of ['db-0', 'db-1', 'db-2']) {
    await env.deletePod(name);
    await settled(env);
    assert.equal(env.imageOf(name), 'db:2');
  }
  const status = env.statusOf('db');
  assert.equal(status.updatedReplicas, 3);
  assert.equal(status.currentRevision, first);
  assert.notEqual(status.updateRevision, first);
  await env.close();
});

test('[cluster 35] a partition keeps lower pods, and gives a deleted one back at the old revision', async () => {
  const env = await startEnvironment();
  await env.createSet({ replicas: 5, ...partition(3) });
  await settled(env);
  const first = env.statusOf('db').currentRevision;
  await env.patchSet({ spec: { template: templateOf('db:2') } });
  await settled(env);
  assert.deepEqual(deletedPods(env), ['db-4', 'db-3']);
  await env.deletePod('db-1');
  await settled(env);
  assert.equal(env.imageOf('db-1'), 'db:1');
  assert.equal(env.statusOf('db').currentRevision, first);
  await env.patchSet({ spec: partition(0) });
  await settled(env);
  assert.equal(env.imageOf('db-0'), 'db:2');
  const status = env.statusOf('db');
  assert.equal(status.currentRevision, status.updateRevision);
  assert.notEqual(status.currentRevision, first);
  await env.close();
});

test('[cluster 36] a pod becomes available only after minReadySeconds, strictly', async () => {
  const env = await startEnvironment({ kubelet: { delays: { ready: millis(1_900) } } });
  await env.createSet({ replicas: 1, minReadySeconds: 10 });
  await env.clock.runUntil(() => env.statusOf('db').readyReplicas === 1);
  const ready = env.clock.now();
  assert.equal(env.statusOf('db').availableReplicas, 0);
  await env.clock.runUntil(() => env.statusOf('db').availableReplicas === 1);
  assert.equal(env.clock.now() > ready + 10_000, true);
  await env.close();
});

test('[cluster 36] a terminating pod counts as ready until it has stopped', async () => {
  const env = await startEnvironment({ kubelet: { delays: { stop: millis(5_000) } } });
  await env.createSet();
  await settled(env);
  await env.deletePod('db-0');
  await env.clock.advance(millis(1_000));
  const { readyReplicas, currentReplicas } = env.statusOf('db');
  assert.deepEqual([env.stored('pods').has('db-0'), readyReplicas, currentReplicas], [true, 3, 2]);
  await env.close();
});

test('[cluster 21] the status of a set follows a change of its spec later', async () => {
  const env = await startEnvironment();
  await env.createSet();
  await settled(env);
  const patched = await env.patchSet({ spec: { template: templateOf('db:2') } });
  assert.equal(patched.metadata.generation, 2);
  assert.equal(env.statusOf('db').observedGeneration, 1);
  await settled(env);
  assert.equal(env.statusOf('db').observedGeneration, 2);
  await env.close();
});

test('[cluster 37] a rollback reuses the name of the old revision under a higher number', async () => {
  const env = await startEnvironment();
  await env.createSet({ replicas: 1 });
  await settled(env);
  const first = env.statusOf('db').currentRevision;
  await env.patchSet({ spec: { template: templateOf('db:2') } });
  await settled(env);
  await env.patchSet({ spec: { template: templateOf('db:1') } });
  await settled(env);
  assert.equal(env.statusOf('db').currentRevision, first);
  assert.equal(env.stored('controllerrevisions.apps').get(first)?.['revision'], 3);
  assert.equal(env.stored('controllerrevisions.apps').size, 2);
  await env.close();
});

test('[cluster 37] the history keeps revisionHistoryLimit old revisions', async () => {
  const env = await startEnvironment();
  await env.createSet({ replicas: 1, revisionHistoryLimit: 2 });
  for (const image of ['db:2', 'db:3', 'db:4', 'db:5']) {
    await settled(env);
    await env.patchSet({ spec: { template: templateOf(image) } });
  }
  await settled(env);
  const numbers = [...env.stored('controllerrevisions.apps').values()].map(
    (revision) => revision['revision'],
  );
  assert.deepEqual(new Set(numbers), new Set([3, 4, 5]));
  await env.close();
});

async function mostDown(spec: JsonObject, hasMaxUnavailable: boolean): Promise<number> {
  const env = await startEnvironment({
    controllers: { switches: { maxUnavailable: hasMaxUnavailable } },
  });
  await env.createSet({ replicas: 5, ...spec });
  await settled(env);
  const down = { most: 0 };
  env.cluster.eventLog.onCommit(() => {
    const up = [...env.stored('pods').keys()].filter((name) => env.isReady(name)).length;
    down.most = Math.max(down.most, 5 - up);
  });
  await env.patchSet({ spec: { template: templateOf('db:2') } });
  await settled(env);
  assert.equal(env.statusOf('db').updatedReplicas, 5);
  await env.close();
  return down.most;
}

const limitCases: Record<
  string,
  {
    readonly limit: number | string;
    readonly policy: string;
    readonly isOn: boolean;
    readonly want: number;
  }
> = {
  'maxUnavailable 2 takes two pods of a parallel set down': {
    limit: 2,
    policy: 'Parallel',
    isOn: true,
    want: 2,
  },
  'maxUnavailable 2 takes two pods of an ordered set down': {
    limit: 2,
    policy: 'OrderedReady',
    isOn: true,
    want: 2,
  },
  'maxUnavailable 50 % of five is two, rounded down': {
    limit: '50%',
    policy: 'Parallel',
    isOn: true,
    want: 2,
  },
  'maxUnavailable is ignored where the version lacks it': {
    limit: 2,
    policy: 'Parallel',
    isOn: false,
    want: 1,
  },
};

for (const [fact, { limit, policy, isOn, want }] of Object.entries(limitCases)) {
  test(`[cluster 37] ${fact}`, async () => {
    const rollingUpdate = { partition: 0, maxUnavailable: limit };
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate };
    assert.equal(await mostDown({ podManagementPolicy: policy, updateStrategy }, isOn), want);
  });
}
