/** Garbage collection and namespaces, for every cluster. */
import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Env } from '../env.ts';
import type { Scenario } from '../rollouts.ts';
import { createReadySet, names } from './sets.ts';

type Policy = 'Background' | 'Foreground' | 'Orphan';

async function deleteSet(env: Env, propagationPolicy: Policy): Promise<void> {
  const key = { namespace: env.namespace, name: 'db' };
  const options = { preconditions: {}, propagationPolicy };
  await env.run(env.admin.delete(resourceTypes.statefulSets, key, options));
}

const hasSet = (env: Env): boolean => env.names('statefulsets.apps').includes('db');

async function createConfigMap(
  env: Env,
  name: string,
  owners: readonly { readonly name: string; readonly uid: string }[] = [],
): Promise<string> {
  const metadata = {
    name,
    namespace: env.namespace,
    ownerReferences: owners.map((owner) => ({ apiVersion: 'v1', kind: 'ConfigMap', ...owner })),
  };
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
  const created = await env.run(env.admin.create(resourceTypes.configMaps, metadata, { body }));
  return created.metadata.uid;
}

async function deleteConfigMap(env: Env, name: string): Promise<void> {
  const key = { namespace: env.namespace, name };
  await env.run(env.admin.delete(resourceTypes.configMaps, key, { preconditions: {} }));
}

function ownersOf(object: JsonObject | undefined): readonly string[] {
  const { metadata } = (object ?? {}) as {
    metadata?: { ownerReferences?: readonly { readonly name: string }[] };
  };
  return metadata?.ownerReferences?.map(({ name }) => name) ?? [];
}

/** Keyed by a sentence. */
export const collection: Readonly<Record<string, Scenario>> = {
  '[cluster 48] a background deletion takes the pods and revisions of a set, after the set': {
    act: async (env) => {
      await createReadySet(env);
      await deleteSet(env, 'Background');
      await env.until('all are gone', () => {
        return names(env).length === 0 && env.names('controllerrevisions.apps').length === 0;
      });
      const ends = env.history().filter(({ verb }) => verb === 'delete');
      assert.equal(ends[0]?.resource, 'statefulsets.apps');
    },
  },
  '[cluster 48] a foreground deletion keeps the set until its pods are gone': {
    act: async (env) => {
      await createReadySet(env);
      await deleteSet(env, 'Foreground');
      await env.until('all are gone', () => names(env).length === 0 && !hasSet(env));
      const ends = env.history().filter(({ verb }) => verb === 'delete');
      const owned = ends.filter(({ resource }) => resource !== 'controllerrevisions.apps');
      assert.equal(owned.at(-1)?.resource, 'statefulsets.apps');
    },
  },
  '[cluster 48] an orphaning deletion leaves the pods, without owner': {
    act: async (env) => {
      await createReadySet(env);
      await deleteSet(env, 'Orphan');
      await env.until('the set is gone', () => !hasSet(env));
      assert.deepEqual(
        names(env).map((name) => ownersOf(env.stored('pods', name))),
        [[], [], []],
      );
    },
  },
  '[cluster 48] an object with two owners goes with the last one': {
    act: async (env) => {
      const first = await createConfigMap(env, 'first');
      const second = await createConfigMap(env, 'second');
      const owners = [
        { name: 'first', uid: first },
        { name: 'second', uid: second },
      ];
      await createConfigMap(env, 'child', owners);
      await deleteConfigMap(env, 'first');
      await env.until('one owner is left', () => {
        return ownersOf(env.stored('configmaps', 'child')).join() === 'second';
      });
      await deleteConfigMap(env, 'second');
      await env.until('the child is gone', () => !env.names('configmaps').includes('child'));
    },
  },
  '[cluster 48] an owner of another uid counts as gone': {
    act: async (env) => {
      await createConfigMap(env, 'owner');
      const uid = '00000000-0000-4000-8000-000000000000';
      await createConfigMap(env, 'child', [{ name: 'owner', uid }]);
      await env.until('the child is gone', () => !env.names('configmaps').includes('child'));
      assert.equal(env.names('configmaps').includes('owner'), true);
    },
  },
  '[cluster 49] a deleted namespace is drained, pods gracefully, and then gone': {
    act: async (env) => {
      await createReadySet(env);
      const { namespace } = env;
      const options = { preconditions: {} };
      await env.run(env.admin.delete(resourceTypes.namespaces, { name: namespace }, options));
      await env.until('all is gone', () => {
        return names(env).length === 0 && !hasSet(env) && env.names('serviceaccounts').length === 0;
      });
      const seen = env
        .history()
        .some(
          ({ resource, after }) =>
            resource === 'pods' && JSON.stringify(after ?? {}).includes('"deletionTimestamp"'),
        );
      assert.equal(seen, true);
      const path = `/api/v1/namespaces/${namespace}`;
      await env.untilAnswered(path, 404);
    },
  },
};
