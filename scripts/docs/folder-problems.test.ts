import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { folderProblems } from './folder-problems.ts';

const page = '| `src/base/` | Words. |\n';

function files(count: number, folder: string): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${folder}/file-${at}.ts`);
}

describe('folderProblems()', () => {
  test('takes 25 files in a folder that the page explains', () => {
    assert.deepEqual(folderProblems(files(25, 'src/base'), page), []);
  });

  test('refuses 26', () => {
    assert.deepEqual(folderProblems(files(26, 'src/base'), page), [
      'src/base has 26 files, more than 25',
    ]);
  });

  test('refuses a folder of sources that the page leaves out', () => {
    assert.deepEqual(folderProblems(['src/base/a.ts', 'src/base/time/b.ts'], page), [
      'docs/folders.md has no line about src/base/time',
    ]);
  });

  test('refuses a line about a folder that is gone', () => {
    assert.deepEqual(folderProblems([], page), [
      'docs/folders.md explains src/base, which is not there',
    ]);
  });

  test('takes any number of planted bugs', () => {
    const patches = Array.from({ length: 100 }, (_, at) => `test/mutants/${at}.patch`);
    assert.deepEqual(folderProblems(patches, ''), []);
  });
});

test('this checkout has no large folder, and docs/folders.md explains each', () => {
  const root = join(import.meta.dirname, '../..');
  const paths = globSync('{src,cluster,demo,test,bench,scripts,docs,deploy}/**/*', {
    cwd: root,
    withFileTypes: true,
  })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
  assert.ok(paths.length > 1_500, `${paths.length} files`);
  assert.deepEqual(folderProblems(paths, readFileSync(join(root, 'docs/folders.md'), 'utf8')), []);
});
