/** Plants each bug in a copy of the checkout and runs the test that must notice it (D-46). */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { findTest, titleNow } from './find-test.ts';
import { type Mutant, readHunks } from './mutant.ts';
import { type Planted, plant } from './plant.ts';
import { SourceTree } from './source-tree.ts';

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
  /** A test that takes longer with its bug hangs. In milliseconds. @default 2 minutes */
  readonly timeout?: number;
  /** Whether each test was seen to pass already, as by a gate that has just run all of them. @default false */
  readonly arePassing?: boolean;
}

/** A test that takes longer without its bug hangs, too; in milliseconds. None of ours takes nearly as long. */
const testTimeout = 120_000;

interface Run {
  readonly code: number | undefined;
  readonly output: string;
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
  const tree = SourceTree.read(options.root);
  const baselines = new Map<string, Promise<Run>>();
  const results = new Map<Mutant, MutantResult>();
  const queue = [...mutants];
  const work = async (worker: number): Promise<void> => {
    const copy = await copyCheckout(options, `copy-${worker}`);
    const judgeBaseline = async (test: Test): Promise<MutantVerdict | undefined> => {
      if (options.arePassing === true) return undefined;
      const { path } = test;
      const baseline = baselines.get(path) ?? runTests({ path }, copy, testTimeout);
      baselines.set(path, baseline);
      return judgeUnplanted(test, await baseline);
    };
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      const result = await runMutant(mutant, {
        copy,
        tree,
        judgeBaseline,
        timeout: options.timeout ?? testTimeout,
      });
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

/** The test that must notice a bug, as it is called today. */
interface Test {
  readonly path: string;
  readonly title: string;
}

/** Why the named test can show nothing; undefined when it runs and passes without the bug. */
function judgeUnplanted({ title }: Test, { code, output }: Run): MutantVerdict | undefined {
  const isThere = (outcome: 'ok' | 'not ok'): boolean =>
    titlesOf(output, outcome).some((each) => isNamed(title, each));
  if (code === undefined || isThere('not ok')) return 'test fails without it';
  return isThere('ok') ? undefined : 'no such test';
}

interface Bench {
  readonly copy: string;
  readonly tree: SourceTree;
  readonly judgeBaseline: (test: Test) => Promise<MutantVerdict | undefined>;
  readonly timeout: number;
}

async function runMutant(
  mutant: Mutant,
  { copy, tree, judgeBaseline, timeout }: Bench,
): Promise<Pick<MutantResult, 'verdict' | 'output'>> {
  const planted = plant(await readHunks(mutant), tree);
  if ('why' in planted) return { verdict: 'does not apply', output: planted.why };
  const path = findTest(mutant, tree);
  if (path === undefined) return { verdict: 'no such test', output: '' };
  const test = { path, title: titleNow(mutant, planted.renamed) };
  const unplanted = await judgeBaseline(test);
  if (unplanted !== undefined) return { verdict: unplanted, output: '' };
  await write(copy, planted.changed);
  const tested = await runTests(test, copy, timeout);
  await write(copy, originals(planted, tree));
  const verdict = judge(test, tested);
  return { verdict, output: verdict === 'caught' ? '' : tested.output };
}

function originals({ changed }: Planted, tree: SourceTree): ReadonlyMap<string, string> {
  return new Map([...changed.keys()].map((path) => [path, tree.text(path) ?? '']));
}

async function write(folder: string, texts: ReadonlyMap<string, string>): Promise<void> {
  for (const [path, text] of texts) await writeFile(join(folder, path), text);
}

/** Why planted bugs of the checkout at `root` do not fit it any more, a sentence each; runs no test. */
export async function checkMutants(
  root: string,
  mutants: readonly Mutant[],
): Promise<readonly string[]> {
  const tree = SourceTree.read(root);
  const problems = mutants.map(async (mutant) => {
    const { name, test } = mutant;
    if (findTest(mutant, tree) === undefined) return `${name}: there is no ${test}`;
    const planted = plant(await readHunks(mutant), tree);
    return 'why' in planted ? `${name} does not apply: ${planted.why}` : [];
  });
  return (await Promise.all(problems)).flat();
}

/** A file that no longer loads fails too, but under its own name: that is not the test noticing the bug. */
function judge({ title }: Test, { code, output }: Run): MutantVerdict {
  if (code === undefined) return 'hangs';
  if (code === 0) return 'survived';
  const failed = titlesOf(output, 'not ok');
  return failed.some((each) => isNamed(title, each)) ? 'caught' : 'breaks more than the named test';
}

/** Node matches a pattern against the titles of the groups, too, so `Name` may hold several. */
function isNamed(wanted: string, title: string): boolean {
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
  { path, title }: Pick<Test, 'path'> & Partial<Test>,
  root: string,
  timeout: number,
): Promise<Run> {
  const pattern = title?.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  const selection = pattern === undefined ? [] : [`--test-name-pattern=${pattern}`];
  // In one process, so that one that hangs can be ended.
  const flags = ['--disable-warning=ExperimentalWarning', '--test', '--test-isolation=none'];
  const options = [...flags, '--test-reporter=tap', ...selection];
  return run(process.execPath, [...options, join(root, path)], { cwd: root, timeout });
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
