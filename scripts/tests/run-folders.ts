/**
 * Runs tests a folder at a time, each folder in one process: what one test has warmed up, the next ones find warm, which saves up
 * to a third of the time. Most folders keep a processor busy, in virtual time; those that wait for real time run beside them.
 *
 *     node scripts/tests/run-folders.ts <folder> …
 *
 * The output of a folder is shown only where it fails; of the others the notes (see run-checks.ts).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { isWhole } from '../../test/support/extent.ts';

const root = join(import.meta.dirname, '../..');

/** Folders whose tests start processes or servers and wait for them: one at a time, beside the others. */
const waiting: ReadonlySet<string> = new Set([
  'test/integration/admission',
  'test/integration/bedrock',
  'test/integration/check',
  'test/integration/programs',
]);

/** How long one test may take, in milliseconds; a sweep that is told whole, as at night, is a single one. */
const testTimeout = isWhole ? 900_000 : 180_000;

/** The files of `folder` itself, but for those of the night. */
function testsIn(folder: string): readonly string[] {
  const files = globSync(`${folder}/*.test.ts`, { cwd: root });
  return files.filter((file) => !file.endsWith('.nightly.test.ts')).toSorted();
}

/** Whether all tests of `folder` passed. */
async function runFolder(folder: string): Promise<boolean> {
  const startedAt = performance.now();
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      `--test-timeout=${testTimeout}`,
      join(import.meta.dirname, 'run-files.ts'),
      ...testsIn(folder),
    ],
    {
      cwd: root,
      // Later than the limit of a test, so that one which hangs is a failure of its own.
      env: { ...process.env, TEST_STANDSTILL_MS: String(testTimeout + 60_000) },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const chunks: Buffer[] = [];
  for (const output of [child.stdout, child.stderr])
    output.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  const output = Buffer.concat(chunks).toString();
  const took = `${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(5)} s`;
  process.stdout.write(`${code === 0 ? 'ok    ' : 'FAILED'} ${took}  ${folder}\n`);
  const notes = output.split('\n').filter((line) => line.startsWith('note: '));
  process.stdout.write(code === 0 ? notes.map((note) => `${note}\n`).join('') : `${output}\n`);
  return code === 0;
}

/** Runs the folders of `queue`, `atOnce` at a time. */
async function runAll(queue: readonly string[], atOnce: number): Promise<boolean> {
  const left = [...queue];
  const passed: boolean[] = [];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift())
      passed.push(await runFolder(next));
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return passed.every(Boolean);
}

const folders = process.argv
  .slice(2)
  .flatMap((pattern) => globSync(pattern, { cwd: root }))
  .map((path) => path.replace(/\/$/, ''))
  .filter((folder) => testsIn(folder).length > 0)
  // The largest first: what begins late ends late.
  .toSorted((one, other) => testsIn(other).length - testsIn(one).length);
if (folders.length === 0) throw new Error('No folder with tests was named');
const results = await Promise.all([
  runAll(
    folders.filter((folder) => !waiting.has(folder)),
    availableParallelism(),
  ),
  runAll(
    folders.filter((folder) => waiting.has(folder)),
    1,
  ),
]);
process.exitCode = results.every(Boolean) ? 0 : 1;
