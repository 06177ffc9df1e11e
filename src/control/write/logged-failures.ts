import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';

/** Tells of writes that nothing waits for: a failure once, until it changes or ends. */
export class LoggedFailures {
  readonly #log: Logger;
  readonly #object: string;
  #told: string | undefined;

  constructor(log: Logger, object: string) {
    this.#log = log;
    this.#object = object;
  }

  /** Notes that a write has ended, with `failure` or well. */
  ended(failure: unknown): void {
    const text = failure === undefined ? undefined : errorOf(failure).message;
    if (text === this.#told) return;
    this.#told = text;
    const object = this.#object;
    if (text === undefined)
      this.#log.info('what has ended is taken out of the ledger again', { object });
    else this.#log.warn('what has ended cannot be taken out of the ledger', { object, err: text });
  }
}
