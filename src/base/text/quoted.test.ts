import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quoted } from './quoted.ts';

test('quoted() is JSON of up to 100 characters', () => {
  assert.equal(quoted('a "b"\n'), '"a \\"b\\"\\n"');
  assert.equal(quoted('x'.repeat(100)), `"${'x'.repeat(100)}"`);
});

test('quoted() shows marks of direction and zero widths as JSON writes them [found X-9]', () => {
  assert.equal(quoted('a\u202eb\u200b'), '"a\\u202eb\\u200b"');
  assert.equal(quoted(`\u202e${'x'.repeat(100)}`), `"\\u202e${'x'.repeat(99)}"… (101 characters)`);
});

test('quoted() shows the begin of a longer text, and how long it was', () => {
  assert.equal(quoted('x'.repeat(101)), `"${'x'.repeat(100)}"… (101 characters)`);
});
