/* oxlint-disable typescript/no-unsafe-assignment -- answers are looked into by path, and a wrong path fails the assertion */
/** What the server says it serves, for every cluster. */
import assert from 'node:assert/strict';
import { resourceTable } from '#cluster/resource/table.ts';
import { apiVersionOf } from '#kubernetes/resource-type.ts';
import type { Env } from '../env.ts';
import type { Scenario } from '../rollouts.ts';

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

function sorted(texts: readonly string[]): readonly string[] {
  return texts.toSorted((one, other) => (one < other ? -1 : 1));
}

function servedOf(kind: string, resource: Document): Served {
  const { singularResource, singularName, shortNames = [], verbs, scope, namespaced } = resource;
  return {
    kind,
    isNamespaced: namespaced ?? scope === 'Namespaced',
    singular: singularName ?? singularResource,
    shortNames,
    verbs: sorted(verbs),
  };
}

async function aggregated(env: Env): Promise<ReadonlyMap<string, Served>> {
  const found = new Map<string, Served>();
  for (const path of ['/api', '/apis']) {
    const { body } = await env.ask('GET', path, undefined, { accept: AGGREGATED });
    const groups: readonly Document[] = body.items;
    for (const group of groups) for (const entry of partsOf(group)) found.set(...entry);
  }
  return found;
}

/** All resources of one group and their subresources. */
function partsOf({ metadata, versions }: Document): readonly (readonly [string, Served])[] {
  const { name = '' } = metadata;
  const versioned: readonly Document[] = versions;
  return versioned.flatMap(({ version, resources }) => {
    const prefix: string = name === '' ? version : `${name}/${version}`;
    const all: readonly Document[] = resources;
    return all.flatMap((each) => {
      const whole = `${prefix} ${each.resource}`;
      const parts: readonly Document[] = each.subresources ?? [];
      return [
        [whole, servedOf(each.responseKind.kind, each)] as const,
        ...parts.map(({ subresource, responseKind, verbs }) => {
          const part = { ...each, shortNames: [], singularResource: '', verbs };
          return [`${whole}/${subresource}`, servedOf(responseKind.kind, part)] as const;
        }),
      ];
    });
  });
}

async function legacy(env: Env, apiVersion: string): Promise<ReadonlyMap<string, Served>> {
  const path = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  const { body } = await env.ask('GET', path);
  const resources: readonly Document[] = body.resources;
  return new Map(
    resources.map((each) => [`${apiVersion} ${each.name}`, servedOf(each.kind, each)]),
  );
}

function describe(
  name: string,
  served: Pick<Served, 'kind' | 'isNamespaced' | 'verbs'> | undefined,
): string {
  const { kind = '', isNamespaced = false, verbs = [] } = served ?? {};
  return `${name}: ${kind}${isNamespaced ? ', namespaced' : ''}, ${verbs.join(' ')}`;
}

/** Keyed by a sentence. */
export const discovery: Readonly<Record<string, Scenario>> = {
  '[cluster 1] both forms of discovery tell the same of every resource of the table, and of their parts':
    {
      act: async (env) => {
        const whole = await aggregated(env);
        const served: string[] = [];
        const wanted: string[] = [];
        for (const { type, verbs } of resourceTable) {
          const apiVersion = apiVersionOf(type);
          const older = await legacy(env, apiVersion);
          const name = `${apiVersion} ${type.plural}`;
          const found = whole.get(name);
          assert.deepEqual(found, older.get(name), name);
          served.push(describe(name, found));
          const { kind, isNamespaced } = type;
          wanted.push(describe(name, { kind, isNamespaced, verbs: sorted(verbs) }));
        }
        assert.deepEqual(served, wanted);
        const kinds = ['v1 pods/eviction', 'v1 pods/binding', 'apps/v1 statefulsets/scale'].map(
          (name) => whole.get(name)?.kind,
        );
        assert.deepEqual(kinds, ['Eviction', 'Binding', 'Scale']);
      },
    },
};
