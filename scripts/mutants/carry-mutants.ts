/** Writes patches of planted bugs anew after a move or a rename: with the paths, names and lines of today. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findTest, titleNow } from './find-test.ts';
import { enclosingName, type Hunk, parseHunks } from './hunk.ts';
import { type Mutant, readHunks } from './mutant.ts';
import { rename } from './place-hunk.ts';
import { type Planted, plant } from './plant.ts';
import { SourceTree } from './source-tree.ts';

/**
 * Carries `mutants` over to the sources of the checkout at `root`.
 *
 * @returns a line for each patch that was written or has no place; nothing of a patch without a place is changed
 */
export async function carryMutants(
  root: string,
  mutants: readonly Mutant[],
): Promise<readonly string[]> {
  const tree = SourceTree.read(root);
  const lines: string[] = [];
  for (const mutant of mutants) {
    const planted = plant(await readHunks(mutant), tree);
    const test = findTest(mutant, tree);
    if ('why' in planted) lines.push(`${mutant.name}: no place: ${planted.why}`);
    else if (test === undefined) lines.push(`${mutant.name}: there is no ${mutant.test}`);
    else if (await rewrite(mutant, { planted, tree, test })) lines.push(`${mutant.name}: written`);
  }
  return lines;
}

interface Carried {
  readonly planted: Planted;
  readonly tree: SourceTree;
  readonly test: string;
}

/** Whether the patch differed. */
async function rewrite(mutant: Mutant, { planted, tree, test }: Carried): Promise<boolean> {
  const title = titleNow(mutant, planted.renamed);
  const header = `Bug: ${mutant.bug}\nTest: ${test}\nName: ${title}\n`;
  const patch = `${header}\n${await diffsOf(planted, tree)}`;
  const former = await readFile(mutant.patch, 'utf8');
  if (former === patch) return false;
  await writeFile(mutant.patch, patch);
  return true;
}

/** Lines of context: as few as tell the place of a bug from all others, since each of them may change. */
const contexts = [1, 2, 3, 5, 8];

async function diffsOf({ changed }: Planted, tree: SourceTree): Promise<string> {
  let diffs = '';
  for (const context of contexts) {
    const each = [...changed].map(([path, text]) =>
      diffOf({ path, before: tree.text(path) ?? '', after: text, context }),
    );
    diffs = (await Promise.all(each)).join('');
    if (isPlainIn(parseHunks(diffs), tree)) return diffs;
  }
  return diffs;
}

/** Whether the lines of `hunks` alone tell their place, without file and declaration, even if that is renamed. */
function isPlainIn(hunks: readonly Hunk[], tree: SourceTree): boolean {
  const bare = hunks.map((hunk) => ({ ...hunk, path: '', heading: '' }));
  if ('why' in plant(bare, tree)) return false;
  const renamed = new Map(tree.paths().map((path) => [path, tree.text(path) ?? '']));
  for (const { path, heading } of hunks) {
    const name = heading.split('.').at(-1) ?? '';
    renamed.set(path, rename(renamed.get(path) ?? '', new Map([[name, `${name}Renamed`]])));
  }
  return !('why' in plant(bare, tree.with(renamed)));
}

interface Compared {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly context: number;
}

/** The unified diff of one file, with the declaration that each hunk changes. */
async function diffOf({ path, before, after, context }: Compared): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'carry-mutants-'));
  try {
    for (const [side, text] of Object.entries({ a: before, b: after })) {
      await mkdir(dirname(join(folder, side, path)), { recursive: true });
      await writeFile(join(folder, side, path), text);
    }
    const args = ['diff', '--no-index', '--no-color', `-U${context}`, `a/${path}`, `b/${path}`];
    const { stdout } = await run('git', args, folder);
    const hunks = stdout.slice(stdout.indexOf('\n@@ ') + 1);
    return `--- a/${path}\n+++ b/${path}\n${named(hunks, before.split('\n'))}`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes behind each position the declaration that its first changed line is in. */
function named(hunks: string, lines: readonly string[]): string {
  const texts = hunks.split('\n');
  return texts
    .map((text, at) => {
      const position = /^@@ -(\d+)[^@]*@@/.exec(text);
      if (position === null) return text;
      const context = texts.slice(at + 1).findIndex((line) => !line.startsWith(' '));
      const heading = enclosingName(lines, Number(position[1]) - 1 + context);
      return `${position[0]} ${heading}`.trimEnd();
    })
    .join('\n');
}

const execute = promisify(execFile);

/** Git ends with 1 where files differ. */
async function run(
  program: string,
  args: readonly string[],
  cwd: string,
): Promise<{ readonly stdout: string }> {
  try {
    return await execute(program, [...args], { cwd, maxBuffer: 1 << 26 });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 1 && 'stdout' in error)
      return { stdout: String(error.stdout) };
    throw error;
  }
}
