/** How a piece of text looks; what a palette makes of it depends on the terminal. */
export type Style = 'plain' | 'bold' | 'faint' | 'good' | 'old' | 'busy' | 'waiting' | 'bad';

/** A piece of a line. */
export interface Span {
  readonly text: string;
  readonly style: Style;
}

/** One line of the screen. */
export type StyledLine = readonly Span[];

/** Returns a piece of text that looks like `style`. */
export function span(text: string, style: Style = 'plain'): Span {
  return { text, style };
}

/** Returns the columns that `line` takes; every character that the demo shows is one unit and takes one. */
export function widthOf(line: StyledLine): number {
  return line.reduce((sum, { text }) => sum + text.length, 0);
}

/** Returns `line` cut to `width` columns; what was cut ends in `…`. */
export function cut(line: StyledLine, width: number): StyledLine {
  if (widthOf(line) <= width) return line;
  const kept: Span[] = [];
  let room = Math.max(0, width - 1);
  for (const { text, style } of line) {
    const shown = text.slice(0, room);
    room -= shown.length;
    if (shown !== '') kept.push({ text: shown, style });
  }
  return width > 0 ? [...kept, span('…', 'faint')] : [];
}

/** Returns `text` in lines of at most `width` columns, broken at spaces; at most `most` lines, the last one cut. */
export function wrap(
  text: string,
  { width, most }: { readonly width: number; readonly most: number },
): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length <= width || lines.length === most - 1 || line === '') {
      line = longer;
    } else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
}

const codes: Readonly<Record<Style, string>> = {
  plain: '',
  bold: '1',
  faint: '2',
  good: '32',
  old: '34',
  busy: '36',
  waiting: '33',
  bad: '31',
};

/** Returns `line` as text for a terminal. @param hasColours without them it is the bare text */
export function paint(line: StyledLine, hasColours: boolean): string {
  return line
    .map(({ text, style }) => {
      const code = codes[style];
      return hasColours && code !== '' ? `\u001B[${code}m${text}\u001B[0m` : text;
    })
    .join('');
}
