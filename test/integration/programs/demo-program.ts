/** The demo and the embedded cluster as processes of their own, and what they say at the end. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The file that all commands begin with. */
export const program = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));

/** The program as its own process, with a temporary folder of its own. */
export class Program {
  readonly lines: string[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown[]>;
  readonly #waiting: { readonly pattern: RegExp; readonly resolve: (line: string) => void }[] = [];

  constructor(args: readonly string[], folder: string) {
    this.#child = spawn(process.execPath, [program, ...args], {
      env: { PATH: process.env['PATH'] ?? '', TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#ended = once(this.#child, 'close');
    for (const input of [this.#child.stdout, this.#child.stderr]) {
      assert.ok(input);
      createInterface({ input }).on('line', (line) => this.#take(line));
    }
  }

  #take(line: string): void {
    this.lines.push(line);
    for (const { pattern, resolve } of this.#waiting) if (pattern.test(line)) resolve(line);
  }

  async line(pattern: RegExp): Promise<string> {
    const seen = this.lines.find((line) => pattern.test(line));
    if (seen !== undefined) return seen;
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#waiting.push({ pattern, resolve });
    const ended = this.#ended.then(() => {
      throw new Error(`It ended without ${String(pattern)}:\n${this.lines.join('\n')}`);
    });
    return Promise.race([promise, ended]);
  }

  /** Asserts that each of `patterns` is in a line after that of the one before. */
  toldInOrder(patterns: readonly RegExp[]): void {
    let from = 0;
    for (const pattern of patterns) {
      const at = this.lines.slice(from).findIndex((line) => pattern.test(line));
      assert.notEqual(at, -1, `${pattern.source} after line ${from} of\n${this.lines.join('\n')}`);
      from += at + 1;
    }
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async exitCode(): Promise<unknown> {
    const [code] = await this.#ended;
    return code;
  }
}

/** Small and quick. */
export const fast = ['--speed', '10', '--pods', '2', '--max-unavailable', '1'];
/** How times are written. */
export const seconds = String.raw`\d+\.\d\d s`;
/** Matches the line that says how long `what` took. */
export const timed = (what: string): RegExp =>
  new RegExp(`^${what} took ${seconds}: .+ the physical limit of 0\\.72 s$`);
/** Said where one zone at most was down at a time. */
export const neverTwo =
  'never two zones were down: at most 1 zone had unavailable pods at any time';
/** Said where each zone kept to its limit of one. */
export const mostPods =
  'most pods unavailable at once: zone-a 1 of 1 allowed, zone-b 1 of 1 allowed, zone-c 1 of 1 allowed';
