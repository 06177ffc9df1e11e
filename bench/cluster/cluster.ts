import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { AllCommands, AnswerMessage } from './cluster-commands.ts';

const program = fileURLToPath(new URL('cluster-process.ts', import.meta.url));

type Waiting = ReturnType<typeof Promise.withResolvers<unknown>>;

/** The cluster in a process of its own. */
export class Cluster {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #id = 0;

  constructor() {
    const execArgv = ['--disable-warning=ExperimentalWarning', ...nodeOptions()];
    this.#child = fork(program, { execArgv, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#child.on('message', (message: AnswerMessage) => this.#answered(message));
    this.#child.on('exit', (code) => {
      const error = new Error(`The process of the cluster ended with ${code ?? 'a signal'}`);
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Has the process carry out one command. @throws what the command throws, and when the process ends */
  async call<K extends keyof AllCommands>(
    name: K,
    ...[argument]: Parameters<AllCommands[K]>
  ): Promise<Awaited<ReturnType<AllCommands[K]>>> {
    this.#id += 1;
    const waiting: Waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(this.#id, waiting);
    this.#child.send({ id: this.#id, name, argument });
    return (await waiting.promise) as Awaited<ReturnType<AllCommands[K]>>;
  }

  /** Ends the process. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.disconnect();
    await gone;
  }

  #answered(message: AnswerMessage): void {
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if ('error' in message) waiting?.reject(new Error(message.error));
    else waiting?.resolve(message.value);
  }
}

/** Options of Node for the cluster, for profiles: `BENCH_CLUSTER_OPTIONS=--cpu-prof npm run do bench …`. */
function nodeOptions(): readonly string[] {
  return (process.env['BENCH_CLUSTER_OPTIONS'] ?? '').split(' ').filter((text) => text !== '');
}
