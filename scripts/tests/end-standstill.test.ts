import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';

const reporter = join(import.meta.dirname, 'end-standstill.ts');

interface Ended {
  readonly code: unknown;
  readonly said: string;
}

/** Runs the tests of `source` in one process, which may stand still for a second. */
async function run(context: TestContext, source: string): Promise<Ended> {
  const folder = await mkdtemp(join(tmpdir(), 'standstill-'));
  context.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'some.test.mjs');
  await writeFile(file, `import { after, test } from 'node:test';\n${source}`);
  const args = ['--test', '--test-isolation=none', `--test-reporter=${reporter}`, file];
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined, TEST_STANDSTILL_MS: '1000' };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env, timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, said: `${stdout}${stderr}` });
    });
  });
}

const open = "(await import('node:net')).createServer().listen(0, '127.0.0.1')";

test('endStandstill() ends a run whose hook hangs, and says that no test is under way', async (context) => {
  const hook = `after(async () => { ${open}; await new Promise(() => {}); });`;
  const { code, said } = await run(context, `test('one', () => {});\n${hook}`);
  assert.equal(code, 1);
  assert.match(
    said,
    /The tests stood still for 1 s: under way: no test, so a hook or what was left open; the last to end: "one" \(.*some\.test\.mjs\); failed: none; open: .*1 TCPServerWrap/,
  );
});

test('endStandstill() ends a run whose process stays alive after the last test', async (context) => {
  const { code, said } = await run(context, `test('one', async () => { ${open}; });`);
  assert.equal(code, 1);
  assert.match(said, /stood still for 1 s: under way: no test.*1 TCPServerWrap/);
});

test('endStandstill() names what failed before', async (context) => {
  const failing = `test('one', async () => { ${open}; throw new Error('no'); });`;
  const { said } = await run(context, failing);
  assert.match(said, /; failed: "one" \(.*some\.test\.mjs\); /);
});

test('endStandstill() names the test that stands still', async (context) => {
  const waiting = "test('two', () => new Promise((resolve) => setTimeout(resolve, 60_000)));";
  const { code, said } = await run(context, `test('one', () => {});\n${waiting}`);
  assert.equal(code, 1);
  assert.match(said, /under way: "two" \(.*some\.test\.mjs\); the last to end: "one"/);
});

test('endStandstill() says nothing of a run that ends', async (context) => {
  assert.deepEqual(await run(context, "test('one', () => {});"), { code: 0, said: '' });
});
