import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { scaleRequest, setObject } from '#support/admission/admission-requests.ts';
import { liveSetOf } from './live-set.ts';

const metadata = {
  name: 'ingester-zone-a',
  namespace: 'test',
  generation: 7,
  resourceVersion: '1',
};
const live = { ...setObject({ replicas: 3 }), metadata: { ...metadata, uid: 'of-the-set' } };

/** What a review states of a set of that uid. */
function posted(kind: string, uid: string | undefined): JsonObject | undefined {
  const request = scaleRequest(3, 1, uid === undefined ? {} : { setUid: uid });
  const { oldObject } = request;
  if (kind === 'Scale') return oldObject as JsonObject;
  return { ...setObject({ replicas: 3 }), metadata: { ...metadata, ...(uid && { uid }) } };
}

for (const kind of ['StatefulSet', 'Scale']) {
  test(`liveSetOf() takes the stored set for that of a ${kind} with its uid and replicas`, () => {
    const found = liveSetOf(live, posted(kind, 'of-the-set'), 3);
    assert.equal(found?.generation, 7);
  });

  for (const uid of ['of-another', '', undefined]) {
    test(`liveSetOf() finds no set for a ${kind} with the uid ${JSON.stringify(uid)} (D-59)`, () => {
      assert.equal(liveSetOf(live, posted(kind, uid), 3), undefined);
    });
  }

  for (const from of [2, 4]) {
    test(`liveSetOf() finds no set for a ${kind} of ${from} replicas where 3 are stored (D-59)`, () => {
      assert.equal(liveSetOf(live, posted(kind, 'of-the-set'), from), undefined);
    });
  }
}

test('liveSetOf() finds no set for a review without an object', () => {
  assert.equal(liveSetOf(live, undefined, 3), undefined);
});

for (const start of [-1, 1.5, 1e308, 2 ** 31, '3', {}]) {
  test(`liveSetOf() cannot read a set whose first ordinal is ${JSON.stringify(start)}`, () => {
    const odd = { ...live, spec: { replicas: 3, ordinals: { start } } };
    const found = liveSetOf(odd, posted('StatefulSet', 'of-the-set'), 3)?.set;
    const why = typeof found === 'string' ? found : 'it was read';
    assert.match(why, /^spec\.ordinals\.start must be a whole number from 0 to 2147483647: got /);
  });
}
