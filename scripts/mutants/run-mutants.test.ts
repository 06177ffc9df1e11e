import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Mutant, readMutants } from './mutant.ts';
import { checkMutants, describeResults, runMutants } from './run-mutants.ts';

const sum = 'export function sum(a: number, b: number): number {\n  return a + b;\n}\n';
const sumTest = `import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sum } from './sum.ts';
describe('sum()', () => {
  test('adds 0 (at # the end)', () => assert.equal(sum(1, 0), 1));
  test('adds 2', () => assert.equal(sum(1, 2), 3));
});
test('fails anyhow', () => assert.fail());
`;

function patch(title: string, line: string): string {
  const header = `Bug: sum() is wrong\nTest: src/sum.test.ts\nName: ${title}\n\n`;
  const diff = `--- a/src/sum.ts\n+++ b/src/sum.ts\n@@ -1,3 +1,3 @@\n export function sum(a: number, b: number): number {\n-  return a + b;\n+  ${line}\n }\n`;
  return header + diff;
}

const patches: Record<string, string> = {
  'broken-file': patch('adds 2', 'return a +* b;'),
  caught: patch('adds 2', 'return a - b;'),
  'caught-by-group': patch('sum() adds 2', 'return a - b;'),
  'caught-odd-title': patch('adds 0 (at # the end)', 'return a + b + 1;'),
  endless: patch('adds 2', 'for (;;) {}'),
  'ill-test': patch('fails anyhow', 'return a - b;'),
  'no-test': patch('adds 3', 'return a - b;'),
  outdated: patch('adds 2', 'return a - b;').replace('-  return a + b', '-  return b + a'),
  survivor: patch('adds 0', 'return a - b;'),
};

describe('runMutants()', () => {
  const root = mkdtempSync(join(tmpdir(), 'mutants-test-'));
  before(() => {
    const files: Record<string, string> = {
      'package.json': '{ "type": "module" }',
      'node_modules/.keep': '',
      'src/sum.ts': sum,
      'src/sum.test.ts': sumTest,
    };
    for (const [name, text] of Object.entries(patches)) files[`test/mutants/${name}.patch`] = text;
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
  });
  after(() => rmSync(root, { recursive: true }));

  test('tells each planted bug that the named test notices from each that it does not', async () => {
    const mutants = (await readMutants(root)).filter(({ name }) => name !== 'endless');
    const results = await runMutants(mutants, { root, atOnce: 2, timeout: 60_000 });
    assert.deepEqual(
      results.map(({ mutant, verdict }) => [mutant.name, verdict]),
      [
        ['broken-file', 'breaks more than the named test'],
        ['caught', 'caught'],
        ['caught-by-group', 'caught'],
        ['caught-odd-title', 'caught'],
        ['ill-test', 'test fails without it'],
        ['no-test', 'no such test'],
        ['outdated', 'does not apply'],
        ['survivor', 'survived'],
      ],
    );
    assert.equal(readFileSync(join(root, 'src/sum.ts'), 'utf8'), sum);
  });

  test('ends a test that hangs', async () => {
    const mutants = (await readMutants(root)).filter(({ name }) => name === 'endless');
    const results = await runMutants(mutants, { root, atOnce: 1, timeout: 500 });
    assert.deepEqual(
      results.map(({ verdict }) => verdict),
      ['hangs'],
    );
  });

  test('checkMutants() tells what does not apply, without running a test', async () => {
    const problems = await checkMutants(root, await readMutants(root));
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? '', /^outdated does not apply: .*src\/sum\.ts/);
  });
});

test('checkMutants() tells of a test file that is not there', async () => {
  const root = mkdtempSync(join(tmpdir(), 'mutants-test-'));
  mkdirSync(join(root, 'test/mutants'), { recursive: true });
  writeFileSync(join(root, 'test/mutants/a.patch'), patch('adds 2', 'return 1;'));
  assert.deepEqual(await checkMutants(root, await readMutants(root)), [
    'a: there is no src/sum.test.ts',
  ]);
  rmSync(root, { recursive: true });
});

test('every planted bug of this checkout applies to it', async () => {
  const root = join(import.meta.dirname, '../..');
  assert.deepEqual(await checkMutants(root, await readMutants(root)), []);
});

test('readMutants() refuses a patch that names no test', async () => {
  const root = mkdtempSync(join(tmpdir(), 'mutants-test-'));
  const path = join(root, 'test/mutants/a.patch');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, patch('adds 2', 'return 1;').replace('Test: ', 'Tset: '));
  await assert.rejects(readMutants(root), {
    message: `Cannot read ${path} as it has no line "Test: …" above its diff`,
  });
  rmSync(root, { recursive: true });
});

test('describeResults() shows a row each, the output of what went wrong, and the count', () => {
  const mutant: Mutant = { name: 'm', patch: 'm.patch', bug: 'b', test: 't', title: 'n' };
  const text = describeResults([
    { mutant, verdict: 'caught', output: '' },
    { mutant: { ...mutant, name: 'l' }, verdict: 'survived', output: 'all ok\n' },
  ]);
  assert.equal(text, 'caught    m: b\nsurvived  l: b\n\nl\nall ok\n\n1 of 2 planted bugs caught\n');
});
