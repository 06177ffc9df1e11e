import type { Parsed } from '#base/parsed.ts';
import { invalid, valid } from '#base/parsed.ts';
import { formatGoDuration, parseGoDuration } from '#base/time/go-duration.ts';
import { parsePrometheusDuration } from '#base/time/prometheus-duration.ts';
import type { Millis } from '#base/units.ts';

/** How flags of one type are read and shown in the usage listing (FL-6). */
export interface FlagKind<T> {
  /** The word behind the name in the usage listing; empty for booleans. */
  readonly placeholder: string;
  /** Whether `-name` alone means true, so that `-name value` is no form of it (FL-2). */
  readonly isBoolean: boolean;
  /** Returns the value of `text`; the problem's message is what the error line shows. */
  parse(text: string): Parsed<T>;
  /** Returns `value` as the usage listing shows a default; undefined when it is the zero value, which is not shown. */
  show(value: T): string | undefined;
}

const maxInt = 2n ** 63n - 1n;
const trueWords: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const falseWords: ReadonlySet<string> = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

/** Decimal, octal with a leading 0, or a base prefix; one underscore between digits or after a prefix. */
const intSyntax =
  /^[+-]?(?:0|[1-9](?:_?\d)*|0(?:_?[0-7])+|0[xX](?:_?[\da-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+)$/;
const floatSyntax = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

const unparsable = invalid('value', 'parse error');
const outOfRange = invalid('value', 'value out of range');

function parseInteger(text: string): Parsed<number> {
  if (!intSyntax.test(text)) return unparsable;
  const digits = text.replace(/^[+-]/, '').replaceAll('_', '');
  const magnitude = BigInt(/^0\d/.test(digits) ? `0o${digits.slice(1)}` : digits);
  const isNegative = text.startsWith('-');
  if (magnitude > maxInt + (isNegative ? 1n : 0n)) return outOfRange;
  return valid(Number(isNegative ? -magnitude : magnitude));
}

function parseFloatingPoint(text: string): Parsed<number> {
  if (!floatSyntax.test(text)) return unparsable;
  const value = Number(text);
  return Number.isFinite(value) ? valid(value) : outOfRange;
}

function parseBoolean(text: string): Parsed<boolean> {
  if (trueWords.has(text)) return valid(true);
  return falseWords.has(text) ? valid(false) : unparsable;
}

function parseDuration(text: string): Parsed<Millis> {
  const parsed = parseGoDuration(text, 'value');
  return parsed.kind === 'valid' ? parsed : unparsable;
}

/** Any text. */
export const stringKind: FlagKind<string> = {
  placeholder: 'string',
  isBoolean: false,
  parse: valid,
  show: (value) => (value === '' ? undefined : JSON.stringify(value)),
};

/** A 64-bit integer, also with a base prefix and underscores: `0x1F`, `0o17`, `017`, `1_000`. */
export const intKind: FlagKind<number> = {
  placeholder: 'int',
  isBoolean: false,
  parse: parseInteger,
  show: (value) => (value === 0 ? undefined : String(value)),
};

/** A decimal number, with an exponent or without. */
export const floatKind: FlagKind<number> = {
  placeholder: 'float',
  isBoolean: false,
  parse: parseFloatingPoint,
  show: (value) => (value === 0 ? undefined : String(value)),
};

/** `1 0 t f T F true false TRUE FALSE True False`. */
export const boolKind: FlagKind<boolean> = {
  placeholder: '',
  isBoolean: true,
  parse: parseBoolean,
  show: (value) => (value ? 'true' : undefined),
};

/** A Go duration (IN-16). */
export const durationKind: FlagKind<Millis> = {
  placeholder: 'duration',
  isBoolean: false,
  parse: parseDuration,
  show: (value) => (value === 0 ? undefined : formatGoDuration(value)),
};

/** A Prometheus duration (IN-30). */
export const prometheusDurationKind: FlagKind<Millis> = {
  placeholder: 'value',
  isBoolean: false,
  parse: (text) => parsePrometheusDuration(text, 'value'),
  show: (value) => (value === 0 ? undefined : formatPrometheusDays(value)),
};

/** Values between commas, not trimmed; an empty text clears the list. */
export const csvKind: FlagKind<readonly string[]> = {
  placeholder: 'value',
  isBoolean: false,
  parse: (text) => valid(text === '' ? [] : text.split(',')),
  show: (value) => (value.length === 0 ? undefined : value.join(',')),
};

/** Returns a default in whole years or days; anything else is shown in Go's way rather than wrongly. */
function formatPrometheusDays(span: Millis): string {
  const days = span / 86_400_000;
  if (!Number.isInteger(days)) return formatGoDuration(span);
  return days % 365 === 0 ? `${days / 365}y` : `${days}d`;
}
