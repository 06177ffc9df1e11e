/* oxlint-disable typescript/no-unsafe-assignment -- answers are looked into by path, and a wrong path fails the assertion */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis, seconds } from '#base/units.ts';
import { numberAt, objectAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { EnvironmentOptions } from '#support/world/world-environment.ts';
import { type Environment, startEnvironment } from '../stages/virtual-environment.ts';
import { type Answer, PODS, sendOver } from './protocol-env.ts';

async function createBudget(env: Environment, spec: JsonObject, name = 'db'): Promise<void> {
  const metadata = { name, namespace: 'demo' };
  const selector = { matchLabels: { app: 'db' } };
  const body = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata,
    spec: { selector, ...spec },
  };
  await env.client.create(resourceTypes.podDisruptionBudgets, metadata, { body });
}

async function evict(env: Environment, name: string, query = ''): Promise<Answer> {
  const transport = env.cluster.transport();
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: 'demo' } };
  return sendOver(transport, { method: 'POST', path: `${PODS}/${name}/eviction${query}`, body });
}

function allowed(env: Environment, name = 'db'): number | undefined {
  return numberAt(
    env.stored('poddisruptionbudgets.policy').get(name),
    'status',
    'disruptionsAllowed',
  );
}

/** Three ready pods under a budget whose status is up to date. */
async function guarded(
  spec: JsonObject,
  options: EnvironmentOptions = {},
  replicas = 3,
): Promise<Environment> {
  const env = await startEnvironment(options);
  await env.createSet({ replicas, podManagementPolicy: 'Parallel' });
  await env.clock.runUntilIdle();
  await createBudget(env, spec);
  await env.clock.runUntilIdle();
  return env;
}

test('[cluster 38] a budget lets one pod go, refuses the next with a cause, and recovers', async () => {
  const env = await guarded({ maxUnavailable: 1 });
  assert.equal(allowed(env), 1);
  const first = await evict(env, 'db-0');
  assert.deepEqual([first.status, first.body.status], [201, 'Success']);
  const second = await evict(env, 'db-1');
  assert.equal(second.status, 429);
  assert.equal(
    second.body.message,
    "Cannot evict pod as it would violate the pod's disruption budget.",
  );
  assert.equal(second.body.details.causes[0].reason, 'DisruptionBudget');
  await env.clock.runUntilIdle();
  assert.equal(allowed(env), 1);
  const third = await evict(env, 'db-1');
  assert.equal(third.status, 201);
  assert.deepEqual(env.log.lines, []);
  await env.close();
});

test('[cluster 38] an eviction marks the pod, takes a disruption, and a dry run does neither', async () => {
  const env = await guarded({ maxUnavailable: 1 });
  const { revision } = env.cluster.context.store;
  const dry = await evict(env, 'db-0', '?dryRun=All');
  assert.deepEqual([dry.status, env.cluster.context.store.revision], [201, revision]);
  await evict(env, 'db-0');
  const condition = JSON.stringify(env.stored('pods').get('db-0')?.['status']);
  assert.match(condition, /"type":"DisruptionTarget","status":"True".*"EvictionByEvictionAPI"/);
  const status = objectAt(env.stored('poddisruptionbudgets.policy').get('db'), 'status');
  assert.deepEqual(Object.keys(objectAt(status, 'disruptedPods')), ['db-0']);
  assert.equal(allowed(env), 0);
  await env.close();
});

test('[cluster 38] a percentage of a budget is rounded up', async () => {
  const env = await guarded({ maxUnavailable: '50%' });
  assert.equal(allowed(env), 2);
  await env.close();
});

/** The pods matching `name` run and are not ready; the others are. */
async function makeUnready(env: Environment, name: string): Promise<void> {
  env.kubelet.behaviours.add({ behave: 'neverReady', match: { name } });
  await env.clock.runUntilIdle();
}

test('[cluster 39] an unready pod goes while enough others are healthy, though nothing is allowed', async () => {
  const env = await guarded({ maxUnavailable: 1 });
  await makeUnready(env, 'db-0');
  assert.equal(allowed(env), 0);
  assert.equal((await evict(env, 'db-1')).status, 429);
  assert.equal((await evict(env, 'db-0')).status, 201);
  await env.close();
});

test('[cluster 39] an unready pod stays while too few are healthy, and goes under AlwaysAllow', async () => {
  const env = await guarded({ maxUnavailable: 1 });
  await makeUnready(env, '*');
  assert.equal((await evict(env, 'db-0')).status, 429);
  const document = { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } };
  const body = { kind: 'merge', document } as const;
  const key = { namespace: 'demo', name: 'db' };
  await env.client.patch(resourceTypes.podDisruptionBudgets, key, { body });
  assert.equal((await evict(env, 'db-0')).status, 201);
  await env.close();
});

test('[cluster 39] a pending pod always goes', async () => {
  const env = await guarded({ maxUnavailable: 0 });
  env.kubelet.behaviours.add({ behave: 'imagePullBackOff', match: { name: 'db-0' } });
  await env.deletePod('db-0');
  await env.clock.advance(millis(20_000));
  assert.equal((await evict(env, 'db-1')).status, 429);
  assert.equal((await evict(env, 'db-0')).status, 201);
  await env.close();
});

test('[cluster 40] a budget that was just changed refuses for ten seconds', async () => {
  const delay = { minimum: millis(1_000), maximum: millis(1_000) };
  const env = await guarded({ maxUnavailable: 1 }, { controllers: { disruptionDelay: delay } });
  const body = { kind: 'merge', document: { spec: { maxUnavailable: 2 } } } as const;
  const key = { namespace: 'demo', name: 'db' };
  await env.client.patch(resourceTypes.podDisruptionBudgets, key, { body });
  const refused = await evict(env, 'db-0');
  assert.equal(refused.status, 429);
  assert.equal(refused.headers['retry-after'], '10');
  assert.match(refused.body.details.causes[0].message, /is still being processed by the server/);
  await env.clock.runUntilIdle();
  assert.equal((await evict(env, 'db-0')).status, 201);
  await env.close();
});

test('[cluster 41] two budgets of one pod: the answer is 500, the pod stays', async () => {
  const env = await guarded({ maxUnavailable: 1 });
  await createBudget(env, { minAvailable: 1 }, 'second');
  await env.clock.runUntilIdle();
  const answer = await evict(env, 'db-0');
  assert.deepEqual([answer.status, answer.body.status, answer.body.code], [500, 'Failure', 500]);
  assert.equal(textAt(env.stored('pods').get('db-0'), 'metadata', 'deletionTimestamp'), '');
  await env.close();
});

test('[cluster 42] twenty evictions at once never exceed the budget although the controller lags', async () => {
  const delay = { minimum: millis(5_000), maximum: millis(5_000) };
  const env = await guarded({ maxUnavailable: 3 }, { controllers: { disruptionDelay: delay } }, 20);
  const names = [...env.stored('pods').keys()];
  const answers = await Promise.all(names.map((name) => evict(env, name)));
  assert.equal(answers.filter(({ status }) => status === 201).length, 3);
  assert.equal(answers.filter(({ status }) => status === 429).length, 17);
  await env.close();
});

test('[cluster 42] a disruption whose pod stays is given back after two minutes', async () => {
  const env = await guarded({ maxUnavailable: 1 });
  const uid = env.uidOf('pods', 'db-0');
  const key = { namespace: 'demo', name: 'db' };
  const taken = { disruptedPods: { 'db-0': '2026-01-01T00:00:10Z' }, disruptionsAllowed: 0 };
  await env.client.patch(resourceTypes.podDisruptionBudgets, key, {
    body: { kind: 'merge', document: { status: taken } },
    subresource: 'status',
  });
  await env.clock.advance(millis(60_000));
  assert.equal(allowed(env), 0);
  await env.clock.advance(millis(75_000));
  assert.equal(allowed(env), 1);
  assert.equal(env.uidOf('pods', 'db-0'), uid);
  const reasons = [...env.stored('events').values()].map((event) => textAt(event, 'reason'));
  assert.ok(reasons.includes('NotDeleted'));
  await env.close();
});

test('[cluster 42] a budget over pods of unknown owners fails safe', async () => {
  const env = await startEnvironment({ controllers: { only: ['disruption'] } });
  const reference = { apiVersion: 'demo/v1', kind: 'Ring', name: 'ring', uid: 'ring' };
  const metadata = {
    name: 'ring-0',
    namespace: 'demo',
    labels: { app: 'db' },
    ownerReferences: [{ ...reference, controller: true }],
  };
  const spec = { containers: [{ name: 'main', image: 'ring:1' }] };
  const body = { apiVersion: 'v1', kind: 'Pod', metadata, spec };
  await env.client.create(resourceTypes.pods, metadata, { body });
  await createBudget(env, { maxUnavailable: 1 });
  await env.clock.runUntilIdle();
  assert.equal(allowed(env), 0);
  const budget = JSON.stringify(env.stored('poddisruptionbudgets.policy').get('db')?.['status']);
  assert.match(budget, /"SyncFailed"/);
  await env.close();
});

/** What kubectl drain does: cordon, list by node, evict each pod until 201, every 5 s, then read until it is gone. */
async function drain(env: Environment, node: string): Promise<void> {
  const body = { kind: 'strategic', document: { spec: { unschedulable: true } } } as const;
  await env.client.patch(resourceTypes.nodes, { name: node }, { body });
  const fieldSelector = `spec.nodeName=${node}`;
  const { items } = await env.client.list(resourceTypes.pods, { fieldSelector });
  await Promise.all(items.map(({ metadata }) => drainPod(env, metadata.name, metadata.uid)));
}

async function drainPod(env: Environment, name: string, uid: string): Promise<void> {
  while ((await evict(env, name)).status === 429) await env.clock.sleep(seconds(5));
  const transport = env.cluster.transport();
  for (;;) {
    const { status, body } = await sendOver(transport, { method: 'GET', path: `${PODS}/${name}` });
    if (status === 404 || body.metadata.uid !== uid) return;
    await env.clock.sleep(seconds(1));
  }
}

test('[cluster 43] a drain of a zone under a budget evicts one pod after the other and completes', async () => {
  const env = await startEnvironment();
  for (const node of ['node-1', 'node-2']) {
    const body = { kind: 'merge', document: { spec: { unschedulable: true } } } as const;
    await env.client.patch(resourceTypes.nodes, { name: node }, { body });
  }
  await env.createSet({ podManagementPolicy: 'Parallel' });
  await env.clock.runUntilIdle();
  await createBudget(env, { maxUnavailable: 1 });
  for (const node of ['node-1', 'node-2']) {
    const body = { kind: 'merge', document: { spec: { unschedulable: null } } } as const;
    await env.client.patch(resourceTypes.nodes, { name: node }, { body });
  }
  await env.clock.runUntilIdle();
  let fewestReady = 3;
  env.cluster.eventLog.onCommit(() => {
    const ready = ['db-0', 'db-1', 'db-2'].filter((name) => env.isReady(name)).length;
    fewestReady = Math.min(fewestReady, ready);
  });
  const drained = { isDone: false };
  const draining = drain(env, 'node-0').then(() => {
    drained.isDone = true;
  });
  await Promise.all([draining, env.clock.runUntil(() => drained.isDone)]);
  await env.clock.runUntilIdle();
  assert.equal(fewestReady, 2);
  const nodes = [...env.stored('pods').values()].map((object) =>
    textAt(object, 'spec', 'nodeName'),
  );
  assert.deepEqual([nodes.length, nodes.filter((node) => node === 'node-0')], [3, []]);
  await env.close();
});
