import type { FlagKind } from './flag-kind.ts';

/** What one flag is, besides its name and type. */
export interface FlagOptions<T> {
  readonly default: T;
  /** One sentence or more for the usage listing, without the default. */
  readonly help: string;
}

/** The value of one flag: the default until {@link FlagSet.parse} met the flag. */
export class Flag<T> {
  readonly name: string;
  readonly kind: FlagKind<T>;
  readonly help: string;
  readonly #default: T;
  #value: T;
  #isGiven = false;

  constructor(name: string, kind: FlagKind<T>, options: FlagOptions<T>) {
    this.name = name;
    this.kind = kind;
    this.help = options.help;
    this.#default = options.default;
    this.#value = options.default;
  }

  get value(): T {
    return this.#value;
  }

  /** Reports whether the command line named the flag, even with its default. */
  get isGiven(): boolean {
    return this.#isGiven;
  }

  /** Stores `text`; the last value wins (FL-4). Answers what is wrong with it, or undefined. */
  set(text: string): string | undefined {
    const parsed = this.kind.parse(text);
    if (parsed.kind === 'invalid') return parsed.problem.message;
    this.#value = parsed.value;
    this.#isGiven = true;
    return undefined;
  }

  /** Returns the entry of the usage listing, in Go's layout. */
  usage(): string {
    const shown = this.kind.show(this.#default);
    const placeholder = this.kind.placeholder === '' ? '' : ` ${this.kind.placeholder}`;
    const suffix = shown === undefined ? '' : ` (default ${shown})`;
    return `  -${this.name}${placeholder}\n    \t${this.help}${suffix}\n`;
  }
}

/** What {@link FlagSet} needs of a flag, whatever the type of its value. */
type AnyFlag = Pick<Flag<unknown>, 'name' | 'isGiven' | 'set' | 'usage'> & {
  readonly kind: { readonly isBoolean: boolean };
};

/** How parsing ended: done, help was asked for, or the reason why the command line is refused. */
export type FlagOutcome =
  /** `ignored`: the first argument that is no flag, and all that follow. */
  | { readonly kind: 'parsed'; readonly ignored: readonly string[] }
  | { readonly kind: 'help' }
  | { readonly kind: 'refused'; readonly reason: string };

/** One or two dashes, a name, and perhaps a value after the first `=`. */
const flagSyntax = /^--?([^-=][^=]*)(?:=(.*))?$/s;

/** The flags of a program, read by the rules of Go's `flag` package (FL-1…FL-6). */
export class FlagSet {
  readonly #program: string;
  readonly #flags = new Map<string, AnyFlag>();

  /** @param program named in the head of the usage listing */
  constructor(program: string) {
    this.#program = program;
  }

  /**
   * Adds a flag.
   *
   * @throws {Error} when the name is taken, which is a bug
   */
  add<T>(name: string, kind: FlagKind<T>, options: FlagOptions<T>): Flag<T> {
    if (this.#flags.has(name)) throw new Error(`Cannot add flag "-${name}" as it exists already`);
    const flag = new Flag(name, kind, options);
    this.#flags.set(name, flag);
    return flag;
  }

  /** Reads `args` (without the program) until the first that is no flag; that one and what follows is ignored, and reported (FL-3). */
  parse(args: readonly string[]): FlagOutcome {
    let next = 0;
    while (next < args.length) {
      const argument = args[next] ?? '';
      if (argument === '--') return { kind: 'parsed', ignored: args.slice(next + 1) };
      if (argument.length < 2 || !argument.startsWith('-')) {
        return { kind: 'parsed', ignored: args.slice(next) };
      }
      const step = this.#parseOne(argument, args[next + 1]);
      if (typeof step !== 'number') return step;
      next += step;
    }
    return { kind: 'parsed', ignored: [] };
  }

  /** Returns the names of the flags that are alone, so that a word after them is no value (FL-2); sorted. */
  booleanNames(): readonly string[] {
    const booleans = [...this.#flags.values()].filter(({ kind }) => kind.isBoolean);
    return booleans.map(({ name }) => name).sort();
  }

  /** Returns the usage listing: one entry a flag, sorted by name, ending in a line break. */
  usage(): string {
    const sorted = [...this.#flags.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    return `Usage of ${this.#program}:\n${sorted.map((flag) => flag.usage()).join('')}`;
  }

  /** Returns how many arguments the flag took, or why parsing ends. */
  #parseOne(argument: string, following: string | undefined): number | FlagOutcome {
    const match = flagSyntax.exec(argument);
    if (match === null) return refused(`bad flag syntax: ${argument}`);
    const [, name = '', inline] = match;
    const flag = this.#flags.get(name);
    if (flag !== undefined) {
      return flag.kind.isBoolean ? setBoolean(flag, inline) : setValue(flag, inline, following);
    }
    if (name === 'help' || name === 'h') return { kind: 'help' };
    return refused(`flag provided but not defined: -${name}`);
  }
}

function setValue(
  flag: AnyFlag,
  inline: string | undefined,
  following: string | undefined,
): number | FlagOutcome {
  const text = inline ?? following;
  if (text === undefined) return refused(`flag needs an argument: -${flag.name}`);
  const problem = flag.set(text);
  if (problem !== undefined) {
    return refused(`invalid value ${JSON.stringify(text)} for flag -${flag.name}: ${problem}`);
  }
  return inline === undefined ? 2 : 1;
}

function setBoolean(flag: AnyFlag, inline: string | undefined): number | FlagOutcome {
  const problem = flag.set(inline ?? 'true');
  if (problem === undefined) return 1;
  return refused(`invalid boolean value ${JSON.stringify(inline)} for -${flag.name}: ${problem}`);
}

function refused(reason: string): FlagOutcome {
  return { kind: 'refused', reason };
}
