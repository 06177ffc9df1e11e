import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statedLength } from './stated-length.ts';

const lengths: Record<string, { readonly header?: number | string; readonly bytes: number }> = {
  'a text of digits is its number': { header: '1024', bytes: 1024 },
  'a number is itself': { header: 17, bytes: 17 },
  'no header is 0': { bytes: 0 },
  'an empty header is 0': { header: '', bytes: 0 },
  'what is no whole number is 0': { header: '1.5', bytes: 0 },
  'what is no number is 0': { header: 'many', bytes: 0 },
};

for (const [title, { header, bytes }] of Object.entries(lengths)) {
  test(`statedLength(): ${title}`, () => assert.equal(statedLength(header), bytes));
}
