import type { Clock } from './clock.ts';
import type { LogFields, Logger } from './logger.ts';
import { minutes } from './units.ts';

/** After a line, others of the same cause are only counted for so long. */
const quiet = minutes(1);

/** What {@link SparseLog} remembers of a cause. */
interface Logged {
  readonly quietUntil: number;
  /** How many were not logged since then. */
  left: number;
}

/**
 * Logs what others can bring about as often as they like: the first of a cause at once, then one line a minute with
 * how many were only counted before it.
 */
export class SparseLog {
  readonly #log: Logger;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #causes = new Map<string, Logged>();

  constructor(log: Logger, clock: Pick<Clock, 'monotonic'>) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Logs or counts a warning. @param cause one of few: each is remembered for ever */
  warn(cause: string, message: string, fields: LogFields): void {
    const all = this.#due(cause, fields);
    if (all !== undefined) this.#log.warn(message, all);
  }

  /** Logs or counts an error. @param cause one of few: each is remembered for ever */
  error(cause: string, message: string, fields: LogFields): void {
    const all = this.#due(cause, fields);
    if (all !== undefined) this.#log.error(message, all);
  }

  /** Returns the fields of the line; undefined while the cause is quiet. */
  #due(cause: string, fields: LogFields): LogFields | undefined {
    const now = this.#clock.monotonic();
    const logged = this.#causes.get(cause);
    if (logged !== undefined && now < logged.quietUntil) {
      logged.left += 1;
      return undefined;
    }
    this.#causes.set(cause, { quietUntil: now + quiet, left: 0 });
    const left = logged?.left ?? 0;
    return left === 0 ? fields : { ...fields, not_logged_before: left };
  }
}
