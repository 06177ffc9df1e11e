/**
 * Runs files of tests in one process, as `node --test --test-isolation=none` does, in half of the time:
 *
 *     node [--test-timeout=<ms>] scripts/tests/run-files.ts <glob> …
 *
 * node:test follows every promise, to know to which test an error belongs that nothing awaits. Here it does so only while the files
 * are loaded, when suites find their tests by it. Such an error fails the run as before, and is printed without the name of its test.
 */
import { type AsyncHook, createHook } from 'node:async_hooks';
import { globSync } from 'node:fs';
import { run } from 'node:test';
import { dot } from 'node:test/reporters';
import endStandstill from './end-standstill.ts';
import noteSkips from './note-skips.ts';

const patterns = process.argv.slice(2);
const files = patterns.flatMap((pattern) => globSync(pattern)).toSorted();
if (files.length === 0) throw new Error(`No file of tests matches ${patterns.join(' ')}`);

/** Calls `start`. @returns the hooks that were enabled meanwhile, and what `start` returned */
function hooksEnabledBy<T>(start: () => T): readonly [readonly AsyncHook[], T] {
  const hooks: AsyncHook[] = [];
  const prototype: unknown = Object.getPrototypeOf(createHook({}));
  if (!isHook(prototype)) return [hooks, start()];
  // oxlint-disable-next-line unbound-method -- called below with the hook that it is for
  const { enable } = prototype;
  prototype.enable = function enableAndNote(this: AsyncHook): AsyncHook {
    hooks.push(this);
    return enable.call(this);
  };
  const started = start();
  prototype.enable = enable;
  return [hooks, started];
}

function isHook(value: unknown): value is AsyncHook {
  return typeof value === 'object' && value !== null && 'enable' in value && 'disable' in value;
}

function fail(error: unknown): void {
  process.exitCode = 1;
  process.stderr.write(
    `\nA test left this error to nobody: ${error instanceof Error ? error.stack : String(error)}\n`,
  );
}

process.on('uncaughtExceptionMonitor', fail).on('unhandledRejection', fail);
const [hooks, events] = hooksEnabledBy(() => run({ files, isolation: 'none' }));
events.once('test:dequeue', () => {
  for (const hook of hooks) hook.disable();
});
events.on('test:summary', ({ success }) => {
  if (!success) process.exitCode = 1;
});
// Each reporter adds several listeners.
events.setMaxListeners(0);
for (const reporter of [dot, noteSkips, endStandstill])
  events.compose(reporter).pipe(process.stdout, { end: false });
