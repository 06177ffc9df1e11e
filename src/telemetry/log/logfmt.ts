import type { LogFields, LogValue } from '#base/logger.ts';
import { escapeCharacter, invisibleClass } from '#base/text/visible.ts';
import { errorText } from '../error-text.ts';

/** Blanks, control and invisible characters, `=`, `"`, what could break a line, and the sign of an invalid code point. */
const needsQuotes = new RegExp(`[\\p{Cc}${invisibleClass} ="\\ufffd]`, 'u');
/** What a JSON string may hold as it is, but a terminal or a reader of lines should not meet. */
const rawControls = new RegExp(`[\\p{Cc}${invisibleClass}]`, 'gu');
const invalidCodePoint = /\ufffd/gu;
const invalidInKey = needsQuotes;
const allInvalidInKey = new RegExp(needsQuotes.source, 'gu');

/**
 * Longest text that a line shows as a value, in UTF-16 code units: those who post a review, annotate a set or answer for a pod
 * could else write a log of any size.
 */
export const longestValue = 1_024;

/**
 * Returns `value` in the shape in which both formats print it; an `Error` is its text, a list is joined with blanks, and of
 * a long text the begin is shown, with how long it was.
 */
export function plainValue(value: Exclude<LogValue, undefined>): string | number | boolean | null {
  if (value instanceof Error) return cut(errorText(value));
  if (typeof value === 'object' && value !== null) return cut(value.join(' '));
  return typeof value === 'string' ? cut(value) : value;
}

function cut(text: string): string {
  if (text.length <= longestValue) return text;
  const length = `… (${text.length} characters)`;
  // A pair of code units is not cut in two.
  const begin = text.slice(0, longestValue - length.length).replace(/[\ud800-\udbff]$/, '');
  return begin + length;
}

/**
 * Returns `fields` in logfmt, each with a blank in front and in their order; undefined ones are left out (LG-2).
 */
export function formatLogfmt(fields: LogFields): string {
  let text = '';
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    if (value === undefined) continue;
    const name = invalidInKey.test(key) ? key.replace(allInvalidInKey, '') : key;
    text += ` ${name}=${formatValue(value)}`;
  }
  return text;
}

/**
 * Returns one logfmt value (LG-2): quoted, with JSON's escapes, where it must be, or where it is the word `null`; a null is
 * the bare word, an empty text is nothing.
 */
export function formatValue(value: Exclude<LogValue, undefined>): string {
  const plain = plainValue(value);
  if (typeof plain !== 'string') return String(plain);
  const text = plain.toWellFormed();
  return text === 'null' || needsQuotes.test(text) ? quote(text) : text;
}

function quote(text: string): string {
  return jsonText(text).replace(invalidCodePoint, escapeCharacter);
}

/** Returns `value` in JSON that has control characters and invisible ones, such as marks of direction, in their escapes only. */
export function jsonText(value: string | number | boolean | null): string {
  return JSON.stringify(value).replace(rawControls, escapeCharacter);
}
