import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, seconds } from '../units.ts';
import { backoffAfter } from './backoff.ts';

const growing = { first: millis(5), longest: seconds(1) };

test('backoffAfter() doubles the first wait until the longest one', () => {
  const waits = Array.from({ length: 10 }, (_, doublings) => backoffAfter(doublings, growing));
  assert.deepEqual(waits, [5, 10, 20, 40, 80, 160, 320, 640, 1_000, 1_000]);
});

test('backoffAfter() ends at the longest wait, however many went before', () => {
  assert.equal(backoffAfter(1_000_000, growing), 1_000);
});

test('backoffAfter() waits not at all where the first wait is none', () => {
  assert.equal(backoffAfter(1_000_000, { first: millis(0), longest: seconds(1) }), 0);
});
