import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { FakeInformer } from '#support/api-server/fake-informer.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { updateIndexers, updatesOf } from './owners.ts';
import { parseUpdate } from './parse-resource.ts';

test('[zau 48] updatesOf() finds the ZoneAwareUpdates that name the set of a pod, and those of no other set or namespace', () => {
  const updates = new FakeInformer({
    clock: new FakeClock(),
    type: resourceTypes.zoneAwareUpdates,
    project: parseUpdate,
    indexers: updateIndexers,
  });
  const put = (name: string, statefulset: string | number, namespace = 'demo'): void => {
    const metadata = { namespace, name, uid: name, resourceVersion: '1' };
    updates.show({ metadata, spec: { statefulset } });
  };
  put('zau', 'web');
  put('second', 'web');
  put('other', 'db');
  put('elsewhere', 'web', 'prod');
  put('unreadable', 7);
  const found = (namespace: string, name: string): readonly string[] =>
    updatesOf(updates, { namespace, name }).map((each) => each.name);
  assert.deepEqual(found('demo', 'web'), ['zau', 'second']);
  assert.deepEqual(found('prod', 'web'), ['elsewhere']);
  assert.deepEqual(found('demo', 'none'), []);
});
