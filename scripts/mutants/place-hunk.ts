/**
 * Finds the place of a planted bug in today's sources by what stands there: by its lines, else by its tokens, so that
 * neither the formatter nor a moved file matters, and with other names for what was renamed.
 */
import { type Token, tokenize } from '../checks/source-tokens.ts';
import { enclosingName, type Hunk } from './hunk.ts';
import type { Source, SourceTree } from './source-tree.ts';

/** The one place where a hunk fits. */
export interface Place {
  readonly path: string;
  /** The characters that are replaced: from `start` up to `end`. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** What is called otherwise today: old name to new name. */
  readonly renamed: ReadonlyMap<string, string>;
}

/** Why a hunk has no place. */
export interface Lost {
  readonly why: string;
}

/** More other names than that are another piece of code. */
const mostRenamed = 3;

/** Fewer tokens than that stand everywhere, once names may differ or the file is unknown. */
const fewestTokens = 8;

/** Returns where `hunk` fits into the sources of `tree`, which is one place, or why there is none. */
export function placeHunk(hunk: Hunk, tree: SourceTree): Place | Lost {
  const own = tree.text(hunk.path);
  const here = own === undefined ? [] : [{ path: hunk.path, text: own }];
  const elsewhere = (): readonly Source[] =>
    tree.program().filter(({ path }) => path !== hunk.path);
  const searches: readonly (() => readonly Place[])[] = [
    () => linesIn(here, hunk),
    () => tokensIn(tree, here, hunk),
    () => withoutContext(tree, here, hunk),
    () => linesIn(elsewhere(), hunk),
    () => tokensIn(tree, elsewhere(), hunk),
  ];
  for (const search of searches) {
    const best = narrow(search(), hunk, tree);
    if (best.length === 1 && best[0] !== undefined) return best[0];
    if (best.length > 1) return { why: `its lines stand ${best.length} times: ${pathsOf(best)}` };
  }
  const first = hunk.removed[0] ?? hunk.before[0] ?? '';
  const gone = own === undefined ? `there is no ${hunk.path}, and` : `${hunk.path} and`;
  return { why: `${gone} no other source has its lines: ${first.trim()}` };
}

function pathsOf(places: readonly Place[]): string {
  return [...new Set(places.map(({ path }) => path))].join(', ');
}

/** Keeps the places with the fewest other names, and of several those in the declaration that the hunk names. */
function narrow(places: readonly Place[], { heading }: Hunk, tree: SourceTree): readonly Place[] {
  const fewest = Math.min(...places.map(({ renamed }) => renamed.size));
  const best = places.filter(({ renamed }) => renamed.size === fewest);
  if (best.length < 2 || heading === '') return best;
  const named = best.filter((place) => headingAt(place, tree.text(place.path) ?? '') === heading);
  return named.length === 0 ? best : named;
}

/** Names the declaration that the first replaced line which changes is in. */
function headingAt({ start, replacement }: Place, text: string): string {
  const old = text.slice(start).split('\n');
  const changed = replacement.split('\n').findIndex((line, index) => line !== old[index]);
  const above = text.slice(0, start).split('\n').length - 1;
  return enclosingName(text.split('\n'), above + Math.max(0, changed));
}

/** Finds the very lines of `hunk`. */
function linesIn(sources: readonly Source[], { before, after }: Hunk): readonly Place[] {
  const wanted = before.join('\n');
  const replacement = after.join('\n');
  return sources.flatMap(({ path, text }) =>
    wholeLinesAt(text, wanted).map((start): Place => {
      return { path, start, end: start + wanted.length, replacement, renamed: new Map() };
    }),
  );
}

function wholeLinesAt(text: string, wanted: string): readonly number[] {
  const found: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) {
    const end = text[at + wanted.length] ?? '\n';
    if ((at === 0 || text[at - 1] === '\n') && end === '\n') found.push(at);
  }
  return found;
}

/** Finds the lines that change, where their context has changed; only within the declaration that the hunk names. */
function withoutContext(
  tree: SourceTree,
  sources: readonly Source[],
  hunk: Hunk,
): readonly Place[] {
  const { removed, added, heading } = hunk;
  if (removed.length === 0 || heading === '') return [];
  const bare = { ...hunk, before: removed, after: added };
  return linesIn(sources, bare).filter(
    (place) => headingAt(place, tree.text(place.path) ?? '') === heading,
  );
}

/** Finds the tokens of `hunk`, whatever the lines they stand in, with other names where its own are gone. */
function tokensIn(
  tree: SourceTree,
  sources: readonly Source[],
  { before, after }: Hunk,
): readonly Place[] {
  const wanted = tokenize(withoutComments(before).join('\n'));
  if (wanted.length < fewestTokens) return [];
  const replacement = withoutComments(after).join('\n');
  return sources.flatMap(({ path }) => {
    const tokens = tree.tokens(path);
    const names = new Set(
      tokens.flatMap(({ kind, text: name }) => (kind === 'name' ? [name] : [])),
    );
    return tokens.flatMap((_, at) => {
      const match = matchAt(tokens, at, { wanted, names });
      if (match === undefined) return [];
      const { renamed, start, end } = match;
      return [{ path, start, end, replacement: rename(replacement, renamed), renamed }];
    });
  });
}

/** Comments change without the code, and half of one in a hunk reads as code. */
function withoutComments(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => !/^\s*(?:\/\/|\/\*|\*(?:\s|\/|$))/.test(line));
}

interface Wanted {
  readonly wanted: readonly Token[];
  /** All names in the file: one that is still there was not renamed. */
  readonly names: ReadonlySet<string>;
}

/** Compares from token `at` on. The formatter adds and takes away the comma before a closing bracket. */
function matchAt(
  tokens: readonly Token[],
  at: number,
  { wanted, names }: Wanted,
): Pick<Place, 'renamed' | 'start' | 'end'> | undefined {
  const renamed = new Map<string, string>();
  let index = at;
  for (const [position, token] of wanted.entries()) {
    if (isLooseComma(wanted, position)) continue;
    if (isLooseComma(tokens, index)) index += 1;
    const found = tokens[index];
    if (found === undefined || !isSame(token, found, { renamed, names })) return undefined;
    index += 1;
  }
  const all = tokens.slice(at, index);
  return { renamed, start: tokens[at]?.start ?? 0, end: Math.max(...all.map(({ end }) => end)) };
}

function isLooseComma(tokens: readonly Token[], at: number): boolean {
  const next = tokens[at + 1];
  if (tokens[at]?.kind !== 'punctuator' || tokens[at].text !== ',') return false;
  return next?.kind === 'punctuator' && ')]}'.includes(next.text);
}

/** Notes in `renamed` what must be called otherwise for both to be the same. */
function isSame(
  token: Token,
  found: Token,
  {
    renamed,
    names,
  }: { readonly renamed: Map<string, string>; readonly names: ReadonlySet<string> },
): boolean {
  if (token.kind !== found.kind) return false;
  const other = renamed.get(token.text);
  if (token.kind === 'name' && other !== undefined) return other === found.text;
  if (token.text === found.text) return true;
  if (token.kind !== 'name' || names.has(token.text) || renamed.size === mostRenamed) return false;
  if ([...renamed.values()].includes(found.text)) return false;
  renamed.set(token.text, found.text);
  return true;
}

/** Returns `text` with the names of `renamed` in place of those that they replace. */
export function rename(text: string, renamed: ReadonlyMap<string, string>): string {
  return text.replaceAll(/[#\w$]+/g, (name) => renamed.get(name) ?? name);
}
