import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { knownKeys } from '../../src/statefulset/known-keys.ts';
import { keysPage } from './generate-keys.ts';

const root = join(import.meta.dirname, '../..');

test('docs/labels-and-annotations.md is what scripts/docs/generate-keys.ts writes', () => {
  assert.equal(readFileSync(join(root, 'docs/labels-and-annotations.md'), 'utf8'), keysPage());
});

test('each key of the table is one that the program reads', () => {
  const sources = globSync('src/**/*.ts', { cwd: root })
    .filter((path) => !path.endsWith('.test.ts') && !path.endsWith('/known-keys.ts'))
    .map((path) => readFileSync(join(root, path), 'utf8'))
    .join('\n');
  const unread = Object.keys(knownKeys).filter((key) => !sources.includes(`'${key}' satisfies`));
  assert.deepEqual(unread, []);
});
