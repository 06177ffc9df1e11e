import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { problemsOf, promisesPage } from '../../scripts/docs/promises-page.ts';
import { methods, open, promises } from './promises.ts';
import { realGate } from './real-lane.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/rules/promises.md'), 'utf8');
const [what = '', how = ''] = page.split('## How they are shown');

function idsIn(text: string): readonly string[] {
  return [...text.matchAll(/^### (\S+)/gm)].map(([, id = '']) => id).toSorted();
}

function hasPatch(name: string): boolean {
  return existsSync(join(root, `test/mutants/${name}.patch`));
}

test('every promise of docs/rules/promises.md is shown in the gate, for each kind that could break it', () => {
  assert.deepEqual(Object.keys(promises).toSorted(), idsIn(what));
  assert.deepEqual(
    Object.entries(promises).flatMap(([id, promise]) => problemsOf(id, promise, open)),
    [],
  );
});

test('problemsOf() finds a kind of which nothing is said, or too much, and a promise that nothing shows', () => {
  const said = { bugs: { admission: 'a' }, none: { admission: 'It cannot.' }, real: [] };
  const problems = problemsOf('EXCL-1', said, []);
  assert.ok(
    problems.includes('EXCL-1: rollout-group needs a planted bug or a reason, and not both'),
  );
  assert.ok(problems.includes('EXCL-1: admission needs a planted bug or a reason, and not both'));
  assert.ok(problems.includes('EXCL-1 has no test on a real control plane'));
});

test('every method of docs/rules/promises.md is applied by something', () => {
  assert.deepEqual(Object.keys(methods).toSorted(), idsIn(how));
  for (const { by } of Object.values(methods)) {
    const path = /(?:test|bench|scripts)\/[\w./-]+/.exec(by)?.[0];
    if (path !== undefined) assert.ok(existsSync(join(root, path)), path);
  }
});

test('every planted bug of the gate is there', () => {
  const named = Object.values(promises).flatMap(({ bugs }) => Object.values(bugs));
  const found = Object.values(methods).flatMap(({ bug }) => bug ?? []);
  assert.deepEqual(
    [...named, ...found].filter((name) => !hasPatch(name)),
    [],
  );
});

test('the gate says of each file of the real lane what it takes of it, and why', () => {
  const files = globSync('test/real/**/*.test.ts', { cwd: root });
  assert.deepEqual(realGate.map(({ file }) => file).toSorted(), files.toSorted());
  assert.deepEqual(
    realGate.filter(({ why }) => why.trim() === ''),
    [],
  );
});

test('every test of the real lane that stands for a promise is in the gate', () => {
  const missing = Object.entries(promises).flatMap(([id, { real }]) =>
    real
      .filter(({ file, title }) => !isTaken(file, title))
      .map(({ file, title }) => `${id}: ${file}: ${title}`),
  );
  assert.deepEqual(missing, []);
});

function isTaken(file: string, title: string): boolean {
  const topic = realGate.find((each) => each.file === file);
  const text = readFileSync(join(root, file), 'utf8');
  const isGroup = (name: string): boolean => text.includes(`describe('${name}`);
  return topic?.titles.some((each) => title.startsWith(each) || isGroup(each)) === true;
}

test('docs/rules/promises-shown.md is what test/gate/promises.ts says; else npm run do promises', () => {
  assert.equal(readFileSync(join(root, 'docs/rules/promises-shown.md'), 'utf8'), promisesPage());
});
