/**
 * The gate of every commit, and what is added to it:
 *
 *     npm run ok [<task> …]
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { describeResult, runChecks } from './run-checks.ts';
import { okTasks, tasks } from './tasks.ts';

const passed = await runChecks({
  root: join(import.meta.dirname, '../..'),
  names: [...okTasks, ...process.argv.slice(2)],
  commands: new Map([...tasks].map(([name, { command }]) => [name, command])),
  atOnce: availableParallelism(),
  report: (result) => process.stdout.write(describeResult(result)),
});
process.exitCode = passed ? 0 : 1;
