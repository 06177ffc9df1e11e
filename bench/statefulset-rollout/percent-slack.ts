import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SlackServer } from '#support/external-services/slack-server.ts';

const token = 'xoxb-bench';
const every = 50;

/** A stand-in for Slack that keeps its rates, and tells when it was called. */
export class PercentSlack {
  readonly channel = '#deploys';
  /** Flags by which the operator finds it. */
  readonly flags: readonly string[];
  readonly #server: SlackServer;
  readonly #folder: string;
  readonly #times: number[] = [];
  #from = 0;
  #postsBefore = 0;

  private constructor(server: SlackServer, { url, folder }: { url: URL; folder: string }) {
    this.#server = server;
    this.#folder = folder;
    const file = join(folder, 'token');
    writeFileSync(file, token, { mode: 0o600 });
    this.flags = [`--slack-api-url=${url.href}`, `--slack-token-file=${file}`];
    server.tokens.set(token, { bot: 'B1', scopes: ['chat:write'] });
    // The server asks for the time once a call.
    server.now = () => {
      const now = performance.now();
      this.#times.push(now);
      return now;
    };
  }

  static async start(): Promise<PercentSlack> {
    const server = new SlackServer();
    const url = await server.listen();
    return new PercentSlack(server, { url, folder: mkdtempSync(join(tmpdir(), 'bench-slack-')) });
  }

  /** Forgets the calls so far. */
  begin(): void {
    this.#from = this.#times.length;
    this.#postsBefore = this.#server.messages.length;
  }

  /** Resolves when nothing was sent for `quiet` ms. */
  async settled(quiet: number): Promise<void> {
    for (;;) {
      const idle = performance.now() - (this.#times.at(-1) ?? Number.NEGATIVE_INFINITY);
      if (idle >= quiet) return;
      await sleep(Math.max(every, quiet - idle));
    }
  }

  /** Messages that were posted since the begin. */
  get posts(): number {
    return this.#server.messages.length - this.#postsBefore;
  }

  get calls(): number {
    return this.#times.length - this.#from;
  }

  /** The most calls a second, over any ten seconds. */
  get rate(): number {
    const times = this.#times.slice(this.#from);
    const counts = times.map((at) => times.filter((each) => each >= at && each <= at + 10_000));
    return (Math.max(1, ...counts.map(({ length }) => length)) - 1) / 10;
  }

  /** Messages since the begin that do not show what all of them end with. */
  unfinished(isFinal: (text: string) => boolean): number {
    const messages = this.#server.messages.slice(this.#postsBefore);
    return messages.filter(({ blocks }) => !isFinal(JSON.stringify(blocks))).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close();
    rmSync(this.#folder, { recursive: true });
  }
}
