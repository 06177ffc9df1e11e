import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gateNumbers, isWhole, shareOf } from './extent.ts';

const items = ['a1', 'a2', 'b1', 'a3', 'a4', 'b2', 'c1', 'a5', 'a6'];
const classOf = (item: string): string => item.slice(0, 1);

test('shareOf() takes one in so many of each class, at least one, in order, and not only firsts', () => {
  assert.deepEqual(shareOf(items, { oneIn: 3, classOf }), ['a1', 'a4', 'b2', 'c1']);
});

test('shareOf() takes all where it takes one in one', () => {
  assert.deepEqual(shareOf(items, { oneIn: 1, classOf }), items);
});

test('shareOf() takes other classes for each table in its turn', () => {
  const taken = [0, 1].map((at) => shareOf(items, { oneIn: 9, classOf, turn: { at, of: 2 } }));
  assert.deepEqual(taken, [['a1', 'c1'], ['b2']]);
});

test('shareOf() takes nothing of nothing', () => {
  assert.deepEqual(shareOf([], { oneIn: 3, classOf }), []);
});

test('gateNumbers() takes one number in so many from the first on, and all in the night', () => {
  assert.deepEqual(gateNumbers(8, 3, 2), isWhole ? [1, 2, 3, 4, 5, 6, 7, 8] : [2, 5, 8]);
  assert.deepEqual(gateNumbers(3, 2), isWhole ? [1, 2, 3] : [1, 3]);
});
