import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podView, statefulSetView } from '#testing/views.ts';
import { setsFromLists } from './group-sets.ts';

test('setsFromLists() gives a set the pods that it controls, whatever else its selector found', () => {
  const set = statefulSetView({ name: 'ingester-zone-a', uid: 'set-uid' });
  const own = podView({ name: 'ingester-zone-a-0', controllerUid: 'set-uid' });
  const former = podView({ name: 'ingester-zone-a-1', controllerUid: 'former-set-uid' });
  const orphan = podView({ name: 'ingester-zone-a-2', controllerUid: undefined });
  const found = new Map([['set-uid', [own, former, orphan]]]);
  assert.deepEqual(setsFromLists([set], found), [
    { set, pods: [own], orphans: ['ingester-zone-a-2'] },
  ]);
});

test('setsFromLists() sorts the sets by name, byte by byte (RC-21)', () => {
  const sets = ['zone-b', 'zone-B', 'zone-a'].map((name) => statefulSetView({ name, uid: name }));
  assert.deepEqual(
    setsFromLists(sets, new Map()).map(({ set }) => set.name),
    ['zone-B', 'zone-a', 'zone-b'],
  );
});
