/* oxlint-disable typescript/no-unsafe-assignment -- answers are looked into by path, and a wrong path fails the assertion */
/** Custom resources, for every cluster. */
import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json.ts';
import type { Answer, Env } from '../env.ts';
import type { Scenario } from '../rollouts.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };

const zones: JsonObject = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: {
    type: 'object',
    required: ['name'],
    properties: { name: { type: 'string' }, weight: { type: 'integer', default: 1 } },
  },
};

const specProperties: JsonObject = {
  replicas: { type: 'integer', minimum: 0, maximum: 9 },
  mode: { type: 'string', enum: ['fast', 'safe'], default: 'safe' },
  note: { type: 'string', nullable: true },
  title: { type: 'string', default: 'none' },
  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  zones,
};

const subresources: JsonObject = {
  status: {},
  scale: {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  },
};

const additionalPrinterColumns: readonly JsonObject[] = [
  { name: 'Mode', type: 'string', jsonPath: '.spec.mode' },
  { name: 'Heavy', type: 'integer', jsonPath: '.spec.zones[?(@.name=="b")].weight' },
];

/** The type `Ring`, in a group of the environment's own. */
class Rings {
  readonly #env: Env;
  readonly #group: string;
  readonly path: string;

  private constructor(env: Env) {
    this.#env = env;
    this.#group = `${env.namespace}.example.com`;
    this.path = `/apis/${this.#group}/v1/namespaces/${env.namespace}/rings`;
  }

  /** Makes the definition and waits until it is served. */
  static async define(env: Env, rules: readonly JsonObject[] = []): Promise<Rings> {
    const rings = new Rings(env);
    const group = rings.#group;
    const spec: JsonObject = {
      type: 'object',
      required: ['replicas'],
      properties: specProperties,
      ...(rules.length > 0 && { 'x-kubernetes-validations': rules }),
    };
    const status = {
      type: 'object',
      properties: { replicas: { type: 'integer' }, selector: { type: 'string' } },
    };
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec, status } } };
    const version = {
      name: 'v1',
      served: true,
      storage: true,
      schema,
      subresources,
      additionalPrinterColumns,
    };
    const answer = await env.ask('POST', DEFINITIONS, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `rings.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'rings', kind: 'Ring' },
        versions: [version],
      },
    });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    await env.untilAnswered(rings.path, 200);
    return rings;
  }

  create(name: string, spec: JsonObject, query = ''): Promise<Answer> {
    const body = { apiVersion: `${this.#group}/v1`, kind: 'Ring', metadata: { name }, spec };
    return this.#env.ask('POST', `${this.path}${query}`, body);
  }

  async remove(): Promise<void> {
    const path = `${DEFINITIONS}/rings.${this.#group}`;
    await this.#env.ask('DELETE', path);
    await this.#env.untilAnswered(path, 404);
  }
}

async function withRings(
  env: Env,
  act: (rings: Rings) => Promise<void>,
  rules?: readonly JsonObject[],
): Promise<void> {
  const rings = await Rings.define(env, rules);
  await act(rings);
  await rings.remove();
}

function causesOf({ body }: Answer): readonly string[] {
  const causes: readonly { readonly field: string }[] = body.details.causes;
  return causes.map(({ field }) => field).toSorted();
}

/** Keyed by a sentence. */
export const customResources: Readonly<Record<string, Scenario>> = {
  '[cluster 50] unknown fields are pruned, refused under Strict, and kept where that is allowed': {
    act: (env) =>
      withRings(env, async (rings) => {
        const spec = { replicas: 1, typo: 2, free: { any: [1] } };
        const pruned = await rings.create('a', spec);
        assert.equal(pruned.status, 201);
        assert.equal(pruned.body.spec.typo, undefined);
        assert.deepEqual(pruned.body.spec.free, { any: [1] });
        assert.match(pruned.headers['warning'] ?? '', /unknown field .*spec\.typo/);
        assert.equal((await rings.create('b', spec, '?fieldValidation=Strict')).status, 400);
      }),
  },
  '[cluster 50] defaults fill what is absent, null of a field that is not nullable, and list elements':
    {
      act: (env) =>
        withRings(env, async (rings) => {
          const { body } = await rings.create('a', {
            replicas: 1,
            title: null,
            note: null,
            zones: [{ name: 'b' }],
          });
          const { mode, title, note, zones: stored } = body.spec;
          assert.deepEqual(
            { mode, title, note, zones: stored },
            {
              mode: 'safe',
              title: 'none',
              note: null,
              zones: [{ name: 'b', weight: 1 }],
            },
          );
        }),
    },
  '[cluster 50] values that break the schema are 422 with a cause for each': {
    act: (env) =>
      withRings(env, async (rings) => {
        const zone = { name: 'b' };
        const refused = await rings.create('a', {
          replicas: 10,
          mode: 'slow',
          zones: [zone, zone],
        });
        assert.equal(refused.status, 422);
        assert.deepEqual(causesOf(refused), ['spec.mode', 'spec.replicas', 'spec.zones[1]']);
      }),
  },
  '[cluster 9, 23, 50] spec and status are written apart, metadata not through the status, and a PUT needs a version':
    {
      act: (env) =>
        withRings(env, async (rings) => {
          await rings.create('a', { replicas: 1 });
          const part = await env.ask('PATCH', `${rings.path}/a/status`, {
            metadata: { annotations: { a: 'b' } },
            spec: { replicas: 5 },
            status: { replicas: 3 },
          });
          const { spec, status, metadata } = part.body;
          assert.deepEqual([spec.replicas, status], [1, { replicas: 3 }]);
          assert.deepEqual([metadata.annotations, metadata.generation], [undefined, 1]);
          const put = { ...part.body, metadata: { name: 'a' } };
          assert.equal((await env.ask('PUT', `${rings.path}/a`, put)).status, 422);
        }),
    },
  '[cluster 50] the scale follows the paths of the definition': {
    act: (env) =>
      withRings(env, async (rings) => {
        await rings.create('a', { replicas: 1 });
        await env.ask('PATCH', `${rings.path}/a/status`, {
          status: { replicas: 1, selector: 'app=a' },
        });
        const { body } = await env.ask('PATCH', `${rings.path}/a/scale`, { spec: { replicas: 4 } });
        assert.deepEqual(
          [body.spec, body.status],
          [{ replicas: 4 }, { replicas: 1, selector: 'app=a' }],
        );
        assert.equal((await env.ask('GET', `${rings.path}/a`)).body.spec.replicas, 4);
      }),
  },
  '[cluster 50] the Table has the columns of the definition': {
    act: (env) =>
      withRings(env, async (rings) => {
        await rings.create('a', { replicas: 1, zones: [{ name: 'b', weight: 5 }] });
        const { body } = await env.ask('GET', rings.path, undefined, TABLE);
        const columns: readonly { readonly name: string }[] = body.columnDefinitions;
        assert.deepEqual(
          columns.map(({ name }) => name),
          ['Name', 'Mode', 'Heavy'],
        );
        assert.deepEqual(body.rows[0].cells, ['a', 'safe', 5]);
      }),
  },
  '[cluster 50] a definition that is deleted takes its instances with it': {
    act: (env) =>
      withRings(env, async (rings) => {
        await rings.create('a', { replicas: 1 });
        await env.ask('PATCH', `${rings.path}/a`, { metadata: { finalizers: ['test.example/x'] } });
        await env.ask('DELETE', `${DEFINITIONS}/rings.${env.namespace}.example.com`);
        await env.untilAnswered(`${rings.path}/a`, 200);
        await env.ask('PATCH', `${rings.path}/a`, { metadata: { finalizers: null } });
      }),
  },
  '[cluster 51] rules in CEL are kept, those that look at the old value not on create': {
    needs: ['cel'],
    act: (env) =>
      withRings(
        env,
        async (rings) => {
          const refused = await rings.create('a', { replicas: 8, mode: 'safe' });
          assert.equal(refused.status, 422);
          assert.match(refused.body.message, /safe rings have at most five/);
          assert.equal((await rings.create('a', { replicas: 3 })).status, 201);
          const shrunk = await env.ask('PATCH', `${rings.path}/a`, { spec: { replicas: 2 } });
          assert.equal(shrunk.status, 422);
          assert.match(shrunk.body.message, /rings never shrink/);
          assert.equal(
            (await env.ask('PATCH', `${rings.path}/a`, { spec: { replicas: 4 } })).status,
            200,
          );
        },
        [
          {
            rule: "self.mode != 'safe' || self.replicas <= 5",
            message: 'safe rings have at most five',
          },
          { rule: 'self.replicas >= oldSelf.replicas', message: 'rings never shrink' },
        ],
      ),
  },
};
