/**
 * TypeScript or JavaScript source cut into tokens, without comments: enough to find imports, calls and the
 * use of globals. TypeScript 7 has no stable API to ask. It does not parse: the reader of tokens looks
 * at neighbours only.
 */

/** One token. `text` of a string or template is what is between its quotes. */
export interface Token {
  readonly kind: 'name' | 'string' | 'template' | 'regex' | 'number' | 'punctuator';
  readonly text: string;
  /** From 1. */
  readonly line: number;
  /** Offset of its first character, quotes included. */
  readonly start: number;
  /** Offset of the character after its last one; that of a template is behind all of its substitutions. */
  readonly end: number;
}

const blank = /\s+|\/\/[^\n]*|\/\*[^]*?\*\/|^#![^\n]*/y;
const name = /[#\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*/uy;
const number = /\.?\d(?:[eE][+-]|[\w.])*/y;
const string = /'((?:[^'\\\n]|\\[^])*)'|"((?:[^"\\\n]|\\[^])*)"/y;
const regex = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const templatePart = /((?:[^`\\$]|\\[^]|\$(?!\{))*)(`|\$\{)/y;
const punctuator = /\?\.(?!\d)|=>|\.\.\.|[^]/y;
/** After these words a slash starts a regular expression; after any other it divides. */
const beforeOperand =
  /^(?:return|typeof|case|in|of|do|else|void|delete|throw|new|await|yield|instanceof)$/;

/** The tokens of `source`, in order; what follows a broken literal comes out as punctuators. */
export function tokenize(source: string): readonly Token[] {
  const reader = new TokenReader(source);
  reader.readAll();
  return reader.tokens;
}

/** What people read in a source: a comment, or the text of a literal. */
export interface Prose {
  readonly kind: 'comment' | 'literal';
  readonly text: string;
  /** Of its beginning, from 1. */
  readonly line: number;
}

/** Returns the comments and the literals of `source`, in order of their lines; a comment still has its slashes and stars. */
export function proseOf(source: string): readonly Prose[] {
  const reader = new TokenReader(source);
  reader.readAll();
  const literals = reader.tokens
    .filter(({ kind }) => kind === 'string' || kind === 'template')
    .map(({ text, line }): Prose => ({ kind: 'literal', text, line }));
  return [...reader.comments, ...literals].toSorted((a, b) => a.line - b.line);
}

class TokenReader {
  readonly tokens: Token[] = [];
  readonly comments: Prose[] = [];
  readonly #source: string;
  #at = 0;
  #line = 1;

  constructor(source: string) {
    this.#source = source;
  }

  /** Reads up to the end; a piece of a source may close braces that it does not open. */
  readAll(): void {
    while (this.#skipBlanks() < this.#source.length) this.#readToken();
  }

  /** Reads up to the brace that closes a template's substitution, or to the end. */
  #readSubstitution(): void {
    let depth = 0;
    while (this.#skipBlanks() < this.#source.length) {
      const before = this.tokens.length;
      this.#readToken();
      const token = this.tokens[before];
      if (token?.kind !== 'punctuator') continue;
      if (token.text === '{') depth++;
      if (token.text !== '}' || depth-- > 0) continue;
      this.tokens.pop(); // its opening half is part of the template
      return;
    }
  }

  #readToken(): void {
    if (this.#source[this.#at] === '`') {
      this.#readTemplate();
      return;
    }
    const token =
      this.#take('name', name) ??
      this.#take('number', number) ??
      this.#take('string', string) ??
      (this.#mayStartRegex() ? this.#take('regex', regex) : undefined) ??
      this.#take('punctuator', punctuator);
    if (token !== undefined) this.tokens.push(token);
  }

  /** The text of all parts makes one token, which is before the tokens of the substitutions. */
  #readTemplate(): void {
    const slot = this.tokens.length;
    const line = this.#line;
    const start = this.#at;
    this.tokens.push({ kind: 'template', text: '', line, start, end: start });
    this.#at++;
    let text = '';
    for (let part = this.#match(templatePart); part; part = this.#match(templatePart)) {
      text += part[1] ?? '';
      if (part[2] === '`') break;
      text += '${}';
      this.#readSubstitution();
    }
    this.tokens[slot] = { kind: 'template', text, line, start, end: this.#at };
  }

  #take(kind: Token['kind'], pattern: RegExp): Token | undefined {
    const line = this.#line;
    const start = this.#at;
    const match = this.#match(pattern);
    if (match === undefined) return undefined;
    return { kind, text: match[1] ?? match[2] ?? match[0], line, start, end: this.#at };
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#source);
    if (match === null) return undefined;
    this.#at += match[0].length;
    this.#line += match[0].split('\n').length - 1;
    return match;
  }

  #skipBlanks(): number {
    for (let line = this.#line; ; line = this.#line) {
      const text = this.#match(blank)?.[0];
      if (text === undefined) return this.#at;
      if (text.trim() !== '') this.comments.push({ kind: 'comment', text, line });
    }
  }

  #mayStartRegex(): boolean {
    if (this.#source[this.#at] !== '/') return false;
    const last = this.tokens.at(-1);
    if (last === undefined) return true;
    if (last.kind === 'punctuator') return ![')', ']', '}'].includes(last.text);
    return last.kind === 'name' && beforeOperand.test(last.text);
  }
}

/** The index of the bracket that closes the one at `open`, or the end of `tokens` when none does. */
export function closing(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let index = open; index < tokens.length; index++) {
    const token = tokens[index];
    if (token?.kind !== 'punctuator') continue;
    if ('([{'.includes(token.text)) depth++;
    if (')]}'.includes(token.text) && --depth === 0) return index;
  }
  return tokens.length;
}

/** Whether the token at `index` is the punctuator or name `text`, and no literal. */
export function isAt(tokens: readonly Token[], index: number, text: string): boolean {
  const token = tokens[index];
  return (
    token !== undefined &&
    token.text === text &&
    (token.kind === 'punctuator' || token.kind === 'name')
  );
}
