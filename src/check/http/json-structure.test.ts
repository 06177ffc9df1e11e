import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasMoreParts } from './json-structure.ts';

const cases: Record<
  string,
  { readonly text: string; readonly most: number; readonly want: boolean }
> = {
  'counts objects and lists': { text: '{"a":[{},{}]}', most: 3, want: true },
  'lets as many be as there may be': { text: '{"a":[{},{}]}', most: 4, want: false },
  'counts nothing in a text': { text: '{"a":"[[[[{{{{"}', most: 1, want: false },
  'counts nothing behind a quote in a text': {
    text: String.raw`{"a":"\"[[[["}`,
    most: 1,
    want: false,
  },
  'counts again behind a text that ends in a backslash': {
    text: String.raw`{"a":"\\","b":[[]]}`,
    most: 2,
    want: true,
  },
  'counts in a text that never ends': { text: '[[["', most: 2, want: true },
  'counts nothing in an empty text': { text: '', most: 0, want: false },
};
for (const [fact, { text, most, want }] of Object.entries(cases)) {
  test(`hasMoreParts() ${fact} [found X-2]`, () => {
    assert.equal(hasMoreParts(Buffer.from(text), most), want);
  });
}
