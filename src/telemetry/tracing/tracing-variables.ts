import { quoted } from '#base/text/quoted.ts';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Why tracing cannot be set up: one sentence that names the variable, its value, and what would be right. */
export class TracingVariableError extends Error {
  override readonly name = 'TracingVariableError';
}

/** Bounds of a number; both ends count. */
export interface Bounds {
  readonly least: number;
  readonly most: number;
}

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** Reads variables; one that is empty is absent, as the specification of OpenTelemetry has it. */
export class TracingVariables {
  readonly #env: Environment;

  constructor(env: Environment) {
    this.#env = env;
  }

  /** Returns the first of `names` that is set; undefined where none is. */
  firstOf(
    ...names: readonly string[]
  ): { readonly name: string; readonly text: string } | undefined {
    for (const name of names) {
      const text = this.text(name);
      if (text !== undefined) return { name, text };
    }
    return undefined;
  }

  text(name: string): string | undefined {
    const text = this.#env[name];
    return text === '' ? undefined : text;
  }

  /** Reads a whole number. @throws {TracingVariableError} */
  whole(name: string, least: number): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least) return value;
    throw refusedText(name, `a whole number of at least ${least}`, text);
  }

  /** Reads a number. @throws {TracingVariableError} */
  number(name: string): number | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : numberIn(text, name);
  }

  /** Returns one of `words`. @throws {TracingVariableError} */
  word<Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    const text = this.text(name)?.trim();
    if (text === undefined) return undefined;
    const word = words.find((each) => each === text);
    if (word !== undefined) return word;
    throw refusedText(name, `one of ${words.join(', ')}`, text);
  }

  /**
   * Returns `key=value` pairs between commas, with percent-encoded values; a repeated key counts once, the last time. Of one
   * that is none only its place is named, as these may be credentials.
   *
   * @throws {TracingVariableError}
   */
  pairs(name: string): Readonly<Record<string, string>> {
    const text = this.text(name) ?? '';
    const pairs: Record<string, string> = {};
    for (const [index, pair] of text.split(',').entries()) {
      if (pair.trim() === '') continue;
      const [, key, value] = /^\s*([^=\s]+)\s*=(.*)$/s.exec(pair) ?? [];
      const decoded = value === undefined ? undefined : decodedOf(value.trim());
      if (key === undefined || decoded === undefined) {
        const wanted = 'pairs such as "key=value,other=value", values percent-encoded';
        throw refused(name, wanted, `something else as pair ${index + 1}`);
      }
      pairs[key] = decoded;
    }
    return pairs;
  }
}

/** Returns `text` without its percent-encoding; undefined where that is broken. */
export function decodedOf(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Returns the number that `text`, of the variable `name`, is. @throws {TracingVariableError} */
export function numberIn(text: string, name: string, bounds?: Bounds): number {
  const value = decimal.test(text.trim()) ? Number(text) : Number.NaN;
  const { least, most } = bounds ?? { least: -Number.MAX_VALUE, most: Number.MAX_VALUE };
  if (value >= least && value <= most) return value;
  const wanted = bounds === undefined ? 'a number' : `a number from ${least} to ${most}`;
  throw refusedText(name, wanted, text);
}

/** Returns what to throw where the variable `name` is `text`. */
export function refusedText(name: string, wanted: string, text: string): TracingVariableError {
  return refused(name, wanted, quoted(text));
}

/** Returns what to throw where the variable `name` is something that is shown as `got`. */
export function refused(name: string, wanted: string, got: string): TracingVariableError {
  return new TracingVariableError(`Cannot set up tracing: ${name} must be ${wanted}: got ${got}`);
}

/** Returns what to throw where the variable `name` is no URL that can be used; what may be user, password or a key is left out. */
export function refusedUrl(name: string, example: string, text: string): TracingVariableError {
  return refusedText(
    name,
    `a URL such as "${example}"`,
    text.replace(/^.*@/s, '…@').replace(/\?.*$/s, '?…'),
  );
}
