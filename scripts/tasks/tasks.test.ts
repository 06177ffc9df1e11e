import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { listTasks } from './list-tasks.ts';
import { okTasks, tasks } from './tasks.ts';

const root = join(import.meta.dirname, '../..');

test('listTasks() shows each task with its help, by group', () => {
  const command = 'true';
  const text = listTasks({
    Run: { a: { help: 'does a', command } },
    Test: { bcd: { help: 'tests', command } },
  });
  assert.match(text, /\nRun\n {2}a {4}does a\n\nTest\n {2}bcd {2}tests\n$/);
});

test('the gate of every commit has all checks, and both kinds of tests that are quick', () => {
  const checks = [...tasks.keys()].filter((name) => name.startsWith('check:'));
  assert.deepEqual(okTasks.toSorted(), [...checks, 'test:scripts', 'test:unit'].toSorted());
});

test('package.json has the four scripts that a contributor needs, the list of the others, and the night', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  assert.deepEqual(Object.keys(scripts), ['start', 'test', 'ok', 'format', 'do', 'nightly']);
});

test('each file that a task runs is there', () => {
  const files = [...tasks.values()].flatMap(
    ({ command }) => command.match(/\S+\.(?:ts|sh)\b/g) ?? [],
  );
  const paths = files.filter((path) => !/[*{"]/.test(path)).map((path) => path.replace(/^.*=/, ''));
  assert.ok(paths.length > 40);
  for (const path of new Set(paths)) readFileSync(join(root, path));
});
