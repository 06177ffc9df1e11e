import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { type CheckResult, describeResult, runChecks } from './run-checks.ts';

describe('runChecks()', () => {
  const root = mkdtempSync(join(tmpdir(), 'run-checks-'));
  const commands = new Map([
    ['good', 'echo fine'],
    ['bad', 'echo out; echo err >&2; exit 3'],
    ['killed', 'kill -9 $$'],
  ]);
  after(() => rmSync(root, { recursive: true }));

  async function run(...names: string[]): Promise<{ passed: boolean; results: CheckResult[] }> {
    const results: CheckResult[] = [];
    const passed = await runChecks({
      root,
      names,
      commands,
      atOnce: 2,
      report: (r) => results.push(r),
    });
    return { passed, results };
  }

  test('passes when all checks pass', async () => {
    const { passed, results } = await run('good', 'good', 'good');
    assert.equal(passed, true);
    assert.deepEqual(
      results.map(({ name, output }) => ({ name, output })),
      Array.from({ length: 3 }, () => ({ name: 'good', output: 'fine\n' })),
    );
  });

  test('fails when one fails, runs the others all the same and keeps both streams', async () => {
    const { passed, results } = await run('bad', 'good');
    assert.equal(passed, false);
    assert.deepEqual(
      results.map(({ name, passed: each, output }) => `${name} ${each} ${output}`).toSorted(),
      ['bad false out\nerr\n', 'good true fine\n'],
    );
  });

  test('fails when a check is killed', async () => {
    assert.equal((await run('killed')).passed, false);
  });

  test('refuses a name that is no task', async () => {
    await assert.rejects(run('good', 'gone'), {
      message: 'Cannot run "gone": there is no such task',
    });
  });
});

test('describeResult() shows the notes of a check that passed', () => {
  const result = {
    name: 'a',
    passed: true,
    output: '...\nnote: 2 skipped: no x\n',
    milliseconds: 0,
  };
  assert.equal(describeResult(result), 'ok       0.0 s  a\n         note: 2 skipped: no x\n');
});

test('describeResult() shows the output of a failed check only', () => {
  const result = { name: 'check:x', output: 'why\n', milliseconds: 1234 };
  assert.equal(describeResult({ ...result, passed: true }), 'ok       1.2 s  check:x\n');
  assert.equal(describeResult({ ...result, passed: false }), 'FAILED   1.2 s  check:x\n\nwhy\n\n');
});
