/**
 * Draws the house of docs/architecture.md from scripts/checks/import-rules.ts, so that the picture is what the gate holds imports to.
 * It only reads the rules; which room may know which is decided there.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isCore, onlyImportedBy, onlyImports, roomsBeside, rows } from '../checks/import-rules.ts';

/** Between these lines of the page is what is drawn. */
const begin = '<!-- drawn by `npm run do diagram` from scripts/checks/import-rules.ts -->';
const end = '<!-- end of what is drawn -->';

const page = new URL('../../docs/architecture.md', import.meta.url);
const root = join(import.meta.dirname, '../..');
/** Rooms that one line of a floor has. */
const lineLength = 3;

/** Returns the diagram as Mermaid reads it: a box a floor, top row first, and what is kept apart next to it. */
export function diagram(): string {
  const floors = rows
    .map((rooms) => rooms.filter(isBuilt))
    .filter((rooms) => rooms.length > 0)
    .map((rooms, at) => ({ rooms, id: `floor${at}` }));
  return [
    'flowchart TD',
    ...floors.map(({ id, rooms }) => `  ${box(id, rooms)}`),
    ...floors.slice(1).map(({ id }, at) => `  floor${at} --> ${id}`),
    ...besides(floors),
  ].join('\n');
}

/** Returns `text` of the page with the diagram of now in its place. @throws {Error} when the page has no place for it */
export function withDiagram(text: string): string {
  const [before, , rest] = split(text);
  return `${before}${begin}\n\n\`\`\`mermaid\n${diagram()}\n\`\`\`\n\n${end}${rest}`;
}

function split(text: string): readonly [string, string, string] {
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`Cannot draw as the page has no lines "${begin}"`);
  return [text.slice(0, from), text.slice(from + begin.length, to), text.slice(to + end.length)];
}

/** Rooms that the rules plan, and that do not exist yet, are not drawn. */
function isBuilt(room: string): boolean {
  const folder = Object.hasOwn(roomsBeside, room) ? roomsBeside[room] : undefined;
  return [folder ?? `src/${room}`, `src/${room}.ts`].some((path) => existsSync(join(root, path)));
}

function box(id: string, rooms: readonly string[]): string {
  const names = rooms.map((room) => (isCore(`src/${room}/any.ts`) ? `${room} (core)` : room));
  const lines: string[] = [];
  for (let at = 0; at < names.length; at += lineLength) {
    lines.push(names.slice(at, at + lineLength).join(' · '));
  }
  return `${id}["${lines.join('<br/>')}"]`;
}

/** Rooms that know fewer rooms than their row allows, or that fewer may know. */
function besides(
  floors: readonly { readonly rooms: readonly string[]; readonly id: string }[],
): readonly string[] {
  const placeOf = (room: string): string | undefined =>
    floors.find(({ rooms }) => rooms.includes(room))?.id;
  const only = [...onlyImportedBy].map(([room, by], at) => {
    const whom = by.length === 0 ? 'tests alone' : `${by.join(', ')} and tests`;
    return `  note${at}(["${room}: imported by ${whom}"]) -.- ${placeOf(room) ?? 'floor0'}`;
  });
  const few = [...onlyImports].map(([room, known], at) => {
    const id = `note${onlyImportedBy.size + at}`;
    return `  ${id}(["${room}: imports only ${known.join(', ')}"]) -.- ${placeOf(room) ?? 'floor0'}`;
  });
  return [...only, ...few];
}

if (import.meta.main) writeFileSync(page, withDiagram(readFileSync(page, 'utf8')));
