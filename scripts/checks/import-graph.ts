import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path/posix';
import { impureGlobals, impureMembers, roomsBeside } from './import-rules.ts';
import { closing, isAt, type Token, tokenize } from './source-tokens.ts';

/** One import or re-export of a module. */
export interface Import {
  /** As written: `./x.ts`, `#base/x.ts`, `node:fs`, `yaml`. */
  readonly specifier: string;
  /** The path of the imported file; undefined for a package or a module of Node. */
  readonly file: string | undefined;
  readonly line: number;
}

/** The use of something that reads the outside or acts on it. */
export interface Impurity {
  /** As one would write it: `Date.now`, `new Date()`, `process`. */
  readonly what: string;
  readonly line: number;
}

/** What the checks need to know of one file. */
export interface SourceFile {
  readonly path: string;
  /** With those of types. */
  readonly imports: readonly Import[];
  /** Those that happen when the program runs: types are stripped, and their imports with them. */
  readonly runtimeImports: readonly Import[];
  readonly impurities: readonly Impurity[];
}

/** Reads one file. @throws {SyntaxError} when Node could not strip its types */
export function readSource(path: string, source: string): SourceFile {
  const stripped = tokenize(stripTypeScriptTypes(source));
  return {
    path,
    imports: importsOf(path, tokenize(source)),
    runtimeImports: importsOf(path, stripped),
    impurities: impuritiesOf(stripped),
  };
}

function importsOf(path: string, tokens: readonly Token[]): readonly Import[] {
  return tokens.flatMap((token, index) => {
    const from = token.kind === 'name' ? specifierAt(tokens, index) : undefined;
    if (from === undefined) return [];
    return [{ specifier: from.text, file: resolve(path, from.text), line: from.line }];
  });
}

/** The module of the import or re-export that begins at `index`; undefined when none does. */
function specifierAt(tokens: readonly Token[], index: number): Token | undefined {
  if (isAt(tokens, index - 1, '.') || isAt(tokens, index - 1, '?.')) return undefined;
  if (isAt(tokens, index, 'import')) return importedAt(tokens, index + 1);
  if (isAt(tokens, index, 'export')) return reexportedAt(tokens, index + 1);
  return undefined;
}

function importedAt(tokens: readonly Token[], start: number): Token | undefined {
  if (isAt(tokens, start, '(')) return literalAt(tokens, start + 1);
  if (literalAt(tokens, start) !== undefined) return literalAt(tokens, start);
  for (let index = start; index < tokens.length; index++) {
    const token = tokens[index];
    if (token === undefined || !/^(?:[{},*]|[\p{ID_Start}$_])/u.test(token.text)) return undefined;
    if (isAt(tokens, index, 'from') && literalAt(tokens, index + 1) !== undefined) {
      return literalAt(tokens, index + 1);
    }
  }
  return undefined;
}

function reexportedAt(tokens: readonly Token[], start: number): Token | undefined {
  let index = isAt(tokens, start, 'type') ? start + 1 : start;
  if (isAt(tokens, index, '{')) index = closing(tokens, index) + 1;
  else if (isAt(tokens, index, '*')) index += isAt(tokens, index + 1, 'as') ? 3 : 1;
  else return undefined;
  return isAt(tokens, index, 'from') ? literalAt(tokens, index + 1) : undefined;
}

function literalAt(tokens: readonly Token[], index: number): Token | undefined {
  const token = tokens[index];
  return token?.kind === 'string' || token?.kind === 'template' ? token : undefined;
}

function resolve(from: string, specifier: string): string | undefined {
  if (!specifier.startsWith('#')) {
    return specifier.startsWith('.') ? join(dirname(from), specifier) : undefined;
  }
  const [room = '', ...rest] = specifier.slice(1).split('/');
  const folder = Object.hasOwn(roomsBeside, room) ? roomsBeside[room] : undefined;
  return [folder ?? `src/${room}`, ...rest].join('/');
}

/** Returns how another room imports `file`, such as `#base/clock.ts` (package.json, "imports"). */
export function aliasOf(file: string): string {
  const beside = Object.entries(roomsBeside).find(([, folder]) => file.startsWith(`${folder}/`));
  if (beside === undefined) return `#${file.slice('src/'.length)}`;
  const [room, folder] = beside;
  return `#${room}${file.slice(folder.length)}`;
}

function impuritiesOf(tokens: readonly Token[]): readonly Impurity[] {
  return tokens.flatMap(({ kind, text, line }, index) => {
    if (kind !== 'name' || isLabel(tokens, index)) return [];
    const what = impureUse(tokens, index, text);
    return what === undefined ? [] : [{ what, line }];
  });
}

/** Whether the name at `index` is no variable: a member, the key of an object, or the name of a method. */
function isLabel(tokens: readonly Token[], index: number): boolean {
  if (isAt(tokens, index - 1, '.') || isAt(tokens, index - 1, '?.')) return true;
  const opens = isAt(tokens, index - 1, '{') || isAt(tokens, index - 1, ',');
  if (opens && isAt(tokens, index + 1, ':')) return true;
  return isAt(tokens, index + 1, '(') && isAt(tokens, closing(tokens, index + 1) + 1, '{');
}

function impureUse(tokens: readonly Token[], index: number, text: string): string | undefined {
  if (impureGlobals.has(text)) return text;
  if (text === 'import') return isAt(tokens, index + 1, '.') ? 'import.meta' : undefined;
  const members = impureMembers.get(text);
  if (members === undefined || isAt(tokens, index - 1, 'instanceof')) return undefined;
  if (isAt(tokens, index - 1, 'new'))
    return makesFromValue(tokens, index) ? undefined : `new ${text}()`;
  const member = memberAt(tokens, index + 1);
  // Called, passed on or taken apart: its receiver may reach the impure member.
  if (member === undefined) return text;
  return members.includes(member) ? `${text}.${member}` : undefined;
}

/** Whether `new X` at `index` has an argument: `new Date(0)` converts, `new Date()` reads the clock. */
function makesFromValue(tokens: readonly Token[], index: number): boolean {
  return isAt(tokens, index + 1, '(') && !isAt(tokens, index + 2, ')');
}

function memberAt(tokens: readonly Token[], dot: number): string | undefined {
  return isAt(tokens, dot, '.') || isAt(tokens, dot, '?.') ? tokens[dot + 1]?.text : undefined;
}
