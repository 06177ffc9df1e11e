/** How long a process may go on without the Lease that its Role denies: it gets no notice when the Role is amended. */
import { type Millis, type Monotonic, millis, monotonic, seconds } from '#base/units.ts';

/** What a {@link RoleDenial} goes by. */
export interface DenialSettings {
  readonly retryPeriod: Millis;
  readonly renewDeadline: Millis;
  readonly predecessorHorizon: Millis;
}

const longestPause = seconds(30);

/** Returns how long a process that leads without a Lease waits before it looks again whether its Role denies it. */
function denialPause({ retryPeriod, predecessorHorizon }: DenialSettings): Millis {
  return millis(Math.max(retryPeriod, Math.min(longestPause, predecessorHorizon / 4)));
}

/**
 * Returns how long a denial vouches that its process may go on, from when the denied request was sent: until the next
 * look, and then for as long as a holder of the Lease may go on without hearing anything.
 */
export function denialLife(settings: DenialSettings): Millis {
  return millis(denialPause(settings) + settings.renewDeadline);
}

/** What one process knows of the denial of its Lease. */
export class RoleDenial {
  readonly #settings: DenialSettings;
  #until = monotonic(0);
  #isLatest = false;

  constructor(settings: DenialSettings) {
    this.#settings = settings;
  }

  /** Returns how long to wait before the next look: after any other answer than a denial it comes soon. */
  get pause(): Millis {
    return this.#isLatest ? denialPause(this.#settings) : this.#settings.retryPeriod;
  }

  /** Takes note of an answer to a request that was sent at `sentAt` or later. */
  see(isDenied: boolean, sentAt: Monotonic): void {
    this.#isLatest = isDenied;
    if (isDenied) this.#until = monotonic(sentAt + denialLife(this.#settings));
  }

  /** Reports whether one that leads without a Lease still may at `now`. */
  vouches(now: Monotonic): boolean {
    return now < this.#until;
  }
}
