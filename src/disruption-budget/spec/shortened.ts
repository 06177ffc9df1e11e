/** Longest text that says what is wrong, in UTF-16 code units; the peer's has no bound. */
const longestText = 4_096;

/** Returns `text`, or of a very long one the begin with how long it was: it is kept, compared and logged. */
export function shortened(text: string): string {
  if (text.length <= longestText) return text;
  return `${text.slice(0, longestText).toWellFormed()}… (${text.length} characters)`;
}
