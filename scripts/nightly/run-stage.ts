/** Runs one stage as a process, with all that it writes in a file. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import { taskEnvironment } from '../tasks/run-checks.ts';
import type { FileTime } from '../tests/file-times.ts';
import { type Stage, type StageResult, sourceOfTool, type Tool } from './stage.ts';
import type { StageBook } from './stage-book.ts';

/** How much of the output of a failed stage the summary shows, in lines. */
const shownLines = 40;

/** Says what is missing for `stage`, one sentence each. */
export function missingFor({ needs }: Stage): readonly string[] {
  return needs.flatMap((tool) =>
    isThere(tool) ? [] : `${tool} is missing: ${sourceOfTool[tool]}`,
  );
}

function isThere(tool: Tool): boolean {
  const question = tool === 'go' || tool === 'openssl' ? 'version' : '--version';
  return spawnSync(tool, [question], { stdio: 'ignore' }).status === 0;
}

/** Runs `stage` in the checkout at `root`, whole where the gate takes a share, and writes its result into `book`. */
export async function runStage(stage: Stage, root: string, book: StageBook): Promise<StageResult> {
  const log = book.path(stage.name, 'log');
  const times = book.path(stage.name, 'times');
  rmSync(times, { force: true });
  const startedAt = performance.now();
  const missing = missingFor(stage);
  const hasPassed = missing.length === 0 && (await run(stage, { root, log, times }));
  const output = missing.length > 0 ? missing.join('\n') : readFileSync(log, 'utf8');
  const result: StageResult = {
    name: stage.name,
    verdict: hasPassed ? 'passed' : 'failed',
    seconds: Math.round((performance.now() - startedAt) / 1_000),
    counted: countedIn(output, readTimes(times)),
    skips: skipsIn(output),
    why: hasPassed ? '' : output.trimEnd().split('\n').slice(-shownLines).join('\n'),
    log,
  };
  book.write(result);
  return result;
}

interface Files {
  readonly root: string;
  readonly log: string;
  readonly times: string;
}

async function run({ command }: Stage, { root, log, times }: Files): Promise<boolean> {
  const output = openSync(log, 'w');
  try {
    const child = spawn('/bin/sh', ['-c', command], {
      cwd: root,
      env: { ...taskEnvironment(root), CI: 'true', TEST_EXTENT: 'whole', TEST_TIMES: times },
      stdio: ['ignore', output, output],
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    return code === 0;
  } finally {
    closeSync(output);
  }
}

function readTimes(path: string): readonly FileTime[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as FileTime);
}

/** What a stage counted: the tests of its files, else the last line that counts planted bugs, stories or figures. */
export function countedIn(output: string, times: readonly FileTime[]): string {
  if (times.length > 0) {
    const sum = (of: (time: FileTime) => number): number =>
      times.reduce((total, time) => total + of(time), 0);
    const [passed, failed, skipped] = [
      sum((t) => t.passed),
      sum((t) => t.failed),
      sum((t) => t.skipped),
    ];
    return `${passed} passed, ${failed} failed, ${skipped} skipped`;
  }
  const counts = output
    .split('\n')
    .filter((line) => /^\d+ of \d+ |: \d+\/\d+ in |^\d+ figures|: \d+ bodies in /.test(line));
  return counts.at(-1) ?? '';
}

/** The lines of `output` that say what was skipped and why. */
export function skipsIn(output: string): readonly string[] {
  const lines = output
    .split('\n')
    .flatMap((line) => /\b\d+ skipped(?:: | for ).+/.exec(line)?.[0] ?? []);
  return [...new Set(lines)];
}
