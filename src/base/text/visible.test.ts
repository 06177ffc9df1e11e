import assert from 'node:assert/strict';
import { test } from 'node:test';
import { visible } from './visible.ts';

const cases: Record<string, readonly [text: string, want: string]> = {
  'a mark that turns the direction': ['a\u202eb', 'a\\u202eb'],
  'the end of an isolated direction': ['a\u2069', 'a\\u2069'],
  'a zero width': ['a\u200bb\ufeff', 'a\\u200bb\\ufeff'],
  'a soft hyphen': ['a\u00adb', 'a\\u00adb'],
  'separators of lines and paragraphs': ['\u2028\u2029', '\\u2028\\u2029'],
  'a tag, which has two code units': ['a\u{e0041}', 'a\\udb40\\udc41'],
};
for (const [what, [text, want]] of Object.entries(cases)) {
  test(`visible() shows ${what} [found X-9]`, () => {
    assert.equal(visible(text), want);
    assert.equal(JSON.parse(`"${want}"`), text);
  });
}

test('visible() leaves letters of all scripts, emoji, blanks and line breaks as they are', () => {
  const text = 'größe שלום 日本 \u{1f600}\n\t\\u202e';
  assert.equal(visible(text), text);
});
