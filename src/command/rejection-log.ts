import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { minutes } from '#base/units.ts';
import type { ClusterRejection } from '#kubernetes/cluster-header.ts';

/** After a line, others are only counted for so long. */
const quiet = minutes(1);

/**
 * Logs that the cluster check of a pod turned a call away (ME-41): the first at once, then one line a minute with how many were
 * only counted. The pods of one set may be a thousand, and each call that failed is told of where it was made, too.
 */
export class RejectionLog {
  readonly #log: Logger;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #quietUntil = Number.NEGATIVE_INFINITY;
  #counted = 0;

  constructor(log: Logger, clock: Pick<Clock, 'monotonic'>) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Logs or counts one. */
  note({ route, message }: Pick<ClusterRejection, 'route' | 'message'>): void {
    const now = this.#clock.monotonic();
    if (now < this.#quietUntil) {
      this.#counted += 1;
      return;
    }
    const before = this.#counted === 0 ? {} : { not_logged_before: this.#counted };
    this.#log.warn('cluster check refused a request', { route, message, ...before });
    this.#counted = 0;
    this.#quietUntil = now + quiet;
  }
}
