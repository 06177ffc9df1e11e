import { visible } from './visible.ts';

/** Longest part of a text that is quoted, in UTF-16 code units. */
const longestQuote = 100;

/**
 * Returns `text` as a message quotes it: in JSON, and of a long one only the begin, with how long it was. What users write
 * may have 256 KiB, and messages are kept, compared and logged. Marks of direction and other invisible characters are
 * escaped: else they would turn the rest of the message round.
 */
export function quoted(text: string): string {
  if (text.length <= longestQuote) return visible(JSON.stringify(text));
  return `${visible(JSON.stringify(text.slice(0, longestQuote)))}… (${text.length} characters)`;
}
