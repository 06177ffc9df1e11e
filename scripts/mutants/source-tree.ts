/** The sources of a checkout in memory, with the tokens of those that were asked for. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Token, tokenize } from '../checks/source-tokens.ts';

/** One source file. */
export interface Source {
  /** From the root of the checkout. */
  readonly path: string;
  readonly text: string;
}

/** Where planted bugs, and the tests that notice them, are. */
const folders = '{bedrock,bench,cluster,demo,scripts,src,test}/**/*.ts';

/** All sources of a checkout, tests too. */
export class SourceTree {
  readonly #texts: ReadonlyMap<string, string>;
  /** By text, as a tree that differs in some files has most of them. */
  readonly #tokens: Map<string, readonly Token[]>;

  /** @param texts the sources by path from the root of the checkout */
  constructor(texts: ReadonlyMap<string, string>, tokens = new Map<string, readonly Token[]>()) {
    this.#texts = texts;
    this.#tokens = tokens;
  }

  /** Reads the checkout at `root`. */
  static read(root: string): SourceTree {
    const paths = globSync(folders, { cwd: root, exclude: ['**/node_modules/**'] });
    return new SourceTree(
      new Map(paths.toSorted().map((path) => [path, readFileSync(join(root, path), 'utf8')])),
    );
  }

  /** Returns this tree with `texts` instead of its own. */
  with(texts: ReadonlyMap<string, string>): SourceTree {
    return new SourceTree(texts, this.#tokens);
  }

  /** The text of the file at `path`; undefined where there is none. */
  text(path: string): string | undefined {
    return this.#texts.get(path);
  }

  /** All paths, sorted. */
  paths(): readonly string[] {
    return [...this.#texts.keys()];
  }

  /** All sources that are no tests. */
  program(): readonly Source[] {
    return [...this.#texts]
      .filter(([path]) => !path.endsWith('.test.ts'))
      .map(([path, text]) => ({ path, text }));
  }

  /** The tokens of the file at `path`; none where there is no file. */
  tokens(path: string): readonly Token[] {
    const text = this.#texts.get(path) ?? '';
    const known = this.#tokens.get(text) ?? tokenize(text);
    this.#tokens.set(text, known);
    return known;
  }
}
