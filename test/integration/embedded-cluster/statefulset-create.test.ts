import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis } from '#base/units.ts';
import { textAt } from '#cluster/json/read-json.ts';
import { startEnvironment } from '../stages/virtual-environment.ts';

function creations(
  commits: readonly { verb: string; resource: string; name: string; at: number }[],
): readonly string[] {
  const start = commits.find((commit) => commit.resource === 'statefulsets.apps')?.at ?? 0;
  return commits
    .filter((commit) => commit.verb === 'create' && commit.resource === 'pods')
    .map((commit) => `${commit.name} at ${commit.at - start} ms`);
}

test('[cluster 30] an ordered set creates one pod after the other, each when the one before is ready', async () => {
  const env = await startEnvironment();
  await env.createSet({ replicas: 5 });
  await env.clock.runUntilIdle();
  assert.deepEqual(creations(env.cluster.eventLog.commits), [
    'db-0 at 0 ms',
    'db-1 at 3100 ms',
    'db-2 at 6200 ms',
    'db-3 at 9300 ms',
    'db-4 at 12400 ms',
  ]);
  assert.deepEqual(env.log.lines, []);
  await env.close();
});

test('[cluster 30] a parallel set creates all pods at once', async () => {
  const env = await startEnvironment();
  await env.createSet({ replicas: 5, podManagementPolicy: 'Parallel' });
  await env.clock.runUntilIdle();
  assert.deepEqual(creations(env.cluster.eventLog.commits), [
    'db-0 at 0 ms',
    'db-1 at 0 ms',
    'db-2 at 0 ms',
    'db-3 at 0 ms',
    'db-4 at 0 ms',
  ]);
  await env.close();
});

test('a set creates the claims of a pod before the pod, and they are bound', async () => {
  const env = await startEnvironment();
  const claim = {
    metadata: { name: 'disk' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  await env.createSet({ replicas: 2, volumeClaimTemplates: [claim] });
  await env.clock.runUntilIdle();
  const claims = env.stored('persistentvolumeclaims');
  assert.deepEqual([...claims.keys()], ['disk-db-0', 'disk-db-1']);
  assert.equal(JSON.stringify(claims.get('disk-db-0')?.['status']).includes('"Bound"'), true);
  assert.equal(env.stored('pods').size, 2);
  await env.close();
});

test('a set adopts an orphan that matches, and releases a pod whose labels no longer do', async () => {
  const env = await startEnvironment();
  await env.createSet({ replicas: 1 });
  await env.clock.runUntilIdle();
  const uid = env.uidOf('pods', 'db-0');
  await env.patchPod('db-0', { metadata: { labels: { app: 'other' } } });
  await env.clock.advance(millis(1_000));
  assert.equal(env.ownersOf('pods', 'db-0').length, 0);
  await env.patchPod('db-0', { metadata: { labels: { app: 'db' } } });
  await env.clock.advance(millis(1_000));
  assert.deepEqual(env.ownersOf('pods', 'db-0'), ['db']);
  assert.equal(env.uidOf('pods', 'db-0'), uid);
  await env.close();
});

test('a set tells of created, deleted and failed pods in Events', async () => {
  const env = await startEnvironment();
  await env.createSet({ replicas: 2 });
  await env.clock.runUntilIdle();
  await env.patchSet({ spec: { replicas: 1 } });
  await env.clock.runUntilIdle();
  const events = [...env.stored('events').values()];
  assert.deepEqual(
    events.map((event) => `${textAt(event, 'reason')}: ${textAt(event, 'message')}`),
    [
      'SuccessfulCreate: Create Pod db-0 in StatefulSet db successful',
      'SuccessfulCreate: Create Pod db-1 in StatefulSet db successful',
      'SuccessfulDelete: Delete Pod db-1 in StatefulSet db successful',
    ],
  );
  await env.close();
});
