/** A request that all share who ask for it while it is under way. */
export class SharedRequest {
  readonly #send: () => Promise<void>;
  #underWay: Promise<void> | undefined;

  /** @param send bounded by a deadline of its own: who leaves does not end it for the others */
  constructor(send: () => Promise<void>) {
    this.#send = send;
  }

  /** Reports whether it is under way. */
  get isUnderWay(): boolean {
    return this.#underWay !== undefined;
  }

  /**
   * Sends the request, or waits for the one that is under way.
   *
   * @throws what it fails with, to each who waits for it
   * @throws the reason of `signal` when that aborts first
   */
  async join(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#underWay ??= this.#send().finally(() => {
      this.#underWay = undefined;
    });
    const left = Promise.withResolvers<never>();
    const leave = (): void => left.reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    try {
      await Promise.race([this.#underWay, left.promise]);
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }
}
