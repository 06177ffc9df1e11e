import { dirname } from 'node:path/posix';

/** Most files of one folder, tests next to their code counted. */
const mostFiles = 25;

/** Patches that are picked by name, and pages that are reached by a link from each alert: nothing looks through these folders. */
const unbounded: ReadonlySet<string> = new Set(['test/mutants', 'docs/runbooks']);

/**
 * Returns what is wrong with the folders of `paths` (from the root of the checkout), one sentence each: too many files, or
 * sources of which `page`, docs/folders.md, says nothing, or a line about a folder that is not there.
 */
export function folderProblems(paths: readonly string[], page: string): readonly string[] {
  const counts = Map.groupBy(paths, (path) => dirname(path));
  const explained = [...page.matchAll(/^\| `([^`]+)\/` \| \S/gm)].map(([, folder = '']) => folder);
  const large = [...counts].filter(
    ([folder, { length }]) => length > mostFiles && !unbounded.has(folder),
  );
  const sources = [...counts.keys()].filter((folder) =>
    counts.get(folder)?.some((path) => path.endsWith('.ts')),
  );
  return [
    ...large.map(([folder, { length }]) => `${folder} has ${length} files, more than ${mostFiles}`),
    ...sources
      .filter((folder) => !explained.includes(folder))
      .map((folder) => `docs/folders.md has no line about ${folder}`),
    ...explained
      .filter((folder) => !counts.has(folder))
      .map((folder) => `docs/folders.md explains ${folder}, which is not there`),
  ].toSorted();
}
