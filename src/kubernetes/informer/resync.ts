import type { Clock } from '#base/clock.ts';
import type { Millis } from '#base/units.ts';

/** What a resync skips, and for which readers. */
export interface Resync<T> {
  readonly clock: Clock;
  readonly interval: Millis;
  /** Names its timer. */
  readonly owner: string;
  /** Returns what is there when its time has come. */
  objects(): Iterable<T>;
  pass(object: T): void;
}

/** Objects that are passed by before other work gets its turn. */
const stretch = 200;

/** Passes all objects by at each interval, until `signal` aborts; then resolves. */
export async function resyncRegularly<T>(resync: Resync<T>, signal: AbortSignal): Promise<void> {
  const { clock, interval, owner } = resync;
  try {
    for (;;) {
      await clock.sleep(interval, { signal, owner, background: true });
      await resyncAll(resync, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function resyncAll<T>(resync: Resync<T>, signal: AbortSignal): Promise<void> {
  let passed = 0;
  // The iterator may be live: objects that change or go meanwhile are passed by as they are then, or not at all.
  for (const object of resync.objects()) {
    resync.pass(object);
    passed += 1;
    if (passed % stretch === 0) await resync.clock.yield();
    signal.throwIfAborted();
  }
}
