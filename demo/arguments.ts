/** Options of one command: each with whether it takes a value. */
export type OptionTable = Readonly<Record<string, 'flag' | 'value'>>;

/** The options that were given, by name without dashes; a flag has the value `true`. */
export type GivenOptions = ReadonlyMap<string, string>;

/** Arguments that make sense, or one sentence about the first that does not. */
export type ParsedArguments =
  | { readonly kind: 'valid'; readonly options: GivenOptions }
  | { readonly kind: 'invalid'; readonly sentence: string };

/** Reads `--name`, `--name value` and `--name=value`; of an option given twice the last one holds. */
export function parseArguments(args: readonly string[], table: OptionTable): ParsedArguments {
  const options = new Map<string, string>();
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const [, name = '', attached] = /^--([a-z-]+)(?:=(.*))?$/s.exec(arg) ?? [];
    const kind = Object.hasOwn(table, name) ? table[name] : undefined;
    if (kind === undefined) return invalid(unknownSentence(arg, table));
    const value = kind === 'flag' ? flagValue(attached) : (attached ?? rest.shift());
    if (value === undefined || value === '') return invalid(valueSentence(name, attached));
    options.set(name, value);
  }
  return { kind: 'valid', options };
}

/** Returns `true`; undefined for a flag that was given a value. */
function flagValue(attached: string | undefined): string | undefined {
  return attached === undefined ? 'true' : undefined;
}

function valueSentence(name: string, attached: string | undefined): string {
  const isFlag = attached !== undefined && attached !== '';
  return isFlag ? `--${name} takes no value: got "${attached}"` : `--${name} needs a value`;
}

function unknownSentence(arg: string, table: OptionTable): string {
  const known = Object.keys(table).map((name) => `--${name}`);
  return `Cannot understand "${arg}": the options are ${known.join(', ')}`;
}

function invalid(sentence: string): ParsedArguments {
  return { kind: 'invalid', sentence };
}

/** The bounds of a number, and what is used when it is not given. */
export interface NumberRule {
  readonly min: number;
  readonly max: number;
  readonly isInteger: boolean;
}

/** Returns the number given for `name`, undefined when it was not given, or the sentence that says what it must be. */
export function numberOption(
  options: GivenOptions,
  name: string,
  { min, max, isInteger }: NumberRule,
): number | string | undefined {
  const text = options.get(name);
  if (text === undefined) return undefined;
  const value = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max && (!isInteger || Number.isInteger(value))) return value;
  const what = isInteger ? 'an integer' : 'a number';
  return `--${name} must be ${what} from ${min} to ${max}: got "${text}"`;
}
