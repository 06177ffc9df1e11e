/**
 * Characters that a screen does not show as themselves, for a class of an expression: marks of direction, which turn round the
 * text that follows them, zero widths, soft hyphens and tags (category Cf of Unicode), and separators of lines and paragraphs.
 */
export const invisibleClass = String.raw`\p{Cf}\p{Zl}\p{Zp}`;

const invisible = new RegExp(`[${invisibleClass}]`, 'gu');

/**
 * Returns `text` with each invisible character in the shape that JSON has for it, such as `\u202e`: inside of a quoted text it
 * stays the same text, and elsewhere a reader sees that somebody wrote it.
 */
export function visible(text: string): string {
  return text.replace(invisible, escapeCharacter);
}

/** Returns JSON's escape of `character`; one beyond 16 bits has two. */
export function escapeCharacter(character: string): string {
  return Array.from({ length: character.length }, (_, at) => escapeUnit(character, at)).join('');
}

function escapeUnit(character: string, at: number): string {
  return `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
}
