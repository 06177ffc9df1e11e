/**
 * Turns each lie on alone and requires that the scenario of its row fails (LN-5): a trap without a failing scenario
 * is an open bug of the suite. For every night, not for every push.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Lie } from './lie.ts';
import { LIE, lies } from './lies.ts';

const root = join(import.meta.dirname, '../..');

/** What a run of the scenario of `lie` wrote, with the switch `name` on, or with none. */
async function runOf({ file, scenario }: Lie, name: string | undefined): Promise<string> {
  const pattern = `^${scenario.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')}`;
  const { [LIE]: _, NODE_TEST_CONTEXT: __, ...env } = process.env;
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      '--test',
      '--test-isolation=none',
      '--test-reporter=tap',
      '--test-timeout=60000',
      `--test-name-pattern=${pattern}`,
      join(root, 'test/integration', `${file}.test.ts`),
    ],
    { cwd: root, env: name === undefined ? env : { ...env, [LIE]: name } },
  );
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.resume();
  await once(child, 'close');
  return Buffer.concat(chunks).toString();
}

/** The traps of docs/rules/embedded-cluster.md. */
const TRAPS = 34;

test('every trap has a lie', () => {
  const told = new Set<string>(Object.values(lies).map(({ trap }) => trap));
  const all = Array.from({ length: TRAPS }, (_, index) => `FT-${index + 1}`);
  assert.deepEqual(
    all.filter((trap) => !told.has(trap)),
    [],
  );
});

describe('a lie is found out', { concurrency: 2 }, () => {
  for (const [name, lie] of Object.entries(lies)) {
    test(`${lie.trap}: ${name}`, async () => {
      const output = await runOf(lie, name);
      assert.match(output, /^# tests [1-9]/m, 'the scenario must run');
      assert.match(output, /^not ok/m, `"${lie.scenario}…" passes although ${name}`);
      assert.match(
        output,
        /ERR_ASSERTION/,
        `the scenario must fail by what it asserts:\n${output}`,
      );
    });
  }
});

describe('without a lie', { concurrency: 2 }, () => {
  const scenarios = new Map(Object.values(lies).map((lie) => [lie.scenario, lie]));
  for (const lie of scenarios.values()) {
    test(`${lie.scenario} holds`, async () => {
      const output = await runOf(lie, undefined);
      assert.match(output, /^# tests [1-9]/m, 'the scenario must run');
      assert.doesNotMatch(output, /^not ok/m);
    });
  }
});
