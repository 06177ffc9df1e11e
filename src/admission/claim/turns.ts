import type { Deadline } from '../review/deadline.ts';

/** Lets one at a time through, in the order of asking. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /**
   * Waits for a turn.
   *
   * @returns how to end it
   * @throws the reason of the deadline, when that is over first
   */
  async take({ signal }: Deadline): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    const over = Promise.withResolvers<void>();
    const abort = (): void => over.resolve();
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    await Promise.race([before, over.promise]);
    signal.removeEventListener('abort', abort);
    if (signal.aborted) {
      void before.then(resolve);
      signal.throwIfAborted();
    }
    return resolve;
  }
}
