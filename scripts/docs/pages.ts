/** The pages that people read, and what is in them. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A page by its path from the root of the checkout. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

/** A piece of code in a page. */
export interface Code {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** The language of a block; empty for one without, undefined for code within a line. */
  readonly language: string | undefined;
  readonly text: string;
}

const block = /^( *)```([\w-]*)\n([^]*?)\n\1```$/gm;

/** Returns the pages below `root`: docs/, the README and what else is read by people. */
export function pagesOf(root: string): readonly Page[] {
  const paths = globSync(['*.md', 'docs/**/*.md', 'deploy/mixin/README.md'], { cwd: root });
  return paths.toSorted().map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

/** Returns the code of `page`: its blocks, and what is between backticks in a line. */
export function codeOf({ path, text }: Page): readonly Code[] {
  const lineAt = (index: number): number => text.slice(0, index).split('\n').length;
  const blocks = [...text.matchAll(block)].map(
    ({ index, 1: indent = '', 2: language = '', 3: body = '' }): Code => {
      const lines = body.split('\n').map((line) => line.slice(indent.length));
      return { path, line: lineAt(index) + 1, language, text: lines.join('\n') };
    },
  );
  const prose = withoutBlocks(text);
  const spans = [...prose.matchAll(/`([^`\n]+)`/g)].map(
    ({ index, 1: span = '' }): Code => ({
      path,
      line: lineAt(index),
      language: undefined,
      text: span,
    }),
  );
  return [...blocks, ...spans];
}

/** Returns `text` with blank lines in place of its blocks of code. */
export function withoutBlocks(text: string): string {
  return text.replaceAll(block, (all) => all.replaceAll(/[^\n]/g, ' '));
}
