/** Returns the index just behind the string that starts at `from`. */
function endOfString(text: string, from: number): number {
  let end = text.indexOf('"', from + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end + 1;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charAt(at - 1 - backslashes) === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}

interface Level {
  readonly path: string;
  /** Undefined for an array. */
  readonly seen: Set<string> | undefined;
  key: string;
}

function isKey(text: string, from: number): boolean {
  let at = from;
  while (/\s/.test(text.charAt(at))) at += 1;
  return text.charAt(at) === ':';
}

/**
 * Returns the paths of members that occur twice in one object of `text`, which is valid JSON; JSON.parse hides them (OB-13).
 */
export function duplicateKeys(text: string): readonly string[] {
  const found: string[] = [];
  const levels: Level[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    const level = levels.at(-1);
    if (char === '{' || char === '[') {
      levels.push(openLevel(level, char === '{'));
    } else if (char === '}' || char === ']') {
      levels.pop();
    } else if (char === '"') {
      const end = endOfString(text, at);
      if (level?.seen !== undefined && isKey(text, end)) {
        noteKey(level, text.slice(at + 1, end - 1), found);
      }
      at = end - 1;
    }
  }
  return found;
}

function openLevel(parent: Level | undefined, isObject: boolean): Level {
  const path = parent === undefined ? '' : pathOf(parent);
  return { path, seen: isObject ? new Set() : undefined, key: '' };
}

function pathOf(level: Level): string {
  if (level.seen === undefined) return level.path;
  return level.path === '' ? level.key : `${level.path}.${level.key}`;
}

function noteKey(level: Level, key: string, found: string[]): void {
  const isDuplicate = level.seen?.has(key) === true;
  level.seen?.add(key);
  Object.assign(level, { key });
  if (isDuplicate) found.push(pathOf(level));
}
