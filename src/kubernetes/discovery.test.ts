import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { GroupWorld, refusal } from '#support/rollouts/group-world.ts';
import { ScalableKinds } from './discovery.ts';

const { signal } = new AbortController();

function resource(kind: string, name: string, rest: JsonObject = {}): JsonObject {
  return { kind, name, namespaced: true, ...rest };
}

const widgets = [resource('Widget', 'widgets'), resource('Scale', 'widgets/scale')];

/** A server with these resources, by `group/version` or `v1`. */
function server(versions: Readonly<Record<string, readonly JsonObject[]>>): GroupWorld {
  const world = new GroupWorld({ sets: [], pods: [] });
  const groups = new Map<string, string[]>();
  for (const [apiVersion, resources] of Object.entries(versions)) {
    const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
    world.documents.set(`${group === '' ? '/api' : '/apis'}/${apiVersion}`, { resources });
    if (group !== '') groups.set(group, [...(groups.get(group) ?? []), apiVersion]);
  }
  const listed = [...groups].map(([name, apiVersions]) => ({
    name,
    versions: apiVersions.map((groupVersion) => ({ groupVersion })),
    preferredVersion: { groupVersion: apiVersions[0] ?? '' },
  }));
  for (const group of listed) world.documents.set(`/apis/${group.name}`, group);
  world.documents.set('/apis', { groups: listed });
  return world;
}

interface Case {
  readonly versions: Readonly<Record<string, readonly JsonObject[]>>;
  readonly group: string;
  /** `plural.version.group`, or the end of the message. */
  readonly want: string | RegExp;
}

const cases: Record<string, Case> = {
  'the preferred version of a group': {
    versions: { 'my.group/v2': widgets, 'my.group/v1': widgets },
    group: 'my.group',
    want: 'widgets.v2.my.group',
  },
  'another version where the preferred one does not have the kind': {
    versions: { 'my.group/v2': [], 'my.group/v1beta1': widgets },
    group: 'my.group',
    want: 'widgets.v1beta1.my.group',
  },
  'a kind of the core group': { versions: { v1: widgets }, group: '', want: 'widgets.v1.' },
  'the resource that can be scaled, of two of one kind': {
    versions: { 'my.group/v1': [resource('Widget', 'aliases'), ...widgets] },
    group: 'my.group',
    want: 'widgets.v1.my.group',
  },
  'no kind without a scale subresource': {
    versions: { 'my.group/v1': [resource('Widget', 'widgets')] },
    group: 'my.group',
    want: /kind "Widget" of API group "my\.group" has no scale subresource$/,
  },
  'no cluster-scoped kind': {
    versions: {
      'my.group/v1': [resource('Widget', 'widgets', { namespaced: false }), ...widgets.slice(1)],
    },
    group: 'my.group',
    want: /API group "my\.group" has no kind "Widget"$/,
  },
  'no kind of a group that does not exist': {
    versions: { v1: [] },
    group: 'my.group',
    want: /the server has no API group "my\.group"$/,
  },
  'no kind that only another group has, and names it (KW-28)': {
    versions: { v1: [], 'my.group/v1': widgets, 'other.group/v1': [] },
    group: '',
    want: /"my\.group\/v1" has one: name it in the api-version annotation$/,
  },
  'no kind that two other groups have, and names none (KW-28)': {
    versions: { v1: [], 'my.group/v1': widgets, 'other.group/v1': widgets },
    group: '',
    want: /has no kind "Widget"$/,
  },
};

for (const [what, { versions, group, want }] of Object.entries(cases)) {
  test(`[scenario 57] ScalableKinds finds ${what}`, async () => {
    const world = server(versions);
    const kinds = new ScalableKinds(world.client, world.clock);
    const found = await kinds.resolve(group, 'Widget', signal);
    if (found.kind === 'found') {
      const { type } = found;
      assert.equal(`${type.plural}.${type.version}.${type.group}`, want);
    } else {
      assert.match(found.message, want instanceof RegExp ? want : /it should have been found/);
    }
  });
}

test('ScalableKinds remembers what it found, and asks again for it when forgotten', async () => {
  const world = server({ 'my.group/v1': widgets });
  const kinds = new ScalableKinds(world.client, world.clock);
  for (let turn = 0; turn < 3; turn += 1) await kinds.resolve('my.group', 'Widget', signal);
  await world.clock.advance(600_000);
  await kinds.resolve('my.group', 'Widget', signal);
  assert.equal(world.taken().length, 2);
  kinds.forget('my.group', 'Widget');
  await kinds.resolve('my.group', 'Widget', signal);
  assert.equal(world.taken().length, 2);
});

test('ScalableKinds asks again for what it did not find after 30 s, and not before', async () => {
  const world = server({ v1: [] });
  const kinds = new ScalableKinds(world.client, world.clock);
  await kinds.resolve('my.group', 'Widget', signal);
  world.taken();
  await world.clock.advance(30_000);
  await kinds.resolve('my.group', 'Widget', signal);
  assert.deepEqual(world.taken(), []);
  await world.clock.advance(1);
  await kinds.resolve('my.group', 'Widget', signal);
  assert.deepEqual(world.taken(), ['get /apis/my.group']);
});

test('ScalableKinds throws what the server refuses with, and forgets it', async () => {
  const world = server({ 'my.group/v1': widgets });
  const kinds = new ScalableKinds(world.client, world.clock);
  world.before = () => {
    throw refusal(500);
  };
  await assert.rejects(kinds.resolve('my.group', 'Widget', signal), { status: 500 });
  world.before = () => undefined;
  assert.equal((await kinds.resolve('my.group', 'Widget', signal)).kind, 'found');
});
