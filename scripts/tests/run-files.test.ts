import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';

const script = join(import.meta.dirname, 'run-files.ts');

interface Ended {
  readonly code: unknown;
  readonly said: string;
}

/** Runs the tests of `sources`, a file each. */
async function run(context: TestContext, ...sources: readonly string[]): Promise<Ended> {
  const folder = await mkdtemp(join(tmpdir(), 'files-'));
  context.after(() => rm(folder, { recursive: true }));
  for (const [at, source] of sources.entries()) {
    const imports = `import { after, before, suite, test } from 'node:test';`;
    await writeFile(join(folder, `${at}.test.mjs`), `${imports}\n${source}`);
  }
  const args = ['--test-timeout=1000', script, join(folder, '*.test.mjs')];
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined, TEST_TIMES: undefined };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env, timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, said: `${stdout}${stderr}` });
    });
  });
}

const nested = `
const told = [];
suite('outer', () => {
  before(() => told.push('before outer'));
  after(() => told.push('after outer'));
  test('one', () => told.push('one'));
  suite('inner', () => {
    before(() => told.push('before inner'));
    test('two', async (t) => t.test('sub', () => told.push('two')));
  });
});
test('told', () => { process.stdout.write('told: ' + told.join(', ')); });`;

test('files run in one process, and suites keep their hooks and tests', async (context) => {
  const { code, said } = await run(context, nested, "test('three', () => {});");
  assert.equal(code, 0, said);
  assert.match(said, /told: before outer, one, before inner, two, after outer/);
  // One dot each: one, sub, two, inner, outer, told, three.
  assert.equal(said.match(/\./g)?.length, 7, said);
});

test('a test that fails fails the run, and is named', async (context) => {
  const { code, said } = await run(context, "test('one', () => { throw new Error('wrong'); });");
  assert.equal(code, 1);
  assert.match(said, /✖ one[^]*wrong/);
});

test('a test that hangs fails at its limit', async (context) => {
  const hang = 'new Promise((resolve) => setTimeout(resolve, 50_000).unref())';
  const { code, said } = await run(context, `test('one', () => ${hang});\ntest('two', () => {});`);
  assert.equal(code, 1);
  assert.match(said, /✖ one[^]*timed out after 1000ms/);
});

for (const [what, stray] of [
  ['an error that is thrown beside a test', "setTimeout(() => { throw new Error('stray'); })"],
  ['a rejection that nothing awaits', "void Promise.reject(new Error('stray'))"],
]) {
  test(`${what} fails the run, and is printed`, async (context) => {
    const wait = 'await new Promise((resolve) => setTimeout(resolve, 100))';
    const { code, said } = await run(context, `test('one', async () => { ${stray}; ${wait}; });`);
    assert.equal(code, 1);
    assert.match(said, /A test left this error to nobody: Error: stray\n +at /);
  });
}

test('a file that cannot be loaded fails the run', async (context) => {
  const { code, said } = await run(context, "await import('./absent.mjs');");
  assert.equal(code, 1);
  assert.match(said, /absent\.mjs/);
});

test('without a file the run fails', async (context) => {
  const { code, said } = await run(context);
  assert.equal(code, 1);
  assert.match(said, /No file of tests matches .*\*\.test\.mjs/);
});
