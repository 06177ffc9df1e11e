import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Lockfile, lockfileProblems, type ProjectDependencies } from './lockfile-problems.ts';

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, '../..', name), 'utf8'));
}

test('package-lock.json is complete for every platform, names no registry and fits package.json', () => {
  const real = readJson('package-lock.json') as Lockfile;
  assert.deepEqual(lockfileProblems(real, readJson('package.json') as ProjectDependencies), []);
});

test('lockfileProblems() names what is installed without a hash, on whichever platform', () => {
  const open: Lockfile = {
    packages: {
      '': {},
      'node_modules/a': { version: '1.0.0' },
      'node_modules/b': { version: '1.0.0', integrity: 'sha512-b' },
      'node_modules/b-darwin-arm64': { version: '1.0.0' },
    },
  };
  const remedy =
    'has no integrity hash: take a version that the registry serves for every platform';
  assert.deepEqual(lockfileProblems(open, {}), [
    `"node_modules/a" ${remedy}`,
    `"node_modules/b-darwin-arm64" ${remedy}`,
  ]);
});

test('lockfileProblems() names a missing platform, a registry and a forgotten dependency', () => {
  const broken: Lockfile = {
    packages: {
      '': { dependencies: { a: '1.0.0' } },
      'node_modules/a': {
        version: '1.0.0',
        integrity: 'sha512-a',
        resolved: 'https://registry.test/a.tgz',
        optionalDependencies: { 'a-darwin-x64': '1.0.0' },
      },
    },
  };
  assert.deepEqual(lockfileProblems(broken, { dependencies: { a: '1.0.0', b: '2.0.0' } }), [
    '"node_modules/a" may install a-darwin-x64@1.0.0, but the lockfile has no entry for it: take a version that the registry serves for every platform',
    '"node_modules/a" names where it was fetched: https://registry.test/a.tgz',
    'the dependencies of package.json and of the lockfile differ',
  ]);
});

test('lockfileProblems() finds a package where Node would: beside its user or further up', () => {
  const integrity = 'sha512-x';
  const nested: Lockfile = {
    packages: {
      'node_modules/a': { version: '1.0.0', integrity },
      'node_modules/a/node_modules/b': {
        integrity,
        optionalDependencies: { near: '1.0.0', far: '1.0.0' },
      },
      'node_modules/a/node_modules/near': { version: '1.0.0', integrity },
      'node_modules/far': { version: '1.0.0', integrity },
    },
  };
  assert.deepEqual(lockfileProblems(nested, {}), []);
});
