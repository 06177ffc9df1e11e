import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { countedIn, missingFor, runStage, skipsIn } from './run-stage.ts';
import type { Stage } from './stage.ts';
import { StageBook, stateOf } from './stage-book.ts';

describe('runStage()', () => {
  const root = mkdtempSync(join(tmpdir(), 'nightly-'));
  const book = new StageBook(join(root, 'night'));
  after(() => rmSync(root, { recursive: true }));

  const stage = (command: string): Stage => ({ name: 'mutants control', command, needs: [] });

  test('keeps what a stage counted and skipped, and runs it whole', async () => {
    const said = 'note: 2 skipped: no x\\n3 of 3 planted bugs caught\\n';
    const command = `test "$TEST_EXTENT" = whole && printf '${said}'`;
    const result = await runStage(stage(command), root, book);
    assert.equal(result.verdict, 'passed');
    assert.equal(result.counted, '3 of 3 planted bugs caught');
    assert.deepEqual(result.skips, ['2 skipped: no x']);
    assert.deepEqual(book.read('mutants control'), result);
  });

  test('says why a stage failed', async () => {
    const result = await runStage(stage('echo first; echo last >&2; exit 3'), root, book);
    assert.deepEqual([result.verdict, result.why], ['failed', 'first\nlast']);
  });

  test('counts the tests of the files that a stage ran', async () => {
    const line = '{"file":"a","seconds":1,"passed":4,"failed":0,"skipped":1}';
    const result = await runStage(stage(`echo '${line}' >> "$TEST_TIMES"`), root, book);
    assert.equal(result.counted, '4 passed, 0 failed, 1 skipped');
    const again = await runStage(stage('true'), root, book);
    assert.equal(again.counted, '', 'what a former run counted is gone');
  });

  test('fails a stage whose tool is missing, and says how to get it', async () => {
    const path = process.env['PATH'];
    process.env['PATH'] = '';
    try {
      const needs = ['promtool'] as const;
      assert.deepEqual(missingFor({ ...stage('true'), needs }), [
        'promtool is missing: apt-get install prometheus',
      ]);
      const result = await runStage({ ...stage('true'), needs }, root, book);
      assert.deepEqual(
        [result.verdict, result.why],
        ['failed', 'promtool is missing: apt-get install prometheus'],
      );
    } finally {
      process.env['PATH'] = path;
    }
  });
});

test('countedIn() takes the last count of planted bugs or stories', () => {
  assert.equal(countedIn('a: 3/4 in 2.0 s\nb: 5/5 in 1.0 s\n', []), 'b: 5/5 in 1.0 s');
  assert.equal(countedIn('nothing', []), '');
});

test('skipsIn() takes the lines of both kinds of report, each once', () => {
  const output =
    'note: 1 skipped: no consul\n  4 skipped: no draining\nnote: 1 skipped: no consul\n';
  assert.deepEqual(skipsIn(output), ['1 skipped: no consul', '4 skipped: no draining']);
});

test('stateOf() is the commit, and another state with each change', () => {
  const root = mkdtempSync(join(tmpdir(), 'state-'));
  const git = (...args: readonly string[]): void => {
    const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b.c'];
    execFileSync('git', [...identity, ...args], { cwd: root, stdio: 'ignore' });
  };
  git('init');
  writeFileSync(join(root, 'a.txt'), 'one');
  git('add', '.');
  git('commit', '-m', 'one');
  const clean = stateOf(root);
  assert.match(clean, /^[0-9a-f]{12}$/);
  writeFileSync(join(root, 'a.txt'), 'two');
  const changed = stateOf(root);
  assert.ok(changed.startsWith(`${clean}-`));
  writeFileSync(join(root, 'b.txt'), 'new');
  assert.notEqual(stateOf(root), changed);
  rmSync(root, { recursive: true });
});
