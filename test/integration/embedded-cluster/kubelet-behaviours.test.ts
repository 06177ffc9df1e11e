import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis, minutes, seconds } from '#base/units.ts';
import { numberAt, objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import { startKubelet } from '#cluster/kubelet/start-kubelet.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { type Environment, startEnvironment, templateOf } from '../stages/virtual-environment.ts';

function containerOf(env: Environment, pod: string): JsonObject {
  return objectsAt(env.stored('pods').get(pod), 'status', 'containerStatuses')[0] ?? {};
}

function conditionOf(env: Environment, pod: string, type: string): JsonObject {
  const conditions = objectsAt(env.stored('pods').get(pod), 'status', 'conditions');
  return conditions.find((condition) => condition['type'] === type) ?? {};
}

async function oneReadyPod(): Promise<Environment> {
  const env = await startEnvironment();
  await env.createSet({ replicas: 1 });
  await env.clock.runUntilIdle();
  return env;
}

test('a pod with a broken image waits with ImagePullBackOff, and starts once it can be pulled', async () => {
  const env = await startEnvironment();
  const rule = env.kubelet.behaviours.add({
    match: { image: '*:broken' },
    behave: 'imagePullBackOff',
  });
  await env.createSet({ replicas: 1, template: templateOf('db:broken') });
  await env.clock.runUntilIdle();
  const waiting = textAt(containerOf(env, 'db-0'), 'state', 'waiting', 'reason');
  assert.equal(waiting, 'ImagePullBackOff');
  assert.equal(textAt(env.stored('pods').get('db-0'), 'status', 'phase'), 'Pending');
  rule.remove();
  await env.clock.runUntilIdle();
  assert.equal(env.isReady('db-0'), true);
  await env.close();
});

test('a pod whose start-up probe takes 20 minutes runs, has not started, and is not ready until then', async () => {
  const env = await startEnvironment();
  env.kubelet.behaviours.add({ match: { name: 'db-*' }, behave: 'slowStart', by: minutes(20) });
  await env.createSet({ replicas: 1 });
  await env.clock.advance(minutes(19));
  assert.equal(textAt(env.stored('pods').get('db-0'), 'status', 'phase'), 'Running');
  assert.equal(containerOf(env, 'db-0')['started'], false);
  assert.equal(env.isReady('db-0'), false);
  await env.clock.advance(minutes(2));
  assert.equal(containerOf(env, 'db-0')['started'], true);
  assert.equal(env.isReady('db-0'), true);
  await env.close();
});

test('a crash-looping pod counts its restarts and waits 10 s, 20 s, 40 s', async () => {
  const env = await startEnvironment();
  env.kubelet.behaviours.add({ match: { name: 'db-*' }, behave: 'crashLoop' });
  await env.createSet({ replicas: 1 });
  await env.clock.advance(seconds(75));
  assert.equal(numberAt(containerOf(env, 'db-0'), 'restartCount'), 3);
  await env.clock.advance(seconds(2));
  const waiting = textAt(containerOf(env, 'db-0'), 'state', 'waiting', 'reason');
  assert.equal(waiting, 'CrashLoopBackOff');
  env.kubelet.behaviours.clear();
  await env.clock.runUntilIdle();
  assert.equal(env.isReady('db-0'), true);
  await env.close();
});

test('a failed pod is replaced by its set', async () => {
  const env = await startEnvironment();
  const rule = env.kubelet.behaviours.add({
    match: { name: 'db-0' },
    behave: 'failAfter',
    after: seconds(5),
  });
  await env.createSet({ replicas: 1 });
  await env.clock.advance(seconds(3));
  const uid = env.uidOf('pods', 'db-0');
  await env.clock.advance(seconds(4));
  rule.remove();
  await env.clock.runUntilIdle();
  assert.notEqual(env.uidOf('pods', 'db-0'), uid);
  assert.equal(env.isReady('db-0'), true);
  await env.close();
});

test('a stuck pod stays terminating until it is removed by force', async () => {
  const env = await oneReadyPod();
  env.kubelet.behaviours.add({ match: { name: 'db-0' }, behave: 'stuckTerminating' });
  const uid = env.uidOf('pods', 'db-0');
  await env.deletePod('db-0');
  await env.clock.advance(minutes(10));
  assert.equal(env.uidOf('pods', 'db-0'), uid);
  env.kubelet.behaviours.clear();
  await env.clock.runUntilIdle();
  assert.notEqual(env.uidOf('pods', 'db-0'), uid);
  await env.close();
});

test('a flapping pod is Ready and not Ready by turns', async () => {
  const env = await startEnvironment();
  env.kubelet.behaviours.add({ match: { name: 'db-0' }, behave: 'flapReady', period: seconds(4) });
  await env.createSet({ replicas: 1 });
  await env.clock.advance(millis(3_200));
  assert.equal(env.isReady('db-0'), true);
  await env.clock.advance(seconds(4));
  assert.equal(env.isReady('db-0'), false);
  await env.clock.advance(seconds(4));
  assert.equal(env.isReady('db-0'), true);
  await env.close();
});

test('a pod that fits no node says so, and is bound once a node fits', async () => {
  const env = await startEnvironment();
  const cordon = async (unschedulable: boolean): Promise<void> => {
    for (const name of env.kubelet.nodeNames) {
      const document = { spec: { unschedulable } };
      await env.client.patch(resourceTypes.nodes, { name }, { body: { kind: 'merge', document } });
    }
  };
  await cordon(true);
  await env.createSet({ replicas: 1 });
  await env.clock.advance(seconds(30));
  assert.equal(conditionOf(env, 'db-0', 'PodScheduled')['reason'], 'Unschedulable');
  await cordon(false);
  await env.clock.runUntilIdle();
  assert.equal(env.isReady('db-0'), true);
  await env.close();
});

test('pods of a failed node lose Ready after 40 s, terminate after 5 min, and stay', async () => {
  const env = await oneReadyPod();
  const node = textAt(env.stored('pods').get('db-0'), 'spec', 'nodeName');
  const uid = env.uidOf('pods', 'db-0');
  env.kubelet.nodeDown(node);
  await env.clock.advance(seconds(39));
  assert.equal(env.isReady('db-0'), true);
  await env.clock.advance(seconds(2));
  assert.equal(env.isReady('db-0'), false);
  await env.clock.advance(minutes(20));
  assert.equal(env.uidOf('pods', 'db-0'), uid);
  assert.notEqual(textAt(env.stored('pods').get('db-0'), 'metadata', 'deletionTimestamp'), '');
  await env.kubelet.nodeUp(node);
  await env.clock.runUntilIdle();
  assert.notEqual(env.uidOf('pods', 'db-0'), uid);
  assert.equal(env.isReady('db-0'), true);
  await env.close();
});

test('pods of a vanished node are removed by force and come back elsewhere', async () => {
  const env = await oneReadyPod();
  const node = textAt(env.stored('pods').get('db-0'), 'spec', 'nodeName');
  await env.kubelet.nodeGone(node);
  await env.clock.runUntilIdle();
  assert.notEqual(textAt(env.stored('pods').get('db-0'), 'spec', 'nodeName'), node);
  assert.equal(env.isReady('db-0'), true);
  await env.close();
});

test('a readiness gate holds Ready back until its condition is True', async () => {
  const env = await startEnvironment();
  const template = templateOf('db:1');
  const spec = { ...objectAt(template, 'spec'), readinessGates: [{ conditionType: 'demo/warm' }] };
  await env.createSet({ replicas: 1, template: { ...template, spec } });
  await env.clock.runUntilIdle();
  assert.equal(env.isReady('db-0'), false);
  assert.equal(conditionOf(env, 'db-0', 'ContainersReady')['status'], 'True');
  const document = { status: { conditions: [{ type: 'demo/warm', status: 'True' }] } };
  const body = { kind: 'strategic', document } as const;
  const key = { namespace: 'demo', name: 'db-0' };
  await env.client.patch(resourceTypes.pods, key, { body, subresource: 'status' });
  await env.clock.runUntilIdle();
  assert.equal(env.isReady('db-0'), true);
  await env.close();
});

test('a kubelet that is started again goes on where the last one stopped', async () => {
  const env = await startEnvironment();
  await env.createSet({ replicas: 2 });
  await env.clock.advance(millis(1_500));
  await env.kubelet.stop();
  await env.clock.advance(seconds(60));
  assert.equal(env.isReady('db-0'), false);
  const { clock, log } = env;
  const transportFor: Parameters<typeof startKubelet>[0]['transportFor'] = (user) =>
    env.cluster.transport({ user });
  const next = startKubelet({ transportFor, clock, log, seed: 2 });
  await env.clock.runUntil(() => env.statusOf('db').readyReplicas === 2);
  await next.stop();
  await env.close();
});
