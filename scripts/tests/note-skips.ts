/**
 * A reporter of node:test that says nothing but which tests were skipped, and why: the reporters that print dots do not.
 * Each line is a note (see run-checks.ts). A test that is skipped without a reason fails the run. Beside that it writes the times
 * of files where these are asked for (see file-times.ts).
 */
import type { TestEvent } from 'node:test/reporters';
import { FileTimes } from './file-times.ts';

/** Why the test that `event` tells of was skipped: true without a reason; undefined when it was not. */
function skipOf(event: TestEvent): string | true | undefined {
  if (event.type !== 'test:pass' && event.type !== 'test:fail') return undefined;
  const { skip } = event.data;
  if (skip === undefined || skip === false) return undefined;
  return skip === '' ? true : skip;
}

/** See above. */
// oxlint-disable-next-line import/no-default-export -- node:test takes the reporter from there
export default async function* noteSkips(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const times = new Map<string, number>();
  const files = new FileTimes();
  for await (const event of source) {
    files.take(event);
    const skip = skipOf(event);
    if (skip === undefined) continue;
    const reason = skip === true ? 'without a reason, which fails the run' : skip;
    if (skip === true) process.exitCode = 1;
    times.set(reason, (times.get(reason) ?? 0) + 1);
  }
  files.end();
  if (times.size > 0) yield '\n';
  for (const [reason, count] of times) yield `note: ${count} skipped: ${reason}\n`;
}
