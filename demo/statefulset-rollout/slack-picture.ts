import type { JsonObject } from '#base/json.ts';
import { objectsAt, textAt } from '#cluster/json/read-json.ts';

const columnWidth = 34;
/** Slack breaks lines, too. */
const longestLine = 100;
const entities: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };

/** Returns the lines that `blocks` are on a terminal: fields in two columns, times in UTC, and no marks. */
export function slackPicture(blocks: readonly JsonObject[]): readonly string[] {
  return blocks.flatMap(linesOf).flatMap(broken);
}

/** Returns `text` as Slack shows it, without marks. */
export function shownText(text: string): string {
  return text
    .replaceAll(/<!date\^\d+\^[^|]*\|([^>]*)>/g, '$1')
    .replaceAll(/\*([^*\n]+)\*/g, '$1')
    .replaceAll('`', '')
    .replaceAll(/&(?:lt|gt|amp);/g, (entity) => entities[entity] ?? entity);
}

function linesOf(block: JsonObject): readonly string[] {
  const elements = objectsAt(block, 'elements');
  if (elements.length > 0) return [textsIn(elements).join('  ·  ')];
  const fields = objectsAt(block, 'fields');
  if (fields.length > 0) return inColumns(textsIn(fields).map((text) => text.replace('\n', ': ')));
  return shownText(textAt(block, 'text', 'text')).split('\n');
}

function textsIn(objects: readonly JsonObject[]): readonly string[] {
  return objects.map((object) => shownText(textAt(object, 'text')));
}

function inColumns(cells: readonly string[]): readonly string[] {
  return Array.from({ length: Math.ceil(cells.length / 2) }, (_, row) => {
    const [left = '', right = ''] = cells.slice(row * 2, row * 2 + 2);
    return `${left.padEnd(columnWidth)}${right}`.trimEnd();
  });
}

/** Breaks a text between words; what is one word stays whole. */
function broken(line: string): readonly string[] {
  if (line.length <= longestLine) return [line];
  const space = line.lastIndexOf(' ', longestLine);
  if (space <= 0) return [line];
  return [line.slice(0, space), ...broken(`  ${line.slice(space).trim()}`)];
}
