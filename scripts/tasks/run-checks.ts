/**
 * Runs tasks, as many at a time as there are processors, and shows the output of those only that fail; of the others, the
 * lines that begin with `note: `.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, join } from 'node:path';

/** How one check ended. */
export interface CheckResult {
  readonly name: string;
  readonly passed: boolean;
  /** What it wrote, to either stream, in that order. */
  readonly output: string;
  readonly milliseconds: number;
}

/** Where and what to run. */
export interface CheckOptions {
  /** The folder in which commands run. */
  readonly root: string;
  readonly names: readonly string[];
  /** What each name runs, for /bin/sh. */
  readonly commands: ReadonlyMap<string, string>;
  /** How many run at once. */
  readonly atOnce: number;
  /** Called with each check as it ends. */
  readonly report: (result: CheckResult) => void;
}

/**
 * Runs commands and tells whether all passed. One that fails stops no other.
 *
 * @throws {Error} when a name has no command; nothing was run then
 */
export async function runChecks(options: CheckOptions): Promise<boolean> {
  const { root, names, commands, atOnce, report } = options;
  const queue = names.map((name) => {
    const command = commands.get(name);
    if (command === undefined) throw new Error(`Cannot run "${name}": there is no such task`);
    return { name, command };
  });
  let passed = true;
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const result = await runCheck(root, next);
      passed &&= result.passed;
      report(result);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return passed;
}

async function runCheck(
  root: string,
  { name, command }: { readonly name: string; readonly command: string },
): Promise<CheckResult> {
  const startedAt = performance.now();
  const child = spawn('/bin/sh', ['-c', `exec 2>&1; ${command}`], {
    cwd: root,
    env: taskEnvironment(root),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(child, 'close');
  return {
    name,
    passed: child.exitCode === 0,
    output: Buffer.concat(chunks).toString(),
    milliseconds: performance.now() - startedAt,
  };
}

/** The environment of a command: what packages bring along is on the path, as under npm. */
export function taskEnvironment(root: string): NodeJS.ProcessEnv {
  const path = [join(root, 'node_modules/.bin'), process.env['PATH'] ?? ''].join(delimiter);
  return { ...process.env, PATH: path };
}

/** One line for a check that passed, and the notes among what it wrote; for one that failed, all that it wrote. */
export function describeResult({ name, passed, output, milliseconds }: CheckResult): string {
  const line = `${passed ? 'ok    ' : 'FAILED'} ${(milliseconds / 1000).toFixed(1).padStart(5)} s  ${name}\n`;
  if (!passed) return `${line}\n${output.trimEnd()}\n\n`;
  const notes = output.split('\n').filter((text) => text.startsWith('note: '));
  return [line, ...notes.map((note) => `         ${note}\n`)].join('');
}
