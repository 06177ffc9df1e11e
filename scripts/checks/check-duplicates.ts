/**
 * Finds runs of six or more equal lines in two files of the program or its tools, tests left out. Blank lines, comments,
 * imports, lone brackets, and lines that are but data, as in a table, do not count, and do not end a run.
 *
 *     node scripts/checks/check-duplicates.ts src/control    those with a file below src/control
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where equal lines stand in one file; both ends from 1, and included. */
export interface Place {
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

/** The same run of lines in two files. */
export interface Duplicate {
  readonly lines: number;
  readonly one: Place;
  readonly other: Place;
}

/** A line that counts. */
interface Line {
  readonly text: string;
  /** From 1. */
  readonly number: number;
}

/** Where a run of {@link fewest} lines begins: at the line of this index, of those that count. */
interface Begin {
  readonly path: string;
  readonly index: number;
}

const fewest = 6;

const blockComment = /\/\*[^]*?\*\//g;
const importStatement =
  /^(?:import|export)\s(?:type\s)?[^;'"(]*\bfrom\s+'[^']*';|^import '[^']*';/gm;
/** Names, numbers and literals, in brackets and with commas and colons between: nothing is called, computed or declared. */
const data = /^(?:'(?:[^'\\]|\\.)*'|`[^`$]*`|"[^"]*"|[\w.$\s,:[\]{}-])*,?$/;
const bracketsOnly = /^[\s()[\]{};,]*$/;

/** Returns the runs of equal lines in `files` (source by path), longest first; each stands once for a pair of files. */
export function findDuplicates(files: ReadonlyMap<string, string>): readonly Duplicate[] {
  const counted = new Map([...files].map(([path, source]) => [path, countedLines(source)]));
  return pairsOf(beginsOf(counted))
    .filter(([one, other]) => !isLater(one, other, counted))
    .map(([one, other]) => runAt(one, other, counted))
    .toSorted((a, b) => b.lines - a.lines || placeText(a.one).localeCompare(placeText(b.one)));
}

/** Returns the lines of `source` that count, without the blanks around them. */
function countedLines(source: string): readonly Line[] {
  const blanked = source
    .replaceAll(blockComment, (text) => text.replaceAll(/[^\n]/g, ''))
    .replaceAll(importStatement, (text) => text.replaceAll(/[^\n]/g, ''));
  return blanked
    .split('\n')
    .map((text, index) => ({ text: text.replace(/^\s*\/\/.*/, '').trim(), number: index + 1 }))
    .filter(({ text }) => !bracketsOnly.test(text) && !data.test(text));
}

/** Returns where runs of {@link fewest} lines begin, by what they say. */
function beginsOf(
  counted: ReadonlyMap<string, readonly Line[]>,
): ReadonlyMap<string, readonly Begin[]> {
  const begins = new Map<string, Begin[]>();
  for (const [path, lines] of counted) {
    for (let index = 0; index + fewest <= lines.length; index++) {
      const run = lines.slice(index, index + fewest).map(({ text }) => text);
      const key = run.join('\n');
      begins.set(key, [...(begins.get(key) ?? []), { path, index }]);
    }
  }
  return begins;
}

function pairsOf(
  begins: ReadonlyMap<string, readonly Begin[]>,
): readonly (readonly [Begin, Begin])[] {
  return [...begins.values()].flatMap((same) =>
    same.flatMap((one, at) =>
      same
        .slice(at + 1)
        .filter(({ path }) => path !== one.path)
        .map((other) => [one, other] as const),
    ),
  );
}

/** Reports whether the lines before both are equal, too, so that the run has begun earlier. */
function isLater(one: Begin, other: Begin, counted: ReadonlyMap<string, readonly Line[]>): boolean {
  const before = counted.get(one.path)?.[one.index - 1]?.text;
  return before !== undefined && before === counted.get(other.path)?.[other.index - 1]?.text;
}

/** Returns the whole run that begins at both. */
function runAt(one: Begin, other: Begin, counted: ReadonlyMap<string, readonly Line[]>): Duplicate {
  const ours = counted.get(one.path)?.slice(one.index) ?? [];
  const theirs = counted.get(other.path)?.slice(other.index) ?? [];
  const end = ours.findIndex(({ text }, at) => text !== theirs[at]?.text);
  const lines = end === -1 ? ours.length : end;
  return { lines, one: placeOf(one, ours, lines), other: placeOf(other, theirs, lines) };
}

function placeOf({ path }: Begin, lines: readonly Line[], count: number): Place {
  return { path, from: lines[0]?.number ?? 0, to: lines[count - 1]?.number ?? 0 };
}

function placeText({ path, from, to }: Place): string {
  return `${path}:${from}-${to}`;
}

function readSources(root: string): ReadonlyMap<string, string> {
  const paths = globSync('{src,cluster,demo,scripts,bench}/**/*.ts', { cwd: root })
    .filter((path) => !path.endsWith('.test.ts'))
    .toSorted();
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

if (import.meta.main) {
  const [folder = ''] = process.argv.slice(2);
  const found = findDuplicates(readSources(join(import.meta.dirname, '../..'))).filter(
    ({ one, other }) => [one, other].some(({ path }) => path.startsWith(folder)),
  );
  const rows = found.map(
    ({ lines, one, other }) => `${lines} lines: ${placeText(one)} and ${placeText(other)}`,
  );
  process.stdout.write(
    [...rows, `${found.length} runs of ${fewest} or more equal lines`, ''].join('\n'),
  );
  process.exitCode = found.length === 0 ? 0 : 1;
}
