import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));

/** The operator as its own process; `line` resolves with the first line of stderr that `pattern` matches. */
export class OperatorProcess {
  readonly lines: string[] = [];
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown[]>;
  readonly #waiting: { readonly pattern: RegExp; readonly resolve: (line: string) => void }[] = [];

  /** @param file what is started in place of the program */
  constructor(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    file: string = program,
  ) {
    this.#child = spawn(process.execPath, [file, ...args], {
      env: { PATH: process.env['PATH'] ?? '', ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#exit = once(this.#child, 'exit');
    const { stderr } = this.#child;
    assert.ok(stderr);
    createInterface({ input: stderr }).on('line', (line) => {
      this.lines.push(line);
      for (const { pattern, resolve } of this.#waiting) if (pattern.test(line)) resolve(line);
    });
  }

  /** @throws where it never started */
  get pid(): number {
    const { pid } = this.#child;
    assert.ok(pid);
    return pid;
  }

  async line(pattern: RegExp): Promise<string> {
    const seen = this.lines.find((line) => pattern.test(line));
    if (seen !== undefined) return seen;
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#waiting.push({ pattern, resolve });
    const ended = this.#exit.then(() => {
      throw new Error(`The operator ended without ${String(pattern)}:\n${this.lines.join('\n')}`);
    });
    return Promise.race([promise, ended]);
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async exitCode(): Promise<unknown> {
    const [code] = await this.#exit;
    return code;
  }
}
