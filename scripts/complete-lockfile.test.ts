import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  completeLockfile,
  isToolOfAnotherPlatform,
  type Lockfile,
  lockfileProblems,
  type ProjectDependencies,
} from './complete-lockfile.ts';

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, '..', name), 'utf8'));
}

const platforms = {
  '@tool/cli-linux-x64-musl': '1.2.3',
  '@tool/cli-darwin-arm64': '1.2.3',
  '@tool/cli-linux-arm-gnueabihf': '1.2.3',
};
const lock: Lockfile = {
  packages: {
    '': { devDependencies: { '@tool/cli': '1.2.3' } },
    'node_modules/@tool/cli': { version: '1.2.3', dev: true, optionalDependencies: platforms },
    'node_modules/@tool/cli-darwin-arm64': { version: '1.2.3', optional: true },
  },
};

test('package-lock.json is complete for every platform, names no registry and fits package.json', () => {
  const real = readJson('package-lock.json') as Lockfile;
  assert.deepEqual(lockfileProblems(real, readJson('package.json') as ProjectDependencies), []);
});

test('package-lock.json has the hash of all but the tools of other platforms that were not seen yet (#14)', () => {
  const { packages } = readJson('package-lock.json') as Lockfile;
  const unknown = Object.values(packages).filter((entry) => entry.integrity === undefined);
  // The project itself is one; of the others there may be fewer, never more.
  assert.ok(unknown.length - 1 <= 44, `${unknown.length - 1} without a hash`);
  assert.ok(unknown.slice(1).every(isToolOfAnotherPlatform));
});

test('lockfileProblems() names what is installed without a hash (#14)', () => {
  const tool = { version: '1.0.0', dev: true, optional: true, os: ['linux'], cpu: ['x64'] };
  const open: Lockfile = {
    packages: {
      '': {},
      'node_modules/a': { version: '1.0.0' },
      'node_modules/b': { version: '1.0.0', integrity: 'sha512-b' },
      'node_modules/b-darwin-arm64': { version: '1.0.0', optional: true, os: ['darwin'] },
      'node_modules/tool-linux-x64': tool,
      'node_modules/tool-linux-x64-gnu': { ...tool, libc: ['glibc'] },
      'node_modules/tool-linux-x64-musl': { ...tool, libc: ['musl'] },
      'node_modules/tool-win32-x64': { ...tool, os: ['win32'] },
    },
  };
  assert.deepEqual(
    lockfileProblems(open, {}).map(
      (problem) => /^"([^"]*)" has no integrity hash/.exec(problem)?.[1],
    ),
    [
      'node_modules/a',
      'node_modules/b-darwin-arm64',
      'node_modules/tool-linux-x64',
      'node_modules/tool-linux-x64-gnu',
    ],
  );
});

test('completeLockfile() adds the platforms that the registry did not serve', () => {
  const { packages } = completeLockfile(lock);
  assert.deepEqual(Object.keys(packages), [
    '',
    'node_modules/@tool/cli',
    'node_modules/@tool/cli-darwin-arm64',
    'node_modules/@tool/cli-linux-arm-gnueabihf',
    'node_modules/@tool/cli-linux-x64-musl',
  ]);
  assert.deepEqual(packages['node_modules/@tool/cli-linux-x64-musl'], {
    version: '1.2.3',
    dev: true,
    optional: true,
    os: ['linux'],
    cpu: ['x64'],
    libc: ['musl'],
  });
  assert.deepEqual(packages['node_modules/@tool/cli-linux-arm-gnueabihf'], {
    version: '1.2.3',
    dev: true,
    optional: true,
    os: ['linux'],
    cpu: ['arm'],
    libc: ['glibc'],
  });
});

test('completeLockfile() changes nothing the second time', () => {
  const once = completeLockfile(lock);
  assert.deepEqual(completeLockfile(once), once);
});

test('completeLockfile() removes the address of the registry', () => {
  const fetched: Lockfile = {
    packages: { 'node_modules/a': { version: '1.0.0', resolved: 'https://registry.test/a.tgz' } },
  };
  assert.deepEqual(completeLockfile(fetched).packages['node_modules/a'], { version: '1.0.0' });
});

test('completeLockfile() refuses a package whose name tells no platform', () => {
  const odd: Lockfile = {
    packages: { 'node_modules/a': { optionalDependencies: { 'fast-path': '1.0.0' } } },
  };
  assert.throws(() => completeLockfile(odd), /"node_modules\/a" wants fast-path@1\.0\.0/);
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
    '"node_modules/a" may install a-darwin-x64@1.0.0, but the lockfile has no entry for it: run `npm run lockfile`',
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
      'node_modules/a/node_modules/near': { version: '1.0.0', integrity, optional: true },
      'node_modules/far': { version: '1.0.0', integrity, optional: true },
    },
  };
  assert.deepEqual(lockfileProblems(nested, {}), []);
});
