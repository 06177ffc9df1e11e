/** Replaced by a space: line ends, controls, and what turns the direction of the text behind it. */
const unprintable = /[\s\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Marks where a text was cut. */
const cut = '…';

/**
 * Returns `text` as one line that Slack shows as it is, at most `longest` UTF-16 units long: what comes from a cluster makes
 * no link, no mention and no piece of code, and nothing is cut in two. The limit holds for what is sent, escapes and all.
 *
 * @param longest 1 or more
 */
export function fitted(text: string, longest: number): string {
  const line = oneLine(text.slice(0, longest * 2));
  const whole = escaped(line);
  if (whole.length <= longest && text.length <= longest * 2) return whole;
  let kept = '';
  for (const char of line) {
    const next = escaped(char);
    if (kept.length + next.length + cut.length > longest) break;
    kept += next;
  }
  return `${kept}${cut}`;
}

/** Returns `text` in one line, without what only a hostile text has. */
function oneLine(text: string): string {
  return text.toWellFormed().replaceAll(unprintable, ' ').replaceAll('`', "'").trim();
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>]/g, (char) => entities[char] ?? char);
}

/** Returns `text` as code; a dash where there is none. */
export function code(text: string, longest: number): string {
  const inner = fitted(text, longest - 2);
  return inner === '' ? '–' : `\`${inner}\``;
}

/** Returns the lines one below the other, at most `longest` UTF-16 units in all; of those left out the last line gives the number. */
export function linesWithin(lines: readonly string[], longest: number): string {
  const whole = lines.join('\n');
  if (whole.length <= longest) return whole;
  const kept: string[] = [];
  let length = moreText(lines.length).length;
  for (const line of lines) {
    length += line.length + 1;
    if (length > longest) break;
    kept.push(line);
  }
  return [...kept, moreText(lines.length - kept.length)].join('\n');
}

/** Returns the line in place of `count` others. */
export function moreText(count: number): string {
  return `${cut} ${count} more`;
}
