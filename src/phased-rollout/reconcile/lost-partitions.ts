import type { Clock } from '#base/clock.ts';
import { type Monotonic, monotonic, seconds } from '#base/units.ts';

/** How long a request without an answer may still take effect (D-7). */
const answerHorizon = seconds(120);

/** Partitions that were sent, and had no answer: it is unknown whether they take effect yet. */
export class LostPartitions {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** When none of them can take effect any more. */
  #settledAt: Monotonic = monotonic(0);

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Notes that a partition was sent at `sentAt`, and that no answer came. */
  lost(sentAt: Monotonic): void {
    this.#settledAt = monotonic(Math.max(this.#settledAt, sentAt + answerHorizon));
  }

  /** Reports whether one of them may take effect yet. */
  mayTakeEffect(): boolean {
    return this.#clock.monotonic() < this.#settledAt;
  }
}
