import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import { after, type Instant, type Millis, type Monotonic } from '#base/units.ts';
import { because } from '#control/decision/refs.ts';
import { WriteAttempts } from '#control/write/write-attempts.ts';
import type { Pace } from '../snapshot.ts';

/** One write of a count, as far as its pace depends on it. */
export interface PacedWrite {
  /** Names what is written, such as the uid of a set. */
  readonly key: string;
  /** The same for people, as the subject of a sentence. */
  readonly subject: string;
  /** What it said before. */
  readonly from: number;
  readonly to: number;
}

/** One instant on both clocks: waits are measured by the one, and stated by the other. */
export interface PaceMoment {
  readonly now: Instant;
  readonly at: Monotonic;
}

/** How soon a count may be written again (KW-22), in words: see {@link WriteAttempts}. */
export class WritePaces {
  readonly #attempts = new WriteAttempts<number>();

  /** Notes that the write was refused for `why`. @returns until when it is not repeated */
  refused({ key, subject, from, to }: PacedWrite, why: string, moment: PaceMoment): Pace {
    return this.#attempts.refused({ key, to, at: moment.at }, (wait) => {
      const message =
        `${subject} stays at ${from} instead of ${to} replicas, as the write was refused: ${why}; ` +
        `it is tried again at ${told(wait, moment)}`;
      return because('ScaleRefused', message);
    });
  }

  /** Notes that the write was stored. */
  written({ key, subject, from, to }: PacedWrite, moment: PaceMoment): void {
    this.#attempts.written({ key, to, at: moment.at }, (writes, wait) => {
      const message =
        `${subject} was given ${to} replicas ${writes} times, and another client changes them back to ${from}; ` +
        `they are written again at ${told(wait, moment)}`;
      return because('ReplicasContested', message);
    });
  }

  /** Returns what may not be repeated yet about `key`. */
  of(key: string, at: Monotonic): Pace | undefined {
    return this.#attempts.of(key, at);
  }

  /** Forgets what is too old to matter; looks at all of it now and then only. */
  sweep(at: Monotonic): void {
    this.#attempts.sweep(at);
  }
}

function told(wait: Millis, { now }: PaceMoment): string {
  return formatUtcSeconds(after(now, wait));
}
