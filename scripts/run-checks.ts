/**
 * Runs the named scripts of package.json, as many at a time as there are processors, and shows the output
 * of those only that fail; of the others, the lines that begin with `note: `. The checks, and what generates files, are the
 * other scripts; each is a line of package.json.
 *
 *     node scripts/run-checks.ts check:format check:lint
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
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
  /** The folder that holds package.json. */
  readonly root: string;
  readonly names: readonly string[];
  /** How many run at once. */
  readonly atOnce: number;
  /** Called with each check as it ends. */
  readonly report: (result: CheckResult) => void;
}

/**
 * Runs scripts of package.json and tells whether all passed. One that fails stops no other.
 *
 * @throws {Error} when a name is no script; nothing was run then
 */
export async function runChecks({ root, names, atOnce, report }: CheckOptions): Promise<boolean> {
  const scripts = readScripts(root);
  const queue = names.map((name) => {
    const command = scripts.get(name);
    if (command === undefined)
      throw new Error(`Cannot run "${name}": package.json has no such script`);
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

function readScripts(root: string): ReadonlyMap<string, string> {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  return new Map(Object.entries(scripts));
}

async function runCheck(
  root: string,
  { name, command }: { readonly name: string; readonly command: string },
): Promise<CheckResult> {
  const startedAt = performance.now();
  // Not `npm run`: it costs a third of a second each time.
  const path = [join(root, 'node_modules/.bin'), process.env['PATH'] ?? ''].join(delimiter);
  const child = spawn('/bin/sh', ['-c', `exec 2>&1; ${command}`], {
    cwd: root,
    env: { ...process.env, PATH: path },
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

/** One line for a check that passed, and the notes among what it wrote; for one that failed, all that it wrote. */
export function describeResult({ name, passed, output, milliseconds }: CheckResult): string {
  const line = `${passed ? 'ok    ' : 'FAILED'} ${(milliseconds / 1000).toFixed(1).padStart(5)} s  ${name}\n`;
  if (!passed) return `${line}\n${output.trimEnd()}\n\n`;
  const notes = output.split('\n').filter((text) => text.startsWith('note: '));
  return [line, ...notes.map((note) => `         ${note}\n`)].join('');
}

if (import.meta.main) {
  const passed = await runChecks({
    root: join(import.meta.dirname, '..'),
    names: process.argv.slice(2),
    atOnce: availableParallelism(),
    report: (result) => process.stdout.write(describeResult(result)),
  });
  process.exitCode = passed ? 0 : 1;
}
