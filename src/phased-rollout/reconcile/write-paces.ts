import { isDeepStrictEqual } from 'node:util';
import type { Because } from '#base/because.ts';
import type { JsonObject } from '#base/json.ts';
import { formatUtcSeconds } from '#base/time/utc-seconds.ts';
import { after, type Instant, millis } from '#base/units.ts';
import type { LookedAt } from '#control/plan/set-holds.ts';
import { WriteAttempts } from '#control/write/write-attempts.ts';
import type { RolloutView } from '../parse-resource.ts';
import type { PhasedDecision } from '../plan/plan-decision.ts';

/** When something is, by both clocks. */
type Moment = Pick<LookedAt, 'now' | 'monotonic'>;

type ContestedReason = 'WriteContested' | 'PartitionContested';

/** What may not be written again yet, and why. */
export interface ContestedWrite {
  readonly until: Instant;
  readonly because: Because<ContestedReason>;
}

/** A status that was stored. */
interface StoredStatus {
  readonly key: string;
  readonly rollout: Pick<RolloutView, 'uid' | 'name' | 'writtenStatus'>;
  /** As the server has it now. */
  readonly stored: JsonObject;
}

/**
 * How soon a partition, a mark of ours or a status is written again that another client keeps undoing: ever later, and reported.
 * Both sides would otherwise answer one another as fast as the API server lets them.
 */
export class WritePaces {
  readonly #attempts = new WriteAttempts<number | string, ContestedReason>();
  /** What the server answered to the last status, by key: any other value is that of another client. */
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

  #count({ key, to, reason, dispute }: Mark, { now, monotonic: at }: Moment): void {
    this.#attempts.sweep(at);
    this.#attempts.written({ key, to, at }, (writes, wait) => {
      const until = formatUtcSeconds(after(now, wait));
      return { reason, message: `${dispute(writes)}; it is written again at ${until}` };
    });
  }

  #pause({ key, to }: Mark, { now, monotonic: at }: Moment): ContestedWrite | undefined {
    const pause = this.#attempts.of(key, at);
    if (pause === undefined || pause.to !== to) return undefined;
    return { until: after(now, millis(pause.until - at)), because: pause.because };
  }
}

/** Something that is written. */
interface Mark {
  readonly key: string;
  /** Another value is free at once. */
  readonly to: number | string;
  readonly reason: ContestedReason;
  /** Says what was written so many times, and who undoes it. */
  readonly dispute: (writes: number) => string;
}

/** What is deleted is not there to be undone. */
function markOf(decision: PhasedDecision, uid: string): Mark | undefined {
  switch (decision.kind) {
    case 'adopt':
    case 'release': {
      const { set } = decision;
      return markNamed(`${decision.kind} ${set.uid}`, `the annotation of ${set.name}`);
    }
    case 'add-finalizer':
      return markNamed(`finalizer ${uid}`, 'the finalizer of the PhasedRollout');
    case 'set-partition':
      return partitionMark(decision);
    default:
      return undefined;
  }
}

function markNamed(key: string, what: string): Mark {
  return {
    key,
    to: what,
    reason: 'WriteContested',
    dispute: (writes) => `${what} was written ${writes} times, and another client undoes it`,
  };
}

function partitionMark({
  set,
  from,
  to,
}: Extract<PhasedDecision, { kind: 'set-partition' }>): Mark {
  return {
    key: `partition ${set.uid}`,
    to,
    reason: 'PartitionContested',
    dispute: (writes) =>
      `the partition of ${set.name} was set to ${to} ${writes} times, and another client sets it back to ${from}`,
  };
}

function statusMark({ uid, name }: Pick<RolloutView, 'uid' | 'name'>): Mark {
  return markNamed(`status ${uid}`, `the status of ${name}`);
}
