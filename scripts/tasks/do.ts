/**
 * Lists the tasks of this checkout, or runs one:
 *
 *     npm run do
 *     npm run do <task> [argument …]
 *     npm run do -- <task> --flag …
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { listTasks } from './list-tasks.ts';
import { taskEnvironment } from './run-checks.ts';
import { taskGroups, tasks } from './tasks.ts';

const root = join(import.meta.dirname, '../..');

/** @returns the exit code: that of the task; 2 when there is none of that name */
async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined) {
    process.stdout.write(listTasks(taskGroups));
    return 0;
  }
  const task = tasks.get(name);
  if (task === undefined) {
    process.stderr.write(`There is no task "${name}":\n\n${listTasks(taskGroups)}`);
    return 2;
  }
  const child = spawn('/bin/sh', ['-c', `${task.command} "$@"`, 'sh', ...args], {
    cwd: root,
    env: taskEnvironment(root),
    stdio: 'inherit',
  });
  // A terminal sends its signals to the task as well; what is sent to this process alone is passed on.
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  process.on('SIGINT', () => undefined);
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

process.exitCode = await main(process.argv.slice(2));
