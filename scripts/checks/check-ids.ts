/**
 * Checks that every rule id which the tree names is explained in docs/rules, that no page explains what nobody
 * names, that no text for users names an id, that documents and their sections are named only where the tree has them,
 * and that nothing is named by its number in a tracker. `### D-49 One moment` explains D-49.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { families, otherLetters, otherNames } from './rule-ids.ts';
import { proseOf } from './source-tokens.ts';

/** A piece of text that people read. */
interface Passage {
  readonly text: string;
  /** Of its beginning, from 1. */
  readonly line: number;
  /** Whether users of the operator read it: nothing may be an id there. */
  readonly isForUsers: boolean;
  /** Whether a letter with a number in it is somebody's short id, and no data. */
  readonly isSentence: boolean;
}

/** A word in a file: what it is, and where. */
interface Named {
  readonly id: string;
  readonly where: string;
  readonly isForUsers: boolean;
}

const RULES = 'docs/rules/';
const heading = /^### (\S+)/gm;
const longId = /(?<![\w/.#$-])([A-Z][A-Z0-9]{0,7})-(?:[A-Z]?\d{1,3}[a-z]?)(?![\w-])/g;
const shortId = /(?<![\w/.#$'"`-])[A-Z]\d{1,3}[a-z]?(?![\w'"`-])/g;
const section = /(?<!\bRFC \d{4},? )§ ?\S*/g;
/** A number in a list of work, of which the tree has none. */
const ticket = /\b[Ii]ssues? \d+|(?<=[\s(])#\d{1,4}(?=[\s),.:;]|$)/g;
const url = /https?:\/\/[^\s)'"`]+/g;
const document = /[\w./-]*[\w-]\.md(?!\w)/g;

/** What is wrong with the ids in `files` (text by path from the root of the checkout), one sentence each; sorted. */
export function checkIds(files: ReadonlyMap<string, string>): readonly string[] {
  const explained = explainedIds(files);
  const passages = [...files].flatMap(([path, text]) =>
    passagesOf(path, text).map((passage) => ({ path, ...passage })),
  );
  const named = passages.flatMap(({ path, ...passage }) => namedIds(path, passage));
  return [
    ...explained.twice,
    ...unnamedFindings(explained.where, named),
    ...named.flatMap((each) => idFinding(each, explained.where)),
    ...passages.flatMap(({ path, ...passage }) => [
      ...shortFindings(path, passage),
      ...documentFindings(path, passage, files),
    ]),
  ].toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}

/** Where each id has its heading, and what is wrong with those that have two. */
function explainedIds(files: ReadonlyMap<string, string>): {
  readonly where: ReadonlyMap<string, string>;
  readonly twice: readonly string[];
} {
  const where = new Map<string, string>();
  const twice: string[] = [];
  for (const [path, text] of files) {
    if (!path.startsWith(RULES)) continue;
    for (const { 1: id = '', index } of text.matchAll(heading)) {
      const here = `${path}:${lineAt(text, index)}`;
      const before = where.get(id);
      if (before !== undefined) twice.push(`${here}: ${id} has a heading in ${before}, too`);
      where.set(id, before ?? here);
    }
  }
  return { where, twice };
}

/** What of a file people read. Of code these are comments and literals, of all else the whole. */
function passagesOf(path: string, text: string): readonly Passage[] {
  if (!path.endsWith('.ts')) {
    return [{ text, line: 1, isForUsers: isUserPage(path), isSentence: path.endsWith('.md') }];
  }
  const isShipped = /^(?:src|cluster|demo)\//.test(path) && !path.endsWith('.test.ts');
  return proseOf(text).map(({ kind, text: words, line }) => ({
    text: words,
    line,
    isForUsers: isShipped && kind === 'literal',
    isSentence: kind === 'comment' || words.includes(' '),
  }));
}

/** Whether users read the file: all of docs but the rules and the records of decisions, and what is installed. */
function isUserPage(path: string): boolean {
  return /^(?:README\.md|deploy\/|examples\/|docs\/(?!rules\/|adr\/))/.test(path);
}

function namedIds(path: string, { text, line, isForUsers }: Passage): readonly Named[] {
  return [...text.matchAll(longId)]
    .filter(({ 0: id }) => !otherNames.has(id))
    .map(({ 0: id, index }) => ({
      id,
      where: `${path}:${line + lineAt(text, index) - 1}`,
      isForUsers,
    }));
}

function idFinding(
  { id, where, isForUsers }: Named,
  explained: ReadonlyMap<string, string>,
): readonly string[] {
  if (!families.has(id.slice(0, id.indexOf('-')))) {
    return [`${where}: ${id} is of no family that scripts/checks/rule-ids.ts knows`];
  }
  if (isForUsers) return [`${where}: users read this, to whom ${id} says nothing`];
  return explained.has(id) ? [] : [`${where}: ${id} is explained nowhere in ${RULES}`];
}

/** What has a heading, and is named nowhere but in the rules themselves. */
function unnamedFindings(
  explained: ReadonlyMap<string, string>,
  named: readonly Named[],
): readonly string[] {
  const used = new Set(named.filter(({ where }) => !where.startsWith(RULES)).map(({ id }) => id));
  return [...explained]
    .filter(([id]) => !used.has(id))
    .map(([id, where]) => `${where}: nothing outside ${RULES} names ${id}`);
}

function shortFindings(path: string, { text, line, isSentence }: Passage): readonly string[] {
  if (!isSentence) return [];
  return [...text.replaceAll(url, '').matchAll(shortId)]
    .filter(({ 0: word }) => !otherLetters.has(word))
    .map(
      ({ 0: word, index }) =>
        `${path}:${line + lineAt(text, index) - 1}: ${word} is no whole id; say it in words`,
    );
}

function documentFindings(
  path: string,
  { text, line }: Passage,
  files: ReadonlyMap<string, string>,
): readonly string[] {
  const at = (index: number): string => `${path}:${line + lineAt(text, index) - 1}`;
  const sections = [...text.matchAll(section)].map(
    ({ 0: what, index }) => `${at(index)}: ${what} is a section of no document in the tree`,
  );
  const blanked = text.replaceAll(url, (address) => ' '.repeat(address.length));
  const tickets = [...blanked.matchAll(ticket)].map(
    ({ 0: what, index }) => `${at(index)}: ${what} is in no list of the tree; say it in words`,
  );
  const documents = [...blanked.matchAll(document)]
    .filter(({ 0: name }) => !isInTree(name, files))
    .map(({ 0: name, index }) => `${at(index)}: there is no document ${name} in the tree`);
  return [...sections, ...tickets, ...documents];
}

function isInTree(name: string, files: ReadonlyMap<string, string>): boolean {
  const tail = name.replace(/^(?:\.{0,2}\/)+/, '');
  return files.has(tail) || [...files.keys()].some((path) => path.endsWith(`/${tail}`));
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

/** Every file of the checkout at `root` that people read: text by path. */
export function readTexts(root: string): ReadonlyMap<string, string> {
  const paths = globSync(
    [
      '{src,cluster,demo,test,scripts,bench,docs,deploy,examples}/**/*.{ts,md,yaml,yml,sh,patch,go,tpl,json,libsonnet,jsonnet,txt}',
      'deploy/**/Dockerfile',
      '*.md',
    ],
    { cwd: root, exclude: ['**/node_modules/**', 'scripts/checks/check-ids.test.ts'] },
  );
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

if (import.meta.main) {
  const findings = checkIds(readTexts(join(import.meta.dirname, '../..')));
  process.stdout.write(findings.map((finding) => `${finding}\n`).join(''));
  process.exitCode = findings.length === 0 ? 0 : 1;
}
