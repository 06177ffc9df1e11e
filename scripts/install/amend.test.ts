import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amend, amendAll, at } from './amend.ts';

const tree = { a: { b: [{ c: 1, d: 2 }, 'x'] } };

test('amend() changes one place, and leaves what it was given as it is', () => {
  assert.deepEqual(amend(tree, ['a', 'b', 0, 'c'], 9), { a: { b: [{ c: 9, d: 2 }, 'x'] } });
  assert.deepEqual(tree, { a: { b: [{ c: 1, d: 2 }, 'x'] } });
});

test('amend() adds a member', () => {
  assert.deepEqual(amend(tree, ['a', 'e'], 3), { a: { b: [{ c: 1, d: 2 }, 'x'], e: 3 } });
});

test('amend() fails where the way to the place is gone, or an item is', () => {
  assert.throws(() => amend(tree, ['z', 'b'], 1), /Cannot change b: there is undefined/);
  assert.throws(() => amend(tree, ['a', 'b', 7], 1), /Cannot change 7: the list has 2/);
});

test('amendAll() changes each place in turn', () => {
  const changed = amendAll(tree, [
    [['a', 'b'], { n: 1 }],
    [['a', 'b', 'n'], 2],
  ]);
  assert.deepEqual(changed, { a: { b: { n: 2 } } });
});

test('at() reads what is there, and fails where nothing does', () => {
  assert.equal(at(tree, ['a', 'b', 0, 'd']), 2);
  assert.throws(() => at(tree, ['a', 'x']), /There is no a\.x/);
});
