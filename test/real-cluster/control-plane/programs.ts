/** Starts programs that end with us, even if we are killed, in a folder that goes with them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A program that runs. */
export interface Program {
  readonly name: string;
  readonly logPath: string;
  /** Whether it has ended, by itself or not. */
  readonly hasEnded: boolean;
  /** Its exit code, once it has ended; undefined when a signal ended it. */
  readonly ended: Promise<number | undefined>;
  /** Sends `signal` to it and all that it started. */
  signal(signal: NodeJS.Signals): void;
  /** Sends `signal` and waits for the end. @returns its exit code; undefined when a signal ended it */
  end(signal?: NodeJS.Signals): Promise<number | undefined>;
  /** The end of its log. */
  logTail(): Promise<string>;
}

/** What is started. */
export interface ProgramOptions {
  readonly name: string;
  readonly path: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Told each line of stderr. */
  readonly onLine?: (line: string) => void;
}

/** A temporary folder and the programs that run in it. */
export class Programs {
  readonly folder: string;
  readonly #guardian: ChildProcess;
  readonly #running = new Set<Program>();

  private constructor(folder: string, guardian: ChildProcess) {
    this.folder = folder;
    this.#guardian = guardian;
  }

  static async create(): Promise<Programs> {
    const folder = await mkdtemp(join(tmpdir(), 'real-cluster-'));
    const script = join(import.meta.dirname, 'guardian.sh');
    const guardian = spawn('/bin/sh', [script], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    await once(guardian, 'spawn');
    guardian.unref();
    const programs = new Programs(folder, guardian);
    programs.#tell(`folder ${folder}`);
    return programs;
  }

  /** Starts a program as the leader of its own process group. */
  async start(options: ProgramOptions): Promise<Program> {
    const { name, path, args, env = {}, onLine } = options;
    const logPath = join(this.folder, `${name}.log`);
    const child = spawn(path, [...args], {
      detached: true,
      cwd: this.folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: this.folder, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise<number | undefined>((resolve) => {
      child.on('exit', (code) => resolve(code ?? undefined));
      child.on('error', () => resolve(undefined));
    });
    await once(child, 'spawn');
    const { pid } = child;
    if (pid === undefined) throw new Error(`Cannot start ${path}: it has no process id`);
    this.#tell(`add ${pid}`);
    const log = createWriteStream(logPath, { flags: 'a' });
    child.stdout?.pipe(log, { end: false });
    child.stderr?.pipe(log, { end: false });
    if (onLine !== undefined) followLines(child, onLine);
    const program = new Started({ name, logPath, pid, child, ended });
    this.#running.add(program);
    void ended.then(() => {
      this.#running.delete(program);
      this.#tell(`gone ${pid}`);
    });
    return program;
  }

  /** Ends all programs and removes the folder. */
  async close(): Promise<void> {
    await Promise.all([...this.#running].map((program) => program.end('SIGKILL')));
    const gone = once(this.#guardian, 'exit');
    this.#guardian.ref();
    this.#guardian.stdin?.end();
    await gone;
  }

  #tell(line: string): void {
    this.#guardian.stdin?.write(`${line}\n`);
  }
}

function followLines(child: ChildProcess, onLine: (line: string) => void): void {
  let rest = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
}

class Started implements Program {
  readonly name: string;
  readonly logPath: string;
  readonly #pid: number;
  readonly #child: ChildProcess;
  readonly ended: Promise<number | undefined>;

  constructor(parts: {
    readonly name: string;
    readonly logPath: string;
    readonly pid: number;
    readonly child: ChildProcess;
    readonly ended: Promise<number | undefined>;
  }) {
    this.name = parts.name;
    this.logPath = parts.logPath;
    this.#pid = parts.pid;
    this.#child = parts.child;
    this.ended = parts.ended;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.hasEnded) process.kill(-this.#pid, signal);
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | undefined> {
    this.signal(signal);
    return this.ended;
  }

  async logTail(): Promise<string> {
    const text = await readFile(this.logPath, 'utf8').catch(() => '');
    return text.split('\n').slice(-25).join('\n');
  }
}
