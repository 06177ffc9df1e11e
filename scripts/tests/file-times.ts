/**
 * Writes how each file of a run went into the file that `TEST_TIMES` names, a line of JSON each; nothing without that variable.
 * What of a run is slow, and how many tests a stage ran, is read from there.
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

/** Takes the events of one run. In one process for all files there is no summary of each: then the tests are added up. */
export class FileTimes {
  readonly #path = process.env['TEST_TIMES'] ?? '';
  readonly #added = new Map<string, FileTime>();
  #hasSummaries = false;

  /** Writes the summary of a file at once: a run that is ended loses the files that were under way alone. */
  take(event: TestEvent): void {
    if (this.#path === '') return;
    const time = summaryOf(event);
    if (time !== undefined) {
      this.#hasSummaries = true;
      write(this.#path, time);
    } else if (event.type === 'test:pass' || event.type === 'test:fail') {
      add(this.#added, event);
    }
  }

  /** Writes what no summary came for. */
  end(): void {
    if (!this.#hasSummaries) for (const time of this.#added.values()) write(this.#path, time);
  }
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

function write(path: string, time: FileTime): void {
  appendFileSync(path, `${JSON.stringify(time)}\n`);
}
