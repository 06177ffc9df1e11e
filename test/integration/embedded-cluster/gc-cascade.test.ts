import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { type Environment, startEnvironment } from '../stages/virtual-environment.ts';

type Policy = 'Background' | 'Foreground' | 'Orphan';

async function deleteSet(env: Environment, propagationPolicy: Policy): Promise<void> {
  const key = { namespace: 'demo', name: 'db' };
  const options = { preconditions: {}, propagationPolicy };
  await env.client.delete(resourceTypes.statefulSets, key, options);
}

async function withSet(seed = 1): Promise<Environment> {
  const env = await startEnvironment({ seed });
  await env.createSet();
  await env.clock.runUntilIdle();
  return env;
}

async function configMap(
  env: Environment,
  name: string,
  owners: readonly { readonly name: string; readonly uid: string }[],
): Promise<string> {
  const metadata = {
    name,
    namespace: 'demo',
    ownerReferences: owners.map((owner) => ({ apiVersion: 'v1', kind: 'ConfigMap', ...owner })),
  };
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
  const created = await env.client.create(resourceTypes.configMaps, metadata, { body });
  return created.metadata.uid;
}

async function deleteConfigMap(env: Environment, name: string): Promise<void> {
  const key = { namespace: 'demo', name };
  await env.client.delete(resourceTypes.configMaps, key, { preconditions: {} });
}

test('[cluster 48] a background deletion takes the pods and revisions of a set, later, in no fixed order', async () => {
  const env = await withSet();
  await deleteSet(env, 'Background');
  assert.equal(env.stored('statefulsets.apps').size, 0);
  assert.equal(env.stored('pods').size, 3);
  await env.clock.runUntilIdle();
  assert.equal(env.stored('pods').size, 0);
  assert.equal(env.stored('controllerrevisions.apps').size, 0);
  assert.deepEqual(env.log.lines, []);
  await env.close();
});

test('[cluster 48] a foreground deletion keeps the set until its pods are gone', async () => {
  const env = await withSet();
  await deleteSet(env, 'Foreground');
  await env.clock.runUntil(() => env.stored('pods').size < 3);
  assert.equal(env.stored('statefulsets.apps').size, 1);
  await env.clock.runUntilIdle();
  assert.equal(env.stored('pods').size, 0);
  assert.equal(env.stored('statefulsets.apps').size, 0);
  await env.close();
});

test('[cluster 48] an orphaning deletion leaves the pods, without owner', async () => {
  const env = await withSet();
  await deleteSet(env, 'Orphan');
  await env.clock.runUntilIdle();
  assert.equal(env.stored('statefulsets.apps').size, 0);
  assert.equal(env.stored('pods').size, 3);
  assert.deepEqual(env.ownersOf('pods', 'db-0'), []);
  await env.close();
});

test('[cluster 48] an object with two owners goes with the last one', async () => {
  const env = await startEnvironment();
  const first = await configMap(env, 'first', []);
  const second = await configMap(env, 'second', []);
  await configMap(env, 'child', [
    { name: 'first', uid: first },
    { name: 'second', uid: second },
  ]);
  await deleteConfigMap(env, 'first');
  await env.clock.runUntilIdle();
  assert.deepEqual(env.ownersOf('configmaps', 'child'), ['second']);
  await deleteConfigMap(env, 'second');
  await env.clock.runUntilIdle();
  assert.equal(env.stored('configmaps').has('child'), false);
  await env.close();
});

test('[cluster 48] an owner of another uid counts as gone', async () => {
  const env = await startEnvironment();
  await configMap(env, 'owner', []);
  await configMap(env, 'child', [{ name: 'owner', uid: '00000000-0000-4000-8000-000000000000' }]);
  await env.clock.runUntilIdle();
  assert.deepEqual([...env.stored('configmaps').keys()], ['owner']);
  await env.close();
});

test('[cluster 49] a deleted namespace is drained, pods gracefully, and then gone', async () => {
  const env = await withSet();
  await env.client.delete(resourceTypes.namespaces, { name: 'demo' }, { preconditions: {} });
  await env.clock.runUntilIdle();
  assert.equal(env.stored('pods').size, 0);
  assert.equal(env.stored('statefulsets.apps').size, 0);
  await assert.rejects(env.client.get(resourceTypes.namespaces, { name: 'demo' }), /404/);
  await env.close();
});
