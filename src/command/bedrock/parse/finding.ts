import type { JsonValue } from '#base/json.ts';
import { quoted } from '#base/text/quoted.ts';

/** What is wrong, or odd, with a part of the input. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  /** The line of the input; undefined for what is in no line of it, as an option. */
  readonly line: number | undefined;
  /** Path of the field, or an option; empty for the input as a whole. */
  readonly path: string;
  /** A clause that completes the path: what is required, and what was found instead. */
  readonly message: string;
}

/** Most findings that are reported one by one: an input may be nothing but mistakes. */
const mostTold = 50;

/** Returns an error in no line of the input. */
export function mistake(path: string, message: string): Finding {
  return { severity: 'error', line: undefined, path, message };
}

/** Reports whether one of `findings` is an error. */
export function hasErrors(findings: readonly Finding[]): boolean {
  return findings.some(({ severity }) => severity === 'error');
}

/** Returns `findings` as errors all of them (`--strict`). */
export function asErrors(findings: readonly Finding[]): readonly Finding[] {
  return findings.map((each) => ({ ...each, severity: 'error' }));
}

/** Returns one line for each of `findings`, errors first; `file` names the input. */
export function findingLines(file: string, findings: readonly Finding[]): readonly string[] {
  const sorted = findings.toSorted((one, other) => rank(one) - rank(other));
  const told = sorted.slice(0, mostTold).map((each) => lineOf(file, each));
  const left = sorted.length - told.length;
  return left === 0 ? told : [...told, `${file}: and ${left} more`];
}

/** Returns what of a value a message shows: no more than a hint at what is large. */
export function seen(value: JsonValue | undefined): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value === undefined || value === null) return 'nothing';
  return Array.isArray(value) ? 'a list' : 'a map';
}

/** Returns the path of member `key` of what is at `path`. */
export function memberPath(path: string, key: string): string {
  if (!/^[A-Za-z_][\w-]{0,62}$/.test(key)) return `${path}[${quoted(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

function rank({ severity }: Finding): number {
  return severity === 'error' ? 0 : 1;
}

/** An option is in no file. */
function lineOf(file: string, { severity, line, path, message }: Finding): string {
  const place = path.startsWith('--') ? '' : line === undefined ? `${file}: ` : `${file}:${line}: `;
  const grade = severity === 'warning' ? 'warning: ' : '';
  return `${place}${grade}${path === '' ? message : `${path} ${message}`}`;
}
