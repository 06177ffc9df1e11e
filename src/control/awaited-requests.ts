import type { Clock } from '#base/clock.ts';
import { type Millis, seconds } from '#base/units.ts';

/** How long a pass may wait before it is reported what it waits for (D-53). */
const patience: Millis = seconds(10);

/** What naming awaited requests goes through. */
export interface AwaitedRequestPorts {
  readonly clock: Clock;
  /** Called once for each wait of more than 10 s; `what` is a clause such as `the list of its pods`. */
  readonly onSlow: (key: string, what: string) => void;
}

/** Tells what passes wait for, where that takes long: each call ends by itself, but a standstill needs a reason. */
export class AwaitedRequests {
  readonly #ports: AwaitedRequestPorts;

  constructor(ports: AwaitedRequestPorts) {
    this.#ports = ports;
  }

  /** Waits for `promise`, as a pass over `key` does for `what`. */
  async named<T>(key: string, what: string, promise: Promise<T>): Promise<T> {
    const { clock, onSlow } = this.#ports;
    const options = { owner: 'slow request of a pass', background: true };
    const timer = clock.timer(patience, () => onSlow(key, what), options);
    try {
      return await promise;
    } finally {
      timer.cancel();
    }
  }
}
