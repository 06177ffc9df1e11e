import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import { after, type Millis, millis } from '#base/units.ts';
import { WriteAttempts } from '#control/write/write-attempts.ts';

/** What {@link BundleContests} works with. */
export interface BundleContestPorts {
  readonly clock: Clock;
  readonly log: Logger;
}

/** What is written is always what we want, so that one value stands for it. */
const bundle = 'the CAs of this operator';

/**
 * Knows which configurations another client writes again and again, such as another injector of CAs: what it takes away is put
 * back ever more rarely, and said with its name.
 */
export class BundleContests {
  readonly #ports: BundleContestPorts;
  readonly #attempts = new WriteAttempts<string, 'CaBundleContested'>();
  /** Configurations that we have written once: what is written after that was undone. */
  readonly #written = new Set<string>();
  readonly #contested = new Set<string>();

  constructor(ports: BundleContestPorts) {
    this.#ports = ports;
  }

  /** Notes that the configuration `key` was written, whose bundle `managers` had written before. */
  written(key: string, managers: readonly string[]): void {
    const { clock, log } = this.#ports;
    const isFirst = !this.#written.has(key);
    this.#written.add(key);
    if (isFirst) return;
    this.#attempts.written({ key, to: bundle, at: clock.monotonic() }, (writes, wait) => {
      this.#contested.add(key);
      const again = formatUtcSeconds(after(clock.now(), wait));
      const by = managers.length === 0 ? 'unknown' : managers.join(', ');
      const message = `another client changes the CA bundle of ${key} back`;
      log.warn('another client changes the CA bundle back; it is written again ever more rarely', {
        configuration: key,
        field_managers: by,
        writes,
        again,
      });
      return { reason: 'CaBundleContested', message };
    });
  }

  /** Returns how long the configuration `key` is not written; undefined where it may be. */
  pauseOf(key: string): Millis | undefined {
    const at = this.#ports.clock.monotonic();
    const pause = this.#attempts.of(key, at);
    return pause === undefined ? undefined : millis(pause.until - at);
  }

  /** Reports whether another client wrote the configuration `key` again and again. */
  has(key: string): boolean {
    return this.#contested.has(key);
  }

  /** Forgets the configuration `key`, which is gone. */
  forget(key: string): void {
    this.#written.delete(key);
    this.#contested.delete(key);
    this.#attempts.sweep(this.#ports.clock.monotonic());
  }
}
