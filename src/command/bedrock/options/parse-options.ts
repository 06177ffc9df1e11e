import { quoted } from '#base/text/quoted.ts';

/** Options of one command by name: without a value, with one, or with one each time that they are given. */
export type OptionTable = Readonly<Record<string, 'flag' | 'value' | 'values'>>;

/** What was given, or what is wrong with it: a sentence. */
export type ParsedOptions =
  | { readonly kind: 'valid'; readonly options: Options }
  | { readonly kind: 'invalid'; readonly sentence: string };

/** The options that were given. */
export class Options {
  readonly #values: ReadonlyMap<string, readonly string[]>;

  constructor(values: ReadonlyMap<string, readonly string[]>) {
    this.#values = values;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  get(name: string): string | undefined {
    return this.all(name)[0];
  }

  /** Returns the value of an option that is known to be there; empty where it is not. */
  needed(name: string): string {
    return this.get(name) ?? '';
  }

  all(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  /** Returns those of `names` that were given. */
  among(names: readonly string[]): readonly string[] {
    return names.filter((name) => this.has(name));
  }
}

/** Short names, as kubectl has them. */
const shortNames: Readonly<Record<string, string>> = {
  f: 'file',
  o: 'output',
  n: 'namespace',
  y: 'yes',
  h: 'help',
};

/** Reads `--name`, `--name value`, `--name=value`, `-f value` and `-fvalue`. An option that is given twice would hide one. */
export function parseOptions(args: readonly string[], table: OptionTable): ParsedOptions {
  const values = new Map<string, readonly string[]>();
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const { name, attached } = splitOption(arg);
    const kind = Object.hasOwn(table, name) ? table[name] : undefined;
    if (kind === undefined) return invalid(unknownSentence(arg, table));
    const value = attached ?? (kind === 'flag' ? 'true' : valueIn(rest));
    const before = values.get(name) ?? [];
    const wrong = whatIsWrong(kind, value, before.length > 0);
    if (wrong !== undefined) return invalid(`--${name} ${wrong}`);
    values.set(name, [...before, value]);
  }
  return { kind: 'valid', options: new Options(values) };
}

function whatIsWrong(
  kind: OptionTable[string],
  value: string,
  isAgain: boolean,
): string | undefined {
  if (kind === 'flag' && value !== 'true') return `takes no value: got ${quoted(value)}`;
  if (value === '') return 'needs a value';
  return isAgain && kind !== 'values' ? 'can be given once: got it again' : undefined;
}

/** What comes next is no value where it is an option: `--out --strict` is a mistake. A lone `-` is standard input. Empty: none. */
function valueIn(rest: string[]): string {
  const [next = ''] = rest;
  return /^-./.test(next) ? '' : (rest.shift() ?? '');
}

function splitOption(arg: string): { readonly name: string; readonly attached?: string } {
  const [, name, attached] = /^--([a-z-]+)(?:=(.*))?$/s.exec(arg) ?? [];
  if (name !== undefined) return { name, ...(attached !== undefined && { attached }) };
  const [, letter = '', glued = ''] = /^-([a-z])(?:=?(.*))$/s.exec(arg) ?? [];
  return { name: shortNames[letter] ?? '', ...(glued !== '' && { attached: glued }) };
}

function unknownSentence(arg: string, table: OptionTable): string {
  const known = Object.keys(table).map((name) => `--${name}`);
  return `Cannot understand ${quoted(arg)}: the options are ${known.join(', ')}`;
}

function invalid(sentence: string): ParsedOptions {
  return { kind: 'invalid', sentence };
}
