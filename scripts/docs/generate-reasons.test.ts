import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { reasonsPage } from './generate-reasons.ts';

test('docs/reasons.md is what scripts/docs/generate-reasons.ts writes (D-15)', () => {
  const page = readFileSync(new URL('../../docs/reasons.md', import.meta.url), 'utf8');
  assert.equal(page, reasonsPage());
});
