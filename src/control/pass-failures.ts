import type { Clock } from '#base/clock.ts';
import { errorOf, messageOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { changedAfter, unchangedAfter } from '#base/told-again.ts';
import type { Monotonic } from '#base/units.ts';
import { parseGroupKey } from '#statefulset/group.ts';

/** What was logged last of a group. */
interface Logged {
  readonly text: string;
  readonly at: Monotonic;
  /** Failures since then that were only counted. */
  readonly left: number;
  /** Whether a pass has ended well since then. */
  readonly isOver: boolean;
}

/**
 * Logs passes that end with an error: whoever writes what a pass cannot use could else fill a log, as each change of a set or
 * of a pod is a pass. Of a group an error is logged at once, then when its text changes or it comes back, but once a
 * minute at most, and every 10 minutes while it lasts. A line has how many passes failed without one.
 */
export class PassFailures {
  readonly #log: Logger;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #logged = new Map<string, Logged>();

  constructor({ log, clock }: { readonly log: Logger; readonly clock: Pick<Clock, 'monotonic'> }) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Notes that a pass over `key` has ended, with `failure` or well. */
  ended(key: string, failure: Error | string | undefined): void {
    const last = this.#logged.get(key);
    if (failure !== undefined) this.#failed(key, failure, last);
    else if (last !== undefined) this.#logged.set(key, { ...last, isOver: true });
  }

  /** Forgets a group that is gone. */
  forget(key: string): void {
    this.#logged.delete(key);
  }

  #failed(key: string, failure: Error | string, last: Logged | undefined): void {
    const now = this.#clock.monotonic();
    const text = messageOf(errorOf(failure));
    if (last !== undefined && now - last.at < quietAfter(last, text)) {
      this.#logged.set(key, { ...last, left: last.left + 1 });
      return;
    }
    const left = last?.left ?? 0;
    this.#logged.set(key, { text, at: now, left: 0, isOver: false });
    const { group } = parseGroupKey(key);
    const counted = left === 0 ? {} : { not_logged_before: left };
    this.#log.warn('reconcile ended with an error', { group, err: failure, ...counted });
  }
}

/** Returns for how long after `last` an error with `text` is only counted. */
function quietAfter(last: Logged, text: string): number {
  return last.text === text && !last.isOver ? unchangedAfter : changedAfter;
}
