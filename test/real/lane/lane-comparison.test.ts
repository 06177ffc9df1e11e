import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { acceptedDifferences } from '../../differential/accepted-differences.ts';
import { compare, type Difference } from '../../differential/compare.ts';
import type { Transcript } from '../../differential/talk.ts';

/** Two writes of one object at these revisions, with a list at `list` between them. */
function conversation(writes: readonly [number, number], list: number): Transcript {
  const object = (revision: number): JsonObject => ({
    metadata: { name: 'a', uid: 'a uid', resourceVersion: `${revision}` },
  });
  const bodies = [
    object(writes[0]),
    { metadata: { resourceVersion: `${list}` }, items: [object(writes[0])] },
    object(writes[1]),
  ];
  return { steps: bodies.map((body) => ({ said: '', answer: { status: 200, body } })) };
}

function pathsThatDiffer(embedded: Transcript, real: Transcript): readonly string[] {
  return compare('a conversation', { embedded, real }).map(({ path }) => path);
}

describe('compare()', () => {
  const quiet = conversation([7, 8], 7);

  test('takes revisions for equal that are in the same order', () => {
    assert.deepEqual(pathsThatDiffer(quiet, conversation([100, 205], 100)), []);
  });

  test('lets a server write for itself before it lists', () => {
    assert.deepEqual(pathsThatDiffer(quiet, conversation([100, 205], 104)), []);
  });

  test('finds a list that has not seen the write before it', () => {
    const paths = pathsThatDiffer(conversation([7, 8], 6), quiet);
    assert.deepEqual(paths, ['body.metadata.resourceVersion']);
  });

  test('finds a list that is newer than the write after it', () => {
    const paths = pathsThatDiffer(conversation([7, 8], 8), quiet);
    assert.deepEqual(paths, ['body.metadata.resourceVersion']);
  });

  test('finds a write that gave no new revision', () => {
    const paths = pathsThatDiffer(conversation([7, 7], 7), quiet);
    assert.deepEqual(paths, ['body.metadata.resourceVersion']);
  });
});

describe('acceptedDifferences', () => {
  const ofClaim = {
    conversation: 'persistentvolumeclaims: is created with its defaults, read, listed and deleted',
    step: '4 DELETE /api/v1/namespaces/{ns}/persistentvolumeclaims/a',
  };
  const isAccepted = (difference: Pick<Difference, 'path' | 'embedded' | 'real'>): boolean =>
    acceptedDifferences.some(({ covers }) => covers({ ...ofClaim, ...difference }));

  test('has a claim that is going there and gone here', () => {
    const going = { path: 'body.metadata.deletionTimestamp', embedded: undefined, real: '<time>' };
    assert.equal(isAccepted(going), true);
    assert.equal(isAccepted({ path: 'status', embedded: 404, real: 200 }), true);
  });

  const others: Readonly<Record<string, Pick<Difference, 'path' | 'embedded' | 'real'>>> = {
    'another phase': { path: 'body.status.phase', embedded: 'Bound', real: 'Pending' },
    'a missing default': { path: 'body.spec.volumeMode', embedded: undefined, real: 'Filesystem' },
    'another status': { path: 'status', embedded: 500, real: 200 },
    'a claim that is going here': {
      path: 'body.metadata.deletionTimestamp',
      embedded: '<time>',
      real: undefined,
    },
    'a list that lost a claim that stays': {
      path: 'body.items',
      embedded: [],
      real: [{ metadata: { name: 'b' } }],
    },
  };
  for (const [what, difference] of Object.entries(others)) {
    test(`does not have ${what} of a claim`, () => {
      assert.equal(isAccepted(difference), false);
    });
  }
});
