import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { instant, millis } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';
import { factLine } from './facts.ts';
import { GroupObserver } from './group-observer.ts';

/** A store of the sets `a` and `b` with one pod each, and what an observer of it tells. */
class Story {
  readonly told: string[] = [];
  readonly observer = new GroupObserver({
    namespace: 'demo',
    sets: ['a', 'b'],
    onFact: (fact) => this.told.push(factLine(fact).trim()),
  });
  readonly #stored = new Map<string, JsonObject>();
  #revision = 0;

  commit(name: string, after: JsonObject | undefined, namespace = 'demo'): this {
    const resource = name.includes('-') ? 'pods' : 'statefulsets.apps';
    const before = this.#stored.get(name);
    this.#revision += 1;
    const commit: Commit = {
      at: instant(0),
      revision: this.#revision,
      verb: after === undefined ? 'delete' : before === undefined ? 'create' : 'update',
      resource,
      namespace,
      name,
      uid: name,
      user: 'system:admin',
      callId: this.#revision,
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
    };
    if (after === undefined) this.#stored.delete(name);
    else this.#stored.set(name, after);
    this.observer.observe(commit, millis(1_000));
    return this;
  }

  /** Both sets complete. */
  installed(): this {
    return this.commit('a', set('a', 'r1', 'r1'))
      .commit('b', set('b', 'r1', 'r1'))
      .commit('a-0', pod('a', { isReady: true }))
      .commit('b-0', pod('b', { isReady: true }));
  }
}

function set(name: string, current: string, target: string): JsonObject {
  return {
    metadata: { name, uid: name, generation: 1 },
    spec: { replicas: 1, template: { spec: { containers: [{ image: `db:${target}` }] } } },
    status: { observedGeneration: 1, currentRevision: current, updateRevision: target },
  };
}

function pod(
  name: string,
  state: { isReady?: boolean; revision?: string; waiting?: string; isGoing?: boolean },
): JsonObject {
  const { isReady = false, revision = 'r1', waiting, isGoing = false } = state;
  return {
    metadata: {
      labels: { 'controller-revision-hash': revision },
      ownerReferences: [{ uid: name, controller: true }],
      ...(isGoing && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: { containers: [{ image: `db:${revision}` }] },
    status: {
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
      containerStatuses: [{ state: waiting === undefined ? {} : { waiting: { reason: waiting } } }],
    },
  };
}

test('GroupObserver tells of an installation only when a zone is complete', () => {
  const { told } = new Story()
    .commit('a', set('a', 'r1', 'r1'))
    .commit('b', set('b', 'r1', 'r1'))
    .commit('a-0', pod('a', {}))
    .commit('a-0', pod('a', { isReady: true }))
    .commit('b-0', pod('b', { isReady: true }));
  assert.deepEqual(told, ['1.00 s  a  all 1 pods are ready', '1.00 s  b  all 1 pods are ready']);
});

test('GroupObserver tells each step of a restart once', () => {
  const story = new Story().installed();
  story.told.length = 0;
  story
    .commit('a', set('a', 'r1', 'r2'))
    .commit('a-0', pod('a', { isReady: true, isGoing: true }))
    .commit('a-0', pod('a', { isGoing: true }))
    .commit('a-0', undefined)
    .commit('a-0', pod('a', { revision: 'r2' }))
    .commit('a-0', pod('a', { revision: 'r2', isReady: true }))
    .commit('a-0', pod('a', { revision: 'r2', isReady: true }))
    .commit('a', set('a', 'r2', 'r2'));
  assert.deepEqual(story.told, [
    '1.00 s  a  wants revision r2 (db:r2)',
    '1.00 s  a  a-0  deleted by system:admin',
    '1.00 s  a  a-0  ready on r2',
    '1.00 s  a  done: all 1 pods run r2',
  ]);
});

test('GroupObserver tells the trouble of a pod once, though its reason flips', () => {
  const story = new Story().installed();
  story.told.length = 0;
  story
    .commit('a-0', pod('a', {}))
    .commit('a-0', pod('a', { waiting: 'ErrImagePull' }))
    .commit('a-0', pod('a', { waiting: 'ImagePullBackOff' }));
  assert.deepEqual(story.told, [
    '1.00 s  a  a-0  no longer ready',
    '1.00 s  a  a-0  ErrImagePull: db:r1',
  ]);
});

test('GroupObserver counts a pod that goes at once, without a sign before, as deleted', () => {
  const story = new Story().installed();
  story.told.length = 0;
  story.commit('a-0', undefined);
  assert.deepEqual(story.told, ['1.00 s  a  a-0  deleted by system:admin']);
});

test('GroupObserver leaves other namespaces and other sets alone', () => {
  const story = new Story().installed();
  story.told.length = 0;
  story.commit('a-0', undefined, 'other').commit('c-0', undefined).commit('c', undefined);
  assert.deepEqual(story.told, []);
});

test('DisruptionProof counts from the moment when all zones were complete', () => {
  const { observer } = new Story().installed();
  assert.equal(observer.proof.mostZonesDown, 0);
});

test('DisruptionProof counts two zones that are down at the same commit, and not one after the other', () => {
  const story = new Story()
    .installed()
    .commit('a-0', pod('a', {}))
    .commit('a-0', pod('a', { isReady: true }))
    .commit('b-0', pod('b', {}));
  assert.equal(story.observer.proof.mostZonesDown, 1);
  story.commit('a-0', undefined);
  assert.equal(story.observer.proof.mostZonesDown, 2);
  assert.deepEqual(story.observer.proof.zones, [
    { zone: 'a', limit: 1, mostUnavailable: 1 },
    { zone: 'b', limit: 1, mostUnavailable: 1 },
  ]);
});

test('DisruptionProof counts the pods that an image reached, by zone', () => {
  const { proof } = new Story()
    .installed()
    .commit('a-0', undefined)
    .commit('a-0', pod('a', { revision: 'r2' }))
    .commit('a-0', undefined)
    .commit('a-0', pod('a', { revision: 'r2' })).observer;
  assert.deepEqual(proof.reach('db:r2'), [1]);
  assert.deepEqual(proof.reach('db:r3'), []);
  proof.reset();
  assert.deepEqual(proof.reach('db:r2'), []);
});
