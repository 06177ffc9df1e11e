/**
 * Shows that the tests notice the bugs they are there for (D-46). Each `test/mutants/<name>.patch` plants
 * one, and names the test that must then fail in the lines above its diff:
 *
 *     Bug: a pod that is terminating counts as available
 *     Test: src/statefulset/availability.test.ts
 *     Name: isAvailable() is false for a terminating pod
 *
 * `Name` is the title of a test or a group, or a part of it. `node scripts/mutants.ts [word]` runs them
 * all, or those whose file name has the word in it.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, glob, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, sep } from 'node:path';

/** A planted bug, as its patch describes it. */
export interface Mutant {
  readonly name: string;
  /** Path of the patch. */
  readonly patch: string;
  /** One sentence: what the bug is. */
  readonly bug: string;
  /** The test file, from the root of the checkout. */
  readonly test: string;
  /** The title of the test that must fail, or a part of it. */
  readonly title: string;
}

/** What a mutant showed; only `caught` is good. */
export type MutantVerdict =
  | 'caught'
  | 'survived'
  | 'does not apply'
  | 'breaks more than the named test'
  | 'hangs'
  | 'no such test'
  | 'test fails without it';

/** How one mutant ended, and what was written when it did not end well. */
export interface MutantResult {
  readonly mutant: Mutant;
  readonly verdict: MutantVerdict;
  readonly output: string;
}

/** Where and how to run the mutants. */
export interface MutantOptions {
  /** The checkout, with its uncommitted changes. */
  readonly root: string;
  /** How many run at once. */
  readonly atOnce: number;
  /** A test that takes longer with its bug hangs. In milliseconds. */
  readonly timeout: number;
}

/** In milliseconds; no test of ours takes nearly as long. */
const testTimeout = 120_000;

interface Run {
  readonly code: number | undefined;
  readonly output: string;
}

/** The mutants of the checkout at `root`, by name. @throws {Error} when a patch lacks a line of its header */
export async function readMutants(root: string): Promise<readonly Mutant[]> {
  const mutants: Mutant[] = [];
  for await (const path of glob('test/mutants/*.patch', { cwd: root })) {
    const patch = join(root, path);
    mutants.push(parseMutant(patch, await readFile(patch, 'utf8')));
  }
  return mutants.toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
}

function parseMutant(patch: string, text: string): Mutant {
  const header = text.slice(0, Math.max(0, text.search(/^(?:diff|---) /m)));
  const field = (key: string): string => {
    const value = new RegExp(`^${key}: *(\\S.*?) *$`, 'm').exec(header)?.[1];
    if (value !== undefined) return value;
    throw new Error(`Cannot read ${patch} as it has no line "${key}: …" above its diff`);
  };
  const name = basename(patch, '.patch');
  return { name, patch, bug: field('Bug'), test: field('Test'), title: field('Name') };
}

/** Runs each mutant in a copy of the checkout, which itself stays as it is; the results are in the order given. */
export async function runMutants(
  mutants: readonly Mutant[],
  options: MutantOptions,
): Promise<readonly MutantResult[]> {
  const temporary = await mkdtemp(join(tmpdir(), 'mutants-'));
  try {
    return await withCopies(mutants, { ...options, temporary });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

interface CopyOptions extends MutantOptions {
  readonly temporary: string;
}

async function withCopies(
  mutants: readonly Mutant[],
  options: CopyOptions,
): Promise<readonly MutantResult[]> {
  const baselines = new Map<string, Promise<Run>>();
  const results = new Map<Mutant, MutantResult>();
  const queue = [...mutants];
  const work = async (worker: number): Promise<void> => {
    const copy = await copyCheckout(options, `copy-${worker}`);
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      const { test } = mutant;
      const baseline = baselines.get(test) ?? runTests({ test }, copy, testTimeout);
      baselines.set(test, baseline);
      const verdict = judgeBaseline(mutant, await baseline);
      const result =
        verdict === undefined
          ? await runMutant(mutant, copy, options.timeout)
          : { verdict, output: '' };
      results.set(mutant, { mutant, ...result });
    }
  };
  await Promise.all(Array.from({ length: options.atOnce }, (_, worker) => work(worker)));
  return mutants.flatMap((mutant) => results.get(mutant) ?? []);
}

async function copyCheckout({ root, temporary }: CopyOptions, name: string): Promise<string> {
  const copy = join(temporary, name);
  const left = new Set(['node_modules', '.git', 'dist', 'coverage']);
  await cp(root, copy, {
    recursive: true,
    filter: (path) => !left.has(relative(root, path).split(sep)[0] ?? ''),
  });
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Why the named test can show nothing; undefined when it runs and passes without the bug. */
function judgeBaseline(mutant: Mutant, { code, output }: Run): MutantVerdict | undefined {
  const isThere = (outcome: 'ok' | 'not ok'): boolean =>
    titlesOf(output, outcome).some((title) => isNamed(mutant, title));
  if (code === undefined || isThere('not ok')) return 'test fails without it';
  return isThere('ok') ? undefined : 'no such test';
}

async function runMutant(
  mutant: Mutant,
  copy: string,
  timeout: number,
): Promise<Pick<MutantResult, 'verdict' | 'output'>> {
  const applied = await applyPatch(mutant, copy);
  if (applied.code !== 0) return { verdict: 'does not apply', output: applied.output };
  const tested = await runTests(mutant, copy, timeout);
  await applyPatch(mutant, copy, '--reverse');
  const verdict = judge(mutant, tested);
  return { verdict, output: verdict === 'caught' ? '' : tested.output };
}

/** Why planted bugs of the checkout at `root` do not fit it any more, a sentence each; runs no test. */
export async function checkMutants(root: string): Promise<readonly string[]> {
  const mutants = await readMutants(root);
  const problems = mutants.map(async (mutant) => {
    const { name, test } = mutant;
    if (!existsSync(join(root, test))) return `${name}: there is no ${test}`;
    const { code, output } = await applyPatch(mutant, root, '--check');
    return code === 0 ? [] : `${name} does not apply: ${output.trimEnd()}`;
  });
  return (await Promise.all(problems)).flat();
}

function applyPatch({ patch }: Mutant, cwd: string, ...flags: readonly string[]): Promise<Run> {
  return run('git', ['apply', '--whitespace=nowarn', ...flags, patch], { cwd });
}

/** A file that no longer loads fails too, but under its own name: that is not the test noticing the bug. */
function judge(mutant: Mutant, { code, output }: Run): MutantVerdict {
  if (code === undefined) return 'hangs';
  if (code === 0) return 'survived';
  const failed = titlesOf(output, 'not ok');
  return failed.some((title) => isNamed(mutant, title))
    ? 'caught'
    : 'breaks more than the named test';
}

/** Node matches a pattern against the titles of the groups, too, so `Name` may hold several. */
function isNamed({ title: wanted }: Mutant, title: string): boolean {
  return title.includes(wanted) || wanted.includes(title);
}

function titlesOf(tap: string, outcome: 'ok' | 'not ok'): readonly string[] {
  const lines = tap.matchAll(
    new RegExp(`^ *${outcome} \\d+ - (.*?)(?: # (?:SKIP|TODO).*)?$`, 'gm'),
  );
  return [...lines]
    .filter(([line]) => !/ # (?:SKIP|TODO)/.test(line))
    .map(([, title = '']) => title.replaceAll(/\\(.)/g, '$1'));
}

/** Runs all tests of a file, or those that `title` names. */
function runTests(
  { test, title }: Pick<Mutant, 'test'> & { readonly title?: string },
  root: string,
  timeout: number,
): Promise<Run> {
  const pattern = title?.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  const selection = pattern === undefined ? [] : [`--test-name-pattern=${pattern}`];
  // In one process, so that one that hangs can be ended.
  const flags = ['--disable-warning=ExperimentalWarning', '--test', '--test-isolation=none'];
  const options = [...flags, '--test-reporter=tap', ...selection];
  return run(process.execPath, [...options, join(root, test)], { cwd: root, timeout });
}

/** Runs a program to its end. `code` is undefined when it had to be killed. */
function run(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly timeout?: number },
): Promise<Run> {
  return new Promise((resolve) => {
    const settings = {
      ...options,
      env: cleanEnvironment(options.cwd),
      killSignal: 'SIGKILL',
      maxBuffer: 1 << 26,
    } as const;
    execFile(program, args, settings, (error, stdout, stderr) => {
      const output = `${stdout}${stderr}`;
      if (error === null) resolve({ code: 0, output });
      else
        resolve({
          code: typeof error.code === 'number' ? error.code : undefined,
          output: output || error.message,
        });
    });
  });
}

/**
 * Without what Node's test runner and git's hooks tell the programs that they start. Git must not look above
 * `cwd`: in a folder of another repository it skips, without a word, what it takes for files outside of it.
 */
function cleanEnvironment(cwd: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([key]) => !/^(?:GIT_|NODE_TEST)/.test(key));
  return { ...Object.fromEntries(kept), GIT_CEILING_DIRECTORIES: dirname(cwd) };
}

/** A row for each result, and below it the output of those that show nothing. */
export function describeResults(results: readonly MutantResult[]): string {
  const width = Math.max(...results.map(({ verdict }) => verdict.length));
  const rows = results.map(
    ({ mutant, verdict }) => `${verdict.padEnd(width)}  ${mutant.name}: ${mutant.bug}\n`,
  );
  const outputs = results
    .filter(({ output }) => output !== '')
    .map(({ mutant, output }) => `\n${mutant.name}\n${output.trimEnd()}\n`);
  const caught = results.filter(({ verdict }) => verdict === 'caught').length;
  return `${rows.join('')}${outputs.join('')}\n${caught} of ${results.length} planted bugs caught\n`;
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const word = process.argv[2] ?? '';
  const mutants = (await readMutants(root)).filter(({ name }) => name.includes(word));
  const results = await runMutants(mutants, { root, atOnce: 2, timeout: testTimeout });
  process.stdout.write(
    results.length === 0
      ? 'No planted bug in test/mutants has such a name\n'
      : describeResults(results),
  );
  const caught = results.every(({ verdict }) => verdict === 'caught');
  process.exitCode = caught && results.length > 0 ? 0 : 1;
}
