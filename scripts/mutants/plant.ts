/** Writes a planted bug into sources in memory. */
import type { Hunk } from './hunk.ts';
import { type Place, placeHunk } from './place-hunk.ts';
import type { SourceTree } from './source-tree.ts';

/** What a planted bug makes of the sources. */
export interface Planted {
  /** The files that it changes, by path from the root of the checkout. */
  readonly changed: ReadonlyMap<string, string>;
  /** What is called otherwise today than when the patch was made: old name to new name. */
  readonly renamed: ReadonlyMap<string, string>;
  /** The paths of the patch that have another name today. */
  readonly moved: ReadonlyMap<string, string>;
}

/** Why a planted bug does not fit the sources. */
export interface Misfit {
  readonly why: string;
}

/** Returns `tree` as it is with all of `hunks`, or why one of them has no place. */
export function plant(hunks: readonly Hunk[], tree: SourceTree): Planted | Misfit {
  const places: Place[] = [];
  const moved = new Map<string, string>();
  for (const hunk of hunks) {
    const place = placeHunk(hunk, tree);
    if ('why' in place) return place;
    if (place.path !== hunk.path) moved.set(hunk.path, place.path);
    places.push(place);
  }
  const changed = new Map<string, string>();
  for (const path of new Set(places.map((place) => place.path))) {
    const text = withReplaced(
      tree.text(path) ?? '',
      places.filter((place) => place.path === path),
    );
    if (text === undefined) return { why: `two of its changes of ${path} overlap` };
    changed.set(path, text);
  }
  return { changed, renamed: new Map(places.flatMap(({ renamed }) => [...renamed])), moved };
}

/** Undefined where two places overlap. */
function withReplaced(text: string, places: readonly Place[]): string | undefined {
  let result = '';
  let at = 0;
  for (const { start, end, replacement } of places.toSorted((a, b) => a.start - b.start)) {
    if (start < at) return undefined;
    result += text.slice(at, start) + replacement;
    at = end;
  }
  return result + text.slice(at);
}
