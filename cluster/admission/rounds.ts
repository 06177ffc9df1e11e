import type { Webhook } from './webhook.ts';

/**
 * Who is called in which round (AD-9): in the first all that match, in the second those that asked for it and
 * was called before another one changed the object. There is no third.
 */
export class Rounds {
  readonly #waiting = new Set<string>();
  readonly #due = new Set<string>();
  #isSecond = false;
  #hasChanged = false;

  /** Reports whether `webhook`, which matches, is called in this round. */
  calls({ id }: Webhook): boolean {
    return !this.#isSecond || this.#due.has(id);
  }

  /** Notes that `webhook` was called, and whether it changed the object. */
  called(webhook: Webhook, isChanged: boolean): void {
    if (isChanged) {
      this.#hasChanged = true;
      for (const id of this.#waiting) this.#due.add(id);
      this.#waiting.clear();
    }
    if (webhook.isReinvoked) this.#waiting.add(webhook.id);
  }

  /** Reports whether there is another round, which then begins. */
  again(): boolean {
    if (this.#isSecond || !this.#hasChanged) return false;
    this.#isSecond = true;
    return true;
  }
}
