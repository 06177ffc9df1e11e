import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { compareRevisions, isRevision, newerRevision, RevisionWentBackError } from './revision.ts';

const orders: Record<string, { left: string; right: string; want: -1 | 0 | 1 }> = {
  'calls equal text equal': { left: '7', right: '7', want: 0 },
  'orders equally long text by its digits': { left: '198', right: '201', want: -1 },
  'orders by value where text order differs': { left: '99', right: '100', want: -1 },
  'tells apart neighbours beyond 2^53': {
    left: '9007199254740993',
    right: '9007199254740992',
    want: 1,
  },
  'knows 0 as the oldest': { left: '0', right: '1', want: -1 },
};
for (const [fact, { left, right, want }] of Object.entries(orders)) {
  test(`compareRevisions() ${fact} (D-6)`, () => {
    assert.equal(Math.sign(compareRevisions(left, right)), want);
  });
}

test('compareRevisions() agrees with arithmetic on integers of any size', () => {
  const revision = fc.bigInt({ min: 0n, max: 10n ** 30n });
  fc.assert(
    fc.property(revision, revision, (left, right) => {
      const want = left < right ? -1 : Number(left > right);
      assert.equal(Math.sign(compareRevisions(String(left), String(right))), want);
    }),
  );
});

for (const text of ['', '01', '-1', '1e3', 'abc', ' 1', '1.0']) {
  test(`compareRevisions() refuses "${text}"`, () => {
    assert.equal(isRevision(text), false);
    assert.throws(() => compareRevisions(text, '5'), RangeError);
  });
}

test('newerRevision() takes what there is when one does not exist yet', () => {
  assert.equal(newerRevision(undefined, '3'), '3');
  assert.equal(newerRevision('10', '9'), '10');
  assert.equal(newerRevision('9', '10'), '10');
});

test('RevisionWentBackError says in one sentence what cannot be trusted', () => {
  assert.equal(
    new RevisionWentBackError('pods', '5', '9').message,
    'Cannot trust any cache as a consistent read of pods answered revision 5 after revision 9 had been seen',
  );
});
