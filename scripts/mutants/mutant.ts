/** A planted bug, as its patch in `test/mutants/` describes it. */
import { glob, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type Hunk, parseHunks } from './hunk.ts';

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
  const { header } = partsOf(text);
  const field = (key: string): string => {
    const value = new RegExp(`^${key}: *(\\S.*?) *$`, 'm').exec(header)?.[1];
    if (value !== undefined) return value;
    throw new Error(`Cannot read ${patch} as it has no line "${key}: …" above its diff`);
  };
  const name = basename(patch, '.patch');
  return { name, patch, bug: field('Bug'), test: field('Test'), title: field('Name') };
}

function partsOf(text: string): { readonly header: string; readonly diff: string } {
  const at = Math.max(0, text.search(/^(?:diff|---) /m));
  return { header: text.slice(0, at), diff: text.slice(at) };
}

/** The room, or the capability, whose test must notice `mutant`; `tests` where it is one of the tests' own. */
export function roomOf({ test }: Pick<Mutant, 'test'>): string {
  return /^(?:src|test\/integration)\/([^/]+)\//.exec(test)?.[1] ?? 'tests';
}

/** Reads what `mutant` changes. @throws {Error} when its patch changes nothing */
export async function readHunks({ patch }: Mutant): Promise<readonly Hunk[]> {
  const hunks = parseHunks(partsOf(await readFile(patch, 'utf8')).diff);
  if (hunks.length > 0) return hunks;
  throw new Error(`Cannot read ${patch} as its diff has no hunk`);
}
