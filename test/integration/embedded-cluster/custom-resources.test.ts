/* oxlint-disable typescript/no-unsafe-assignment -- answers are looked into by path, and a wrong path fails the assertion */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import { type Answer, type Env, newEnv } from './protocol-env.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const RINGS = '/apis/demo.example.com/v1/namespaces/demo/rings';
const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };

const schema: JsonObject = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['replicas'],
      properties: {
        replicas: { type: 'integer', minimum: 0, maximum: 9 },
        mode: { type: 'string', enum: ['fast', 'safe'], default: 'safe' },
        limit: { 'x-kubernetes-int-or-string': true },
        note: { type: 'string', nullable: true },
        title: { type: 'string', default: 'none' },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        zones: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            properties: { name: { type: 'string' }, weight: { type: 'integer', default: 1 } },
          },
        },
      },
    },
    status: {
      type: 'object',
      properties: { replicas: { type: 'integer' }, selector: { type: 'string' } },
    },
  },
};

function definition(version: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'rings.demo.example.com' },
    spec: {
      group: 'demo.example.com',
      scope: 'Namespaced',
      names: { plural: 'rings', kind: 'Ring', shortNames: ['rg'], categories: ['all'] },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: {
            status: {},
            scale: {
              specReplicasPath: '.spec.replicas',
              statusReplicasPath: '.status.replicas',
              labelSelectorPath: '.status.selector',
            },
          },
          additionalPrinterColumns: [
            { name: 'Mode', type: 'string', jsonPath: '.spec.mode' },
            { name: 'Heavy', type: 'integer', jsonPath: '.spec.zones[?(@.name=="b")].weight' },
            { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
          ...version,
        },
      ],
    },
  };
}

function ring(name: string, spec: JsonObject): JsonObject {
  return { apiVersion: 'demo.example.com/v1', kind: 'Ring', metadata: { name }, spec };
}

async function established(): Promise<Env> {
  const env = await newEnv();
  assert.equal((await env.send('POST', DEFINITIONS, definition())).status, 201);
  await env.clock.runUntilIdle();
  return env;
}

function causesOf({ body }: Answer): readonly string[] {
  const causes: readonly { readonly field: string }[] = body.details.causes;
  return causes.map(({ field }) => field);
}

test('[cluster 50] a definition is established a step later; until then its resource is not served', async () => {
  const env = await newEnv();
  await env.send('POST', DEFINITIONS, definition());
  assert.equal((await env.send('GET', RINGS)).status, 404);
  await env.clock.advance(millis(10));
  assert.equal((await env.send('GET', RINGS)).status, 200);
  const { body } = await env.send('GET', `${DEFINITIONS}/rings.demo.example.com`);
  assert.deepEqual(body.status.storedVersions, ['v1']);
  assert.deepEqual(
    body.status.conditions.map(({ type }: { readonly type: string }) => type),
    ['NamesAccepted', 'Established'],
  );
  assert.equal(body.status.acceptedNames.listKind, 'RingList');
  const groups = await env.send('GET', '/apis/demo.example.com/v1');
  assert.deepEqual(
    groups.body.resources.map(({ name }: { readonly name: string }) => name),
    ['rings', 'rings/scale', 'rings/status'],
  );
});

test('[cluster 50] unknown fields are pruned with a warning, refused under Strict, kept where that is allowed', async () => {
  const env = await established();
  const spec = { replicas: 1, repliccas: 2, free: { any: { thing: 1 } } };
  const made = await env.send('POST', RINGS, ring('a', spec));
  assert.equal(made.status, 201);
  assert.match(made.headers['warning'] ?? '', /unknown field \\"spec.repliccas\\"/);
  assert.deepEqual(made.body.spec, {
    replicas: 1,
    free: { any: { thing: 1 } },
    mode: 'safe',
    title: 'none',
  });
  const strict = await env.send('POST', `${RINGS}?fieldValidation=Strict`, ring('b', spec));
  assert.equal(strict.status, 400);
});

test('[cluster 50] defaults fill what is absent, null of a field that is not nullable, and list elements', async () => {
  const env = await established();
  const spec = { replicas: 1, title: null, note: null, zones: [{ name: 'a' }] };
  const { body } = await env.send('POST', RINGS, ring('a', spec));
  assert.deepEqual(body.spec, {
    replicas: 1,
    note: null,
    zones: [{ name: 'a', weight: 1 }],
    title: 'none',
    mode: 'safe',
  });
});

test('[cluster 50] values that break the schema are 422 with a cause for each', async () => {
  const env = await established();
  const refused = async (spec: JsonObject): Promise<readonly string[]> => {
    const answer = await env.send('POST', RINGS, ring('a', spec));
    assert.deepEqual([answer.status, answer.body.reason], [422, 'Invalid']);
    return causesOf(answer);
  };
  assert.deepEqual(await refused({}), ['spec.replicas']);
  assert.deepEqual(await refused({ replicas: 10, mode: 'slow' }), ['spec.replicas', 'spec.mode']);
  assert.deepEqual(await refused({ replicas: 'one' }), ['spec.replicas']);
  assert.deepEqual(await refused({ replicas: 1, limit: true }), ['spec.limit']);
  const zones = [{ name: 'a' }, { name: 'a' }];
  assert.deepEqual(await refused({ replicas: 1, zones }), ['spec.zones[1]']);
});

test('[cluster 9] spec and status of a custom resource are written apart, metadata not through its status', async () => {
  const env = await established();
  const created = await env.send('POST', RINGS, {
    ...ring('a', { replicas: 1 }),
    status: { replicas: 7 },
  });
  assert.equal(created.body.status, undefined);
  const status = { replicas: 3 };
  const part = await env.send('PATCH', `${RINGS}/a/status`, {
    metadata: { annotations: { a: 'b' } },
    spec: { replicas: 5 },
    status,
  });
  assert.deepEqual(part.body.status, status);
  assert.equal(part.body.spec.replicas, 1);
  assert.equal(part.body.metadata.annotations, undefined);
  assert.equal(part.body.metadata.generation, 1);
  const main = await env.send('PATCH', `${RINGS}/a`, {
    spec: { replicas: 2 },
    status: { replicas: 9 },
  });
  assert.deepEqual([main.body.status, main.body.metadata.generation], [status, 2]);
});

test('[cluster 23] a PUT of a custom resource without resourceVersion is 422', async () => {
  const env = await established();
  await env.send('POST', RINGS, ring('a', { replicas: 1 }));
  assert.equal((await env.send('PUT', `${RINGS}/a`, ring('a', { replicas: 2 }))).status, 422);
});

test('a custom resource takes a JSON merge patch and no strategic one', async () => {
  const env = await established();
  await env.send('POST', RINGS, ring('a', { replicas: 1 }));
  const merged = await env.send('PATCH', `${RINGS}/a`, { spec: { mode: 'fast' } });
  assert.equal(merged.body.spec.mode, 'fast');
  const type = { 'content-type': 'application/strategic-merge-patch+json' };
  assert.equal((await env.send('PATCH', `${RINGS}/a`, {}, type)).status, 415);
});

test('the scale of a custom resource follows the paths of its definition', async () => {
  const env = await established();
  await env.send('POST', RINGS, ring('a', { replicas: 1 }));
  await env.send('PATCH', `${RINGS}/a/status`, { status: { replicas: 1, selector: 'app=a' } });
  const scaled = await env.send('PATCH', `${RINGS}/a/scale`, { spec: { replicas: 4 } });
  assert.deepEqual(
    [scaled.body.spec, scaled.body.status],
    [{ replicas: 4 }, { replicas: 1, selector: 'app=a' }],
  );
  assert.equal((await env.send('GET', `${RINGS}/a`)).body.spec.replicas, 4);
});

test('[cluster 50] the Table of a custom resource has the columns of its definition', async () => {
  const env = await established();
  const zones = [{ name: 'b', weight: 5 }];
  await env.send('POST', RINGS, ring('a', { replicas: 1, zones }));
  await env.clock.advance(millis(60_000));
  const { body } = await env.send('GET', RINGS, undefined, TABLE);
  assert.deepEqual(
    body.columnDefinitions.map(({ name }: { readonly name: string }) => name),
    ['Name', 'Mode', 'Heavy', 'Age'],
  );
  assert.deepEqual(body.rows[0].cells, ['a', 'safe', 5, '60s']);
});

test('a definition that is deleted takes its instances with it, and waits for finalizers', async () => {
  const env = await established();
  const held = ring('a', { replicas: 1 });
  const metadata = { name: 'a', finalizers: ['demo.example.com/hold'] };
  await env.send('POST', RINGS, { ...held, metadata });
  await env.send('POST', RINGS, ring('b', { replicas: 1 }));
  const path = `${DEFINITIONS}/rings.demo.example.com`;
  await env.send('DELETE', path);
  await env.clock.runUntilIdle();
  assert.equal((await env.send('GET', `${RINGS}/b`)).status, 404);
  assert.equal((await env.send('GET', path)).status, 200);
  assert.equal((await env.send('POST', RINGS, ring('c', { replicas: 1 }))).status, 405);
  await env.send('PATCH', `${RINGS}/a`, { metadata: { finalizers: [] } });
  await env.clock.runUntilIdle();
  assert.equal((await env.send('GET', path)).status, 404);
  assert.equal((await env.send('GET', RINGS)).status, 404);
});

test('a definition whose name, scope, versions or schema make no sense is 422', async () => {
  const env = await newEnv();
  const broken = definition({ schema: {} });
  const answer = await env.send('POST', DEFINITIONS, { ...broken, metadata: { name: 'rings' } });
  assert.equal(answer.status, 422);
  assert.deepEqual(causesOf(answer), ['metadata.name', 'spec.versions[0].schema.openAPIV3Schema']);
});

test('a definition with rules in CEL is accepted with a warning', async () => {
  const env = await newEnv();
  const ruled = { ...schema, 'x-kubernetes-validations': [{ rule: 'true' }] };
  const answer = await env.send(
    'POST',
    DEFINITIONS,
    definition({ schema: { openAPIV3Schema: ruled } }),
  );
  assert.equal(answer.status, 201);
  assert.match(
    answer.headers['warning'] ?? '',
    /x-kubernetes-validations is stored but has no effect/,
  );
});
