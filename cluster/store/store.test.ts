import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { SeededRandom } from '../seeded-random.ts';
import type { Change } from './change.ts';
import { STALE, Store } from './store.ts';

interface World {
  readonly store: Store;
  readonly put: (key: string, object: JsonObject) => Change;
  readonly remove: (key: string) => Change;
  time: number;
}

function world(): World {
  const self = {
    time: 0,
    store: new Store({ random: new SeededRandom(1), now: (): number => self.time }),
    put(key: string, object: JsonObject): Change {
      return committed(self.store, key, object);
    },
    remove(key: string): Change {
      return committed(self.store, key, undefined);
    },
  };
  return self;
}

function committed(store: Store, key: string, after: JsonObject | undefined): Change {
  const before = store.collection('pods').get(key);
  const change = store.commit({ resource: 'pods', key, before, after });
  if (change === undefined || change === STALE) throw new Error(`nothing was committed for ${key}`);
  return change;
}

const keys = (store: Store, namespace = ''): readonly string[] =>
  store
    .collection('pods')
    .list(namespace)
    .map(({ key }) => key);

test('Store starts above revision 1000 and counts over all resources', () => {
  const { store } = world();
  const start = store.revision;
  assert.ok(start > 1_000);
  store.commit({ resource: 'pods', key: 'a/x', before: undefined, after: { metadata: {} } });
  store.commit({ resource: 'nodes', key: 'n', before: undefined, after: { metadata: {} } });
  assert.equal(store.revision, start + 2);
});

test('list() orders keys bytewise, so that a-b/x precedes a/x', () => {
  const { store, put } = world();
  for (const key of ['a/x', 'b/y', 'a-b/x', 'a/b']) put(key, {});
  assert.deepEqual(keys(store), ['a-b/x', 'a/b', 'a/x', 'b/y']);
  assert.deepEqual(keys(store, 'a'), ['a/b', 'a/x']);
});

test('commit() of an equal state commits nothing', () => {
  const { store, put } = world();
  put('a/x', { metadata: { labels: { a: '1' } } });
  const before = store.collection('pods').get('a/x');
  const after = { metadata: { labels: { a: '1' } } };
  assert.equal(store.commit({ resource: 'pods', key: 'a/x', before, after }), undefined);
});

test('commit() from an outdated base is stale', () => {
  const { store, put } = world();
  put('a/x', { spec: 1 });
  const before = store.collection('pods').get('a/x');
  put('a/x', { spec: 2 });
  assert.equal(store.commit({ resource: 'pods', key: 'a/x', before, after: { spec: 3 } }), STALE);
});

test('stored objects are deeply frozen and carry their revision', () => {
  const { put } = world();
  const { after, revision } = put('a/x', { metadata: { labels: {} }, spec: { list: [{}] } });
  assert.deepEqual(after?.object['metadata'], { labels: {}, resourceVersion: String(revision) });
  assert.ok(Object.isFrozen(after?.object['spec']));
});

test('a DELETED line carries the last object with the revision of the deletion', () => {
  const { put, remove } = world();
  put('a/x', { metadata: {}, spec: 1 });
  const change = remove('a/x');
  assert.deepEqual(JSON.parse(change.line('DELETED').toString()), {
    type: 'DELETED',
    object: { metadata: { resourceVersion: String(change.revision) }, spec: 1 },
  });
});

test('at() rebuilds an older state', () => {
  const { store, put, remove } = world();
  put('a/x', { spec: 1 });
  const { revision } = put('a/y', { spec: 1 });
  put('a/x', { spec: 2 });
  remove('a/y');
  put('a/z', { spec: 1 });
  const past = store.collection('pods').at(revision);
  assert.deepEqual(
    past?.map(({ key, object }) => [key, object['spec']]),
    [
      ['a/x', 1],
      ['a/y', 1],
    ],
  );
});

test('at() answers undefined once the log was compacted', () => {
  const { store, put } = world();
  const { revision } = put('a/x', { spec: 1 });
  put('a/x', { spec: 2 });
  store.compact();
  assert.equal(store.collection('pods').at(revision), undefined);
  assert.equal(store.collection('pods').at(store.revision)?.length, 1);
});

test('the log keeps 75 s however many changes there are, then forgets the oldest beyond its capacity', () => {
  const w = world();
  for (let i = 0; i < 150; i += 1) w.put('a/x', { spec: i });
  const { history } = w.store.collection('pods');
  const start = history.forgottenTo;
  assert.equal(history.since(start).length, 150);
  w.time = 80_000;
  for (let i = 0; i < 100; i += 1) w.put('a/x', { other: i });
  assert.equal(history.since(history.forgottenTo).length, 200);
  assert.ok(history.forgottenTo > start);
});

test('indexed() follows later changes', () => {
  const { store, put, remove } = world();
  const index = { name: 'spec', keysOf: (object: JsonObject) => [JSON.stringify(object['spec'])] };
  const under = (value: string): readonly string[] =>
    store
      .collection('pods')
      .indexed(index, value)
      .map(({ key }) => key);
  put('a/x', { spec: 1 });
  assert.deepEqual(under('1'), ['a/x']);
  put('a/y', { spec: 1 });
  put('a/x', { spec: 2 });
  assert.deepEqual(under('1'), ['a/y']);
  remove('a/x');
  assert.deepEqual(under('2'), []);
});
