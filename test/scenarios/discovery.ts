/** What the server says it serves (embedded cluster §24, T01), for every cluster. */
import assert from 'node:assert/strict';
import { resourceTable } from '#embedded-cluster/resource/table.ts';
import { apiVersionOf } from '#kubernetes/resource-type.ts';
import type { Env } from './env.ts';
import type { Scenario } from './rollouts.ts';

const AGGREGATED =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';

/** One resource, as both forms of discovery tell of it. */
interface Served {
  readonly kind: string;
  readonly isNamespaced: boolean;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly verbs: readonly string[];
}

type Document = ReturnType<typeof JSON.parse>;

function servedOf(kind: string, resource: Document): Served {
  const { singularResource, singularName, shortNames = [], verbs, scope, namespaced } = resource;
  return {
    kind,
    isNamespaced: namespaced ?? scope === 'Namespaced',
    singular: singularName ?? singularResource,
    shortNames,
    verbs: [...verbs].toSorted(),
  };
}

async function aggregated(env: Env): Promise<ReadonlyMap<string, Served>> {
  const found = new Map<string, Served>();
  for (const path of ['/api', '/apis']) {
    const { body } = await env.ask('GET', path, undefined, { accept: AGGREGATED });
    for (const { metadata, versions } of body.items) {
      const { name = '' } = metadata;
      for (const { version, resources } of versions) {
        const apiVersion = name === '' ? version : `${name}/${version}`;
        for (const each of resources) {
          const { resource, responseKind, subresources = [] } = each;
          found.set(`${apiVersion} ${resource}`, servedOf(responseKind.kind, each));
          for (const part of subresources) {
            const { kind } = part.responseKind;
            const whole = { ...each, shortNames: [], singularResource: '', verbs: part.verbs };
            found.set(`${apiVersion} ${resource}/${part.subresource}`, servedOf(kind, whole));
          }
        }
      }
    }
  }
  return found;
}

async function legacy(env: Env, apiVersion: string): Promise<ReadonlyMap<string, Served>> {
  const path = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  const { body } = await env.ask('GET', path);
  const resources: readonly Document[] = body.resources;
  return new Map(
    resources.map((each) => [`${apiVersion} ${each.name}`, servedOf(each.kind, each)]),
  );
}

/** Keyed by a sentence. */
export const discovery: Readonly<Record<string, Scenario>> = {
  '[T01] both forms of discovery tell the same of every resource of the table, and of their parts':
    {
      act: async (env) => {
        const whole = await aggregated(env);
        for (const { type, verbs } of resourceTable) {
          const apiVersion = apiVersionOf(type);
          const older = await legacy(env, apiVersion);
          const name = `${apiVersion} ${type.plural}`;
          const served = whole.get(name);
          assert.deepEqual(served, older.get(name), name);
          assert.deepEqual(
            [served?.kind, served?.isNamespaced, served?.verbs],
            [type.kind, type.isNamespaced, [...verbs].toSorted()],
            name,
          );
        }
        const kinds = ['v1 pods/eviction', 'v1 pods/binding', 'apps/v1 statefulsets/scale'].map(
          (name) => whole.get(name)?.kind,
        );
        assert.deepEqual(kinds, ['Eviction', 'Binding', 'Scale']);
      },
    },
};
