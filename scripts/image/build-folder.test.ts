import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildInto } from '../build.ts';
import { buildManifest, demandOwnFolder, noteBuild } from './build-folder.ts';

/** Tries `use` with a folder that has `files`. */
function withFolder(files: Readonly<Record<string, string>>, use: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'build-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  use(folder);
  rmSync(folder, { recursive: true });
}

const ofStranger: Readonly<
  Record<string, { readonly files: Record<string, string>; readonly says: RegExp }>
> = {
  'has licences of another program': {
    files: { 'LICENSES.txt': 'MIT', 'thesis.tex': '' },
    says: /no build of this program wrote it: LICENSES\.txt, thesis\.tex\. Name another folder with --out, or remove them$/,
  },
  'has many files': {
    files: { a: '', b: '', c: '', d: '', e: '' },
    says: /wrote it: a, b, c and 2 more\. /,
  },
  'has a note that no build wrote': {
    files: { [buildManifest]: '{"files": ["thesis.tex"]}', 'thesis.tex': '' },
    says: /wrote it: thesis\.tex\. /,
  },
  'has a note that is no JSON': {
    files: { [buildManifest]: 'x', 'thesis.tex': '' },
    says: /wrote it: thesis\.tex\. /,
  },
};
for (const [what, { files, says }] of Object.entries(ofStranger)) {
  test(`demandOwnFolder() refuses a folder that ${what}`, () => {
    withFolder(files, (folder) => assert.throws(() => demandOwnFolder(folder), says));
  });
}

test('demandOwnFolder() refuses a folder of a build to which something was added', () => {
  withFolder({ 'LICENSES.txt': '', 'notes.txt': '' }, (folder) => {
    noteBuild(folder, ['LICENSES.txt']);
    assert.throws(() => demandOwnFolder(folder), /wrote it: notes\.txt\. /);
  });
});

test('demandOwnFolder() takes a folder of a build, an empty one, and one that is not there', () => {
  withFolder({ 'LICENSES.txt': '' }, (folder) => {
    noteBuild(folder, ['LICENSES.txt', 'not-written-yet.json']);
    demandOwnFolder(folder);
    mkdirSync(join(folder, 'empty'));
    demandOwnFolder(join(folder, 'empty'));
    demandOwnFolder(join(folder, 'none'));
  });
});

test('buildInto() leaves a folder alone that only looks like its own', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'build-'));
  writeFileSync(join(folder, 'LICENSES.txt'), 'MIT');
  await assert.rejects(buildInto(folder, { node: undefined, epoch: 0 }), /LICENSES\.txt/);
  assert.equal(readFileSync(join(folder, 'LICENSES.txt'), 'utf8'), 'MIT');
  rmSync(folder, { recursive: true });
});
