import { isDeepStrictEqual } from 'node:util';
import type { Because } from '#base/because.ts';
import type { JsonObject } from '#base/json.ts';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import { after, type Instant, type Monotonic, millis } from '#base/units.ts';
import { WriteAttempts } from '#control/write/write-attempts.ts';
import type { RolloutView } from '../parse-resource.ts';
import type { PhasedDecision } from '../plan/plan-decision.ts';

/** When something is, by both clocks. */
interface Moment {
  readonly now: Instant;
  readonly monotonic: Monotonic;
}

/** What may not be written again yet, and why. */
export interface ContestedWrite {
  readonly until: Instant;
  readonly because: Because<'WriteContested'>;
}

/** A status that was stored. */
interface StoredStatus {
  readonly key: string;
  readonly rollout: Pick<RolloutView, 'uid' | 'name' | 'writtenStatus'>;
  /** As the server has it now. */
  readonly stored: JsonObject;
}

/**
 * How soon a mark of ours or a status is written again that another client keeps undoing: ever later, and reported. Both sides
 * would otherwise answer one another as fast as the API server lets them.
 */
export class WritePaces {
  readonly #attempts = new WriteAttempts<string, 'WriteContested'>();
  /** What the server answered to the last status, by key: whatever else stands there is of another owner. */
  readonly #stored = new Map<string, { readonly uid: string; readonly status: JsonObject }>();

  /** Notes that `decision` was carried out for the PhasedRollout `uid`. */
  written(decision: PhasedDecision, uid: string, at: Moment): void {
    const mark = markOf(decision, uid);
    if (mark !== undefined) this.#count(mark, at);
  }

  /** Notes that a status was stored where `rollout` had another. */
  statusStored({ key, rollout, stored }: StoredStatus, at: Moment): void {
    if (this.#isForeign(key, rollout)) this.#count(statusMark(rollout), at);
    this.#stored.set(key, { uid: rollout.uid, status: stored });
  }

  /** Returns why, and until when, `decision` is not carried out for the PhasedRollout `uid`; undefined where it may be. */
  pauseOf(decision: PhasedDecision, uid: string, at: Moment): ContestedWrite | undefined {
    const mark = markOf(decision, uid);
    return mark === undefined ? undefined : this.#pause(mark, at);
  }

  /** Returns why, and until when, no status of `rollout` is stored; undefined where one may be. */
  statusPauseOf(
    key: string,
    rollout: StoredStatus['rollout'],
    at: Moment,
  ): ContestedWrite | undefined {
    return this.#isForeign(key, rollout) ? this.#pause(statusMark(rollout), at) : undefined;
  }

  /** Forgets the PhasedRollout `key`, which is gone. */
  forget(key: string): void {
    this.#stored.delete(key);
  }

  /** Reports whether another client has written the status since it was stored last. */
  #isForeign(key: string, { uid, writtenStatus }: StoredStatus['rollout']): boolean {
    const known = this.#stored.get(key);
    return known?.uid === uid && !isDeepStrictEqual(known.status, writtenStatus);
  }

  #count({ key, what }: Mark, { now, monotonic: at }: Moment): void {
    this.#attempts.sweep(at);
    this.#attempts.written({ key, to: what, at }, (writes, wait) => ({
      reason: 'WriteContested',
      message:
        `${what} was written ${writes} times, and another client undoes it; ` +
        `it is written again at ${formatUtcSeconds(after(now, wait))}`,
    }));
  }

  #pause({ key }: Mark, { now, monotonic: at }: Moment): ContestedWrite | undefined {
    const pause = this.#attempts.of(key, at);
    if (pause === undefined) return undefined;
    return { until: after(now, millis(pause.until - at)), because: pause.because };
  }
}

/** Something that is written, and what messages call it. */
interface Mark {
  readonly key: string;
  readonly what: string;
}

/** Partitions have paces of their own, and what is deleted is not there to be undone. */
function markOf(decision: PhasedDecision, uid: string): Mark | undefined {
  switch (decision.kind) {
    case 'adopt':
    case 'release': {
      const { set } = decision;
      const what = `the annotation of ${set.name}`;
      return { key: `${decision.kind} ${set.uid}`, what };
    }
    case 'add-finalizer':
      return { key: `finalizer ${uid}`, what: 'the finalizer of the PhasedRollout' };
    default:
      return undefined;
  }
}

function statusMark({ uid, name }: Pick<RolloutView, 'uid' | 'name'>): Mark {
  return { key: `status ${uid}`, what: `the status of ${name}` };
}
