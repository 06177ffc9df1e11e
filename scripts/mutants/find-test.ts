/** Finds the test that must notice a planted bug, also after its file was moved or its subject renamed. */
import { basename } from 'node:path';
import type { Mutant } from './mutant.ts';
import { rename } from './place-hunk.ts';
import type { SourceTree } from './source-tree.ts';

/**
 * Returns the path of the test file of `mutant`: the one that it names, else the only one of that name elsewhere, else the only
 * one that has the title; undefined where none of these is there.
 */
export function findTest({ test, title }: Mutant, tree: SourceTree): string | undefined {
  if (tree.text(test) !== undefined) return test;
  const tests = tree.paths().filter((path) => path.endsWith('.test.ts'));
  const sameName = tests.filter((path) => basename(path) === basename(test));
  if (sameName.length === 1) return sameName[0];
  const titled = tests.filter((path) => tree.text(path)?.includes(title) === true);
  return titled.length === 1 ? titled[0] : undefined;
}

/** The title of the test of `mutant` today: titles begin with the name of what they are about. */
export function titleNow({ title }: Mutant, renamed: ReadonlyMap<string, string>): string {
  return rename(title, renamed);
}
