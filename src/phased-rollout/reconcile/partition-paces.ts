import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import { after, type Instant, type Monotonic, millis } from '#base/units.ts';
import { WriteAttempts } from '#control/write/write-attempts.ts';
import type { PhasedDecision } from '../plan/plan-decision.ts';

type SetPartition = Extract<PhasedDecision, { kind: 'set-partition' }>;

/** When something is, by both clocks. */
interface Moment {
  readonly now: Instant;
  readonly monotonic: Monotonic;
}

/** A partition that may not be written again yet. */
interface PartitionPause {
  readonly until: Instant;
  readonly because: { readonly reason: 'PartitionContested'; readonly message: string };
}

/** How soon a partition is written again that another client keeps changing back: ever later, and reported. */
export class PartitionPaces {
  readonly #attempts = new WriteAttempts<number, 'PartitionContested'>();

  /** Notes that the partition was stored. */
  written({ set, from, to }: SetPartition, { now, monotonic: at }: Moment): void {
    this.#attempts.sweep(at);
    this.#attempts.written({ key: set.uid, to, at }, (writes, wait) => ({
      reason: 'PartitionContested',
      message:
        `the partition of ${set.name} was set to ${to} ${writes} times, and another client sets it back to ${from}; ` +
        `it is written again at ${formatUtcSeconds(after(now, wait))}`,
    }));
  }

  /** Returns why, and until when, one of `decisions` is not carried out; undefined where all may be. */
  pauseOf(
    decisions: readonly PhasedDecision[],
    { now, monotonic: at }: Moment,
  ): PartitionPause | undefined {
    for (const decision of decisions) {
      if (decision.kind !== 'set-partition') continue;
      const pause = this.#attempts.of(decision.set.uid, at);
      if (pause === undefined || pause.to !== decision.to) continue;
      return { until: after(now, millis(pause.until - at)), because: pause.because };
    }
    return undefined;
  }
}
