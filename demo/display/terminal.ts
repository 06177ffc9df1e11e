import { paint, type StyledLine, widthOf } from './styled-line.ts';

/** What the picture needs of the standard output. */
export interface TerminalOutput {
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  write(text: string): unknown;
}

const hideCursor = '\u001B[?25l';
const showCursor = '\u001B[?25h';
const clearToEndOfLine = '\u001B[K';
const clearBelow = '\u001B[J';

/** A picture at the end of the terminal's text, redrawn in place. It hides the cursor until it is closed. */
export class LivePicture {
  readonly #output: TerminalOutput;
  readonly #hasColours: boolean;
  #drawn: readonly StyledLine[] = [];
  #text = '';
  #isOpen = false;

  constructor(output: TerminalOutput, hasColours: boolean) {
    this.#output = output;
    this.#hasColours = hasColours;
  }

  /** Returns the room for the picture; one column stays free, for many terminals wrap a line that fills them all. */
  get size(): { readonly columns: number; readonly rows: number } {
    const { columns = 80, rows = 24 } = this.#output;
    return { columns: Math.max(1, columns - 1), rows: Math.max(1, rows - 1) };
  }

  /** Shows `lines` instead of those before; writes nothing when they look the same. */
  draw(lines: readonly StyledLine[]): void {
    const painted = lines.map((line) => `${paint(line, this.#hasColours)}${clearToEndOfLine}\n`);
    const text = painted.join('');
    if (text === this.#text) return;
    const start = this.#isOpen ? this.#upText() : hideCursor;
    this.#output.write(`${start}${text}${clearBelow}`);
    this.#isOpen = true;
    this.#drawn = lines;
    this.#text = text;
  }

  /** Leaves the picture where it is, and gives the cursor back. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#text = '';
    this.#output.write(showCursor);
  }

  /** Returns what moves up to the first line of the picture; a terminal that became narrower has wrapped its lines. */
  #upText(): string {
    const { columns = 80 } = this.#output;
    const rows = this.#drawn.reduce(
      (sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)),
      0,
    );
    return rows === 0 ? '\r' : `\r\u001B[${rows}A`;
  }
}
