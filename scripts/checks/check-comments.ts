/**
 * Counts how the doc comments of functions in src/ begin: by a verb, as in "Returns the pods of a set", or by a question
 * word. It prints the shares, and fails where they are beyond what is agreed.
 *
 *     node scripts/checks/check-comments.ts --list src/control    names those that begin otherwise
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commentVerbs } from './comment-verbs.ts';
import { closing, isAt, proseOf, type Token, tokenize } from './source-tokens.ts';

/** A doc comment of a function. */
export interface FunctionComment {
  readonly path: string;
  /** Of its beginning, from 1. */
  readonly line: number;
  /** The first word, without marks; a tag has its `@`. */
  readonly firstWord: string;
}

/** How many comments begin in which way. */
export interface CommentCounts {
  readonly all: number;
  readonly byVerb: number;
  readonly byQuestionWord: number;
}

const leastByVerb = 0.6;
const mostByQuestionWord = 0.05;

const questionWord = /^(?:What|Which|Who|Whom|Whose|Whoever|When|Where|Whether|Why|How)$/;
const modifier = /^(?:export|async|public|private|protected|static|override|abstract|get|set|\*)$/;
const statement = /^(?:if|for|while|switch|catch|return|throw|await)$/;

/** Returns the doc comments of functions and methods in `source`, in order. */
export function functionComments(path: string, source: string): readonly FunctionComment[] {
  const tokens = tokenize(source);
  return proseOf(source)
    .filter(({ kind, text }) => kind === 'comment' && text.startsWith('/**'))
    .filter(({ text, line }) => {
      const end = line + text.split('\n').length - 1;
      return isFunction(
        tokens,
        tokens.findIndex((token) => token.line > end),
      );
    })
    .map(({ text, line }) => ({
      path,
      line,
      firstWord: /[@\w][\w-]*/.exec(text)?.[0] ?? '',
    }));
}

/** Reports whether a function, or a method, is declared at `index`. */
function isFunction(tokens: readonly Token[], index: number): boolean {
  let at = index;
  while (modifier.test(tokens[at]?.text ?? '') && !isCalled(tokens, at + 1)) at++;
  if (isAt(tokens, at, 'function')) return true;
  if (isAt(tokens, at, 'const')) return isArrow(tokens, at + 2);
  return isMethod(tokens, at);
}

function isMethod(tokens: readonly Token[], at: number): boolean {
  const name = tokens[at];
  if (name?.kind !== 'name' || statement.test(name.text) || !isCalled(tokens, at + 1)) return false;
  const open = tokens.findIndex((_, each) => each > at && isAt(tokens, each, '('));
  const end = closing(tokens, open) + 1;
  return isAt(tokens, end, ':') || isAt(tokens, end, '{');
}

function isCalled(tokens: readonly Token[], index: number): boolean {
  return isAt(tokens, index, '(') || isAt(tokens, index, '<');
}

/** Reports whether what a constant is, `=` being at `index`, is an arrow function. */
function isArrow(tokens: readonly Token[], index: number): boolean {
  if (!isAt(tokens, index, '=')) return false;
  const open = isAt(tokens, index + 1, 'async') ? index + 2 : index + 1;
  if (!isAt(tokens, open, '(')) return isAt(tokens, open + 1, '=>');
  const end = closing(tokens, open) + 1;
  return isAt(tokens, end, '=>') || isAt(tokens, end, ':');
}

/** Counts how `comments` begin. */
export function countComments(comments: readonly FunctionComment[]): CommentCounts {
  return {
    all: comments.length,
    byVerb: comments.filter(({ firstWord }) => commentVerbs.has(firstWord)).length,
    byQuestionWord: comments.filter(({ firstWord }) => questionWord.test(firstWord)).length,
  };
}

/** Returns what is wrong with `counts`, one sentence each. */
export function commentFindings({ all, byVerb, byQuestionWord }: CommentCounts): readonly string[] {
  const findings: string[] = [];
  if (byVerb < leastByVerb * all) {
    findings.push(`too few begin by a verb: at least ${percent(leastByVerb)} must`);
  }
  if (byQuestionWord > mostByQuestionWord * all) {
    findings.push(`too many begin by a question word: at most ${percent(mostByQuestionWord)} may`);
  }
  return findings;
}

/** Returns one line about the comments below `name`. */
export function describeCounts(
  name: string,
  { all, byVerb, byQuestionWord }: CommentCounts,
): string {
  const shares = [
    `by a verb ${percent(byVerb / all)}`,
    `by a question word ${percent(byQuestionWord / all)}`,
  ];
  return `${name}: ${all} doc comments of functions begin ${shares.join(', ')}`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function readComments(root: string): readonly FunctionComment[] {
  return globSync('{src,cluster,demo,test/support}/**/*.ts', { cwd: root })
    .filter((path) => !path.endsWith('.test.ts'))
    .toSorted()
    .flatMap((path) => functionComments(path, readFileSync(join(root, path), 'utf8')));
}

/** Returns the comments of `comments` that begin by no verb, one line each. */
function listed(comments: readonly FunctionComment[]): readonly string[] {
  return comments
    .filter(({ firstWord }) => !commentVerbs.has(firstWord))
    .map(({ path, line, firstWord }) => `${path}:${line}: ${firstWord}`);
}

if (import.meta.main) {
  const [flag, folder = 'src'] = process.argv.slice(2);
  const comments = readComments(join(import.meta.dirname, '../..')).filter(({ path }) =>
    path.startsWith(`${folder}/`),
  );
  const counts = countComments(comments);
  const findings = commentFindings(counts);
  const lines = [
    ...(flag === '--list' ? listed(comments) : []),
    describeCounts(folder, counts),
    ...findings,
  ];
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
  process.exitCode = findings.length === 0 ? 0 : 1;
}
