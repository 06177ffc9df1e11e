/**
 * A reporter of node:test that writes how each file went into the file that `TEST_TIMES` names, a line of JSON each; without
 * that variable it is silent. What of a run is slow, and how many tests a stage ran, is read from there.
 */
import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

/** How one file of tests went. */
export interface FileTime {
  /** From the working folder. */
  readonly file: string;
  readonly seconds: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** See above. In one process for all files there is no summary of each: then the tests are added up. */
// oxlint-disable-next-line import/no-default-export -- node:test takes the reporter from there
export default async function* noteTimes(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const path = process.env['TEST_TIMES'] ?? '';
  const added = new Map<string, FileTime>();
  let hasSummaries = false;
  for await (const event of source) {
    if (path === '') continue;
    const time = summaryOf(event);
    if (time !== undefined) {
      hasSummaries = true;
      write(path, time);
    } else if (event.type === 'test:pass' || event.type === 'test:fail') {
      add(added, event);
    }
  }
  if (!hasSummaries) for (const time of added.values()) write(path, time);
  yield* [];
}

function summaryOf({ type, data }: TestEvent): FileTime | undefined {
  if (type !== 'test:summary' || data.file === undefined) return undefined;
  const { tests, passed, skipped, todo } = data.counts;
  return {
    file: relative(process.cwd(), data.file),
    seconds: Math.round(data.duration_ms) / 1_000,
    passed,
    failed: tests - passed - skipped - todo,
    skipped,
  };
}

function add(
  added: Map<string, FileTime>,
  { type, data }: Extract<TestEvent, { type: 'test:pass' | 'test:fail' }>,
): void {
  const file = relative(process.cwd(), data.file ?? '');
  const time = added.get(file) ?? { file, seconds: 0, passed: 0, failed: 0, skipped: 0 };
  const isTest = data.details.type !== 'suite';
  const isSkipped = data.skip !== undefined;
  const took = data.nesting === 0 ? data.details.duration_ms / 1_000 : 0;
  added.set(file, {
    file,
    seconds: Math.round((time.seconds + took) * 1_000) / 1_000,
    passed: time.passed + Number(isTest && !isSkipped && type === 'test:pass'),
    failed: time.failed + Number(isTest && type === 'test:fail'),
    skipped: time.skipped + Number(isTest && isSkipped),
  });
}

/** Written at once: a run that is ended loses the files that were under way alone. */
function write(path: string, time: FileTime): void {
  appendFileSync(path, `${JSON.stringify(time)}\n`);
}
