import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { FakeInformer } from '#support/api-server/fake-informer.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { statefulSetView } from '#support/objects/views.ts';
import {
  rivalOf,
  rolloutIndexers,
  rolloutsOf,
  setsOf,
  statefulsetRolloutOwners,
} from './owners.ts';
import { finalizer, parseRollout, type RolloutView } from './parse-resource.ts';
import { rolloutAnnotation } from './statefulset/wanted-set.ts';

function informer(): FakeInformer<RolloutView> {
  return new FakeInformer({
    clock: new FakeClock(),
    type: resourceTypes.statefulsetRollouts,
    project: parseRollout,
    indexers: rolloutIndexers,
  });
}

/** A resource `name` over the set `web`, made at that second. */
function resource(name: string, second: number, more: JsonObject = {}): KubernetesObject {
  return {
    metadata: {
      namespace: 'ns',
      name,
      uid: `${name}-uid`,
      resourceVersion: '1',
      creationTimestamp: `2026-01-01T00:00:0${second}Z`,
      ...more,
    },
    spec: {
      percent: 1,
      statefulset: {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata: { name: 'web' },
        spec: { selector: {}, template: {} },
      },
    },
  };
}

/** The set `web`, which names that resource. */
function set(owner?: string): ReturnType<typeof statefulSetView> {
  const annotations = owner === undefined ? {} : { [rolloutAnnotation]: `ns/${owner}` };
  return statefulSetView({ namespace: 'ns', name: 'web', annotations });
}

describe('rivalOf()', () => {
  function rivals(owner?: string): readonly (string | undefined)[] {
    const rollouts = informer();
    for (const [name, second] of [
      ['a', 2],
      ['b', 1],
      ['c', 1],
    ] as const) {
      rollouts.show(resource(name, second));
    }
    return ['a', 'b', 'c'].map((name) => {
      const found = rollouts.lister.get('ns', name);
      assert.ok(found !== undefined);
      return rivalOf(found, set(owner), rollouts);
    });
  }

  test('is the resource that the set names [T-14]', () => {
    const rival = 'StatefulsetRollout a';
    assert.deepEqual(rivals('a'), [undefined, rival, rival]);
  });

  test('is the older one where the set names none, and then that of the smaller uid', () => {
    const rival = 'StatefulsetRollout b';
    assert.deepEqual(rivals(), [rival, undefined, rival]);
  });

  test('is the older one where the set names one that is not there any more', () => {
    const rival = 'StatefulsetRollout b';
    assert.deepEqual(rivals('gone'), [rival, undefined, rival]);
  });
});

describe('a resource that is being deleted', () => {
  test('names its set until it has let it go', () => {
    const rollouts = informer();
    const deletionTimestamp = '2026-01-02T00:00:00Z';
    rollouts.show(resource('a', 1, { deletionTimestamp, finalizers: [finalizer] }));
    assert.equal(rolloutsOf(rollouts, { namespace: 'ns', name: 'web' }).length, 1);
    rollouts.show(
      resource('a', 1, { deletionTimestamp, finalizers: ['theirs'], resourceVersion: '2' }),
    );
    assert.equal(rolloutsOf(rollouts, { namespace: 'ns', name: 'web' }).length, 0);
  });
});

test('statefulsetRolloutOwners() names what carries a set, says when that is not known, and tells of changes', () => {
  const rollouts = informer();
  const owners = statefulsetRolloutOwners(rollouts);
  const woken: string[] = [];
  owners.onChange?.(({ name }) => woken.push(name));
  rollouts.show(resource('b', 1));
  rollouts.show(resource('a', 1));
  assert.deepEqual(owners.naming(set()), ['StatefulsetRollout a', 'StatefulsetRollout b']);
  assert.deepEqual(woken, ['web', 'web']);
  assert.equal(owners.unknown?.(), undefined);
  rollouts.hasSynced = false;
  assert.match(owners.unknown?.() ?? '', /could not be listed yet/);
});

test('setsOf() has the set of a resource before a change, and after it', () => {
  const [old, object] = [parseRollout(resource('a', 1)), parseRollout(resource('a', 1))];
  assert.equal(setsOf({ kind: 'updated', old, object }).length, 2);
  assert.equal(setsOf({ kind: 'added', object }).length, 1);
});
