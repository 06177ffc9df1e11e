import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cut, paint, span, wrap } from './styled-line.ts';

test('paint() colours a span, and leaves it bare without colours', () => {
  const line = [span('a', 'good'), span(' b')];
  assert.equal(paint(line, true), '\u001B[32ma\u001B[0m b');
  assert.equal(paint(line, false), 'a b');
});

const cuts: Record<string, { width: number; want: string }> = {
  'leaves what fits': { width: 6, want: 'abcdef' },
  'ends in a sign what does not': { width: 5, want: 'abcd…' },
  'cuts between two spans': { width: 4, want: 'abc…' },
  'shows nothing without room': { width: 0, want: '' },
};

for (const [fact, { width, want }] of Object.entries(cuts)) {
  test(`cut() ${fact}`, () => {
    assert.equal(paint(cut([span('abc', 'good'), span('def')], width), false), want);
  });
}

const wraps: Record<string, { width: number; most: number; want: readonly string[] }> = {
  'keeps one line where it can': { width: 20, most: 2, want: ['one two three four'] },
  'breaks at spaces': { width: 9, most: 3, want: ['one two', 'three', 'four'] },
  'leaves the rest to the last line': { width: 9, most: 2, want: ['one two', 'three four'] },
  'lets a word that is too long stand alone': {
    width: 2,
    most: 9,
    want: ['one', 'two', 'three', 'four'],
  },
};

for (const [fact, { width, most, want }] of Object.entries(wraps)) {
  test(`wrap() ${fact}`, () => {
    assert.deepEqual(wrap('one two three four', { width, most }), want);
  });
}
