import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { reasonCatalogue } from '../../src/control/decision/reasons.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/log-messages.md'), 'utf8');
const rows = page.split('\n').filter((line) => /^\| .*`/.test(line));
const sources = globSync('src/**/*.ts', { cwd: root })
  .filter((path) => !path.endsWith('.test.ts'))
  .map((path) => readFileSync(join(root, path), 'utf8'))
  .join('\n');

/** The quoted words of the cell that says what this operator logs. */
function ownWords(row: string): readonly string[] {
  const cells = row.split('|').map((cell) => cell.trim());
  const isTranslation = /\((?:level|pass)|^(?:info|warn|error|debug)\b/.test(cells[1] ?? '');
  const cell = cells[isTranslation || cells[1]?.startsWith('error of') === true ? 2 : 1] ?? '';
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
}

test('docs/log-messages.md names only messages and reasons of ours that the program has', () => {
  const words = rows.flatMap(ownWords);
  const messages = words.filter((word) => word.includes(' '));
  const reasons = words.filter((word) => word.startsWith('reason=')).map((word) => word.slice(7));
  assert.ok(messages.length >= 35 && reasons.length >= 15, `${messages.length}, ${reasons.length}`);
  assert.deepEqual(
    messages.filter((message) => !sources.includes(`'${message}'`)),
    [],
  );
  assert.deepEqual(
    reasons.filter((reason) => !Object.hasOwn(reasonCatalogue, reason)),
    [],
  );
});

test('docs/log-messages.md names only alerts that have a runbook', () => {
  const alerts = [...page.matchAll(/\bRolloutOperator\w+/g)].map(([alert]) => alert);
  const pages = globSync('docs/runbooks/*.md', { cwd: root }).join(' ');
  assert.deepEqual(
    alerts.filter((alert) => !pages.includes(`${alert}.md`)),
    [],
  );
});
