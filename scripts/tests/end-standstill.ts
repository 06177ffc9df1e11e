/**
 * A reporter of node:test that ends a run which stands still, and says where: hooks have no time limit of their own, and
 * what a test leaves open keeps the process alive after the last one. Nobody would learn the reason but by a debugger.
 *
 * Silent otherwise. For runs in one process, whose other reporters tell of failures only at the end.
 */
import { writeSync } from 'node:fs';
import type { TestEvent } from 'node:test/reporters';

/** Longer than `--test-timeout`, so that a test which hangs is a failure of its own. In milliseconds. */
const patience = Number(process.env['TEST_STANDSTILL_MS'] ?? 180_000);

/** What of a run is under way. */
class Progress {
  readonly #running = new Set<string>();
  readonly #failed: string[] = [];
  #last = 'nothing';

  take({ type, data }: TestEvent): void {
    if (type === 'test:fail') this.#failed.push(nameOf(data));
    if (type === 'test:dequeue') this.#running.add(nameOf(data));
    if (type !== 'test:complete') return;
    this.#running.delete(nameOf(data));
    this.#last = nameOf(data);
  }

  describe(): string {
    const running = [...this.#running];
    const under =
      running.length === 0 ? 'no test, so a hook or what was left open' : running.join(', ');
    const failed = this.#failed.length === 0 ? 'none' : this.#failed.join(', ');
    return `under way: ${under}; the last to end: ${this.#last}; failed: ${failed}; open: ${openResources()}`;
  }
}

function nameOf({ name, file = '' }: { readonly name: string; readonly file?: string }): string {
  return `"${name}" (${file})`;
}

/** The kinds of what keeps the event loop alive, with their counts. */
function openResources(): string {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo())
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
}

/** See above. */
// oxlint-disable-next-line import/no-default-export -- node:test takes the reporter from there
export default async function* endStandstill(
  source: AsyncIterable<TestEvent>,
): AsyncGenerator<string> {
  const progress = new Progress();
  // Fires only where something else keeps the process alive.
  const timer = setTimeout(() => {
    writeSync(2, `\nThe tests stood still for ${patience / 1_000} s: ${progress.describe()}\n`);
    process.exit(1);
  }, patience).unref();
  for await (const event of source) {
    progress.take(event);
    timer.refresh();
  }
  yield '';
}
