import type { Millis } from '#base/units.ts';

/**
 * A queue of keys with client-go's meaning: a key waits at most once, is never with two workers at a time, and
 * an add while it is worked on makes it wait again after `done`.
 */
export interface WorkQueue {
  /** Makes `key` ready now, unless it is waiting already. Drops an `addAfter` of it. */
  add(key: string): void;
  /** Makes `key` ready `delay` from now; the earliest deadline of a key wins. */
  addAfter(key: string, delay: Millis): void;
  /** Adds `key` again after its exponential backoff. */
  addRateLimited(key: string): void;
  /** Resets the key's backoff. */
  forget(key: string): void;
  /** Returns how many failures there were in a row since the last `forget`. */
  failures(key: string): number;
  /** Returns the next ready key, once there is one; undefined when the queue was shut down. Pair with {@link done}. */
  get(): Promise<string | undefined>;
  done(key: string): void;
  /** Keys that are ready and not taken. */
  readonly depth: number;
  /** Shuts the queue down: keys go nowhere any more, and `get` answers undefined. */
  shutDown(): void;
}
