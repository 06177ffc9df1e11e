import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Lockfile } from './lockfile-problems.ts';

const root = join(import.meta.dirname, '../..');
const project = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Readonly<
  Record<'dependencies' | 'devDependencies' | 'optionalDependencies', Record<string, string>>
>;
const direct = Object.entries({
  ...project.dependencies,
  ...project.devDependencies,
  ...project.optionalDependencies,
});

test('every direct dependency is pinned to one version', () => {
  const loose = direct.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version));
  assert.deepEqual(loose, []);
});

test('every direct dependency has a line in ADR 1', () => {
  const adr = readFileSync(join(root, 'docs/adr/0001-dependencies.md'), 'utf8');
  const rows = adr.split('\n').filter((line) => line.startsWith('| `'));
  const unexplained = direct.filter(([name]) => !rows.some((row) => row.includes(`\`${name}\``)));
  assert.deepEqual(unexplained, []);
});

const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lockfile;
const locked = Object.entries(lock.packages).filter(([path]) => path !== '');

test('a production install holds nothing that only a kubeconfig needs', () => {
  const production = locked.filter(([, { dev }]) => dev !== true).map(([path]) => path);
  assert.deepEqual(
    production.filter((path) => path.includes('@kubernetes/')),
    [],
  );
  // 15 for the operator, 3 for proxies of SOCKS5, 7 for what it traces with, 4 for the grammar of PromQL, 25 for the SDK of AWS, 14 for that of Slack.
  assert.ok(production.length <= 68, `${production.length} packages`);
});

test('no package runs a script while it is installed', () => {
  const having = locked.filter(([, { hasInstallScript }]) => hasInstallScript === true);
  // esbuild's looks whether its program for the platform is there, and fetches it otherwise; ours comes by the lockfile.
  assert.deepEqual(
    having.map(([path]) => path),
    ['node_modules/esbuild'],
  );
  assert.match(readFileSync(join(root, '.npmrc'), 'utf8'), /^ignore-scripts=true$/m);
});
