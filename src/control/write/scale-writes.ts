import type { Clock } from '#base/clock.ts';
import { after, type Instant, type Monotonic, millis, seconds } from '#base/units.ts';
import type { Freshness } from '#kubernetes/informer/freshness.ts';
import { compareRevisions } from '#kubernetes/revision.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import type { Scale, SetRef } from '../decision/decision.ts';
import { setRef } from '../decision/refs.ts';

/** How long a request without an answer may still take effect (D-7). */
const answerHorizon = seconds(120);

/** A write that the server stored, until the cache shows it. */
interface Stored {
  readonly revision: string;
  readonly at: Monotonic;
  readonly since: Instant;
}

/** A request that lowers a count, and got no answer. */
interface Lost {
  /** The revision of the set that it was decided on. */
  readonly revision: string;
  readonly from: number;
  readonly to: number;
  readonly sentAt: Monotonic;
}

/** A count that we lowered. */
interface Lowered {
  readonly to: number;
  /** The revision that the server answered. */
  readonly revision: string;
  readonly at: Monotonic;
  /** When the set was first seen with more replicas again that its controller has observed. */
  readonly raisedAt?: Monotonic;
}

/** A request without an answer that may still lower the replicas of a set. */
export interface OpenScale {
  /** The lowest count that any such request asks for. */
  readonly to: number;
  /** When it is settled by time. */
  readonly until: Instant;
}

/** A write of ours that the cache does not show yet. */
export interface UnseenScale {
  readonly set: SetRef;
  /** The revision that the server answered. */
  readonly revision: string;
  /** When it was answered, by the clock that never steps; for ages. */
  readonly answeredAt: Monotonic;
  /** When it was answered, for people; the same whenever it is asked for. */
  readonly since: Instant;
}

/**
 * Writes of replicas that the cache may not show yet. Until it does, the group must be left
 * alone: it looks wholly available while pods of it are going. By uid of the set; one for all groups.
 */
export class ScaleWrites {
  readonly #clock: Clock;
  readonly #freshness: Freshness;
  readonly #stored = new Map<string, Stored>();
  /** Kept in the order of sending. */
  readonly #lost = new Map<string, readonly Lost[]>();
  readonly #lowered = new Map<string, Lowered>();

  /** @param freshness of the cache of StatefulSets */
  constructor(clock: Clock, freshness: Freshness) {
    this.#clock = clock;
    this.#freshness = freshness;
  }

  /** Notes that the server stored it at `revision`. What got no answer before may still be carried out after it. */
  answered({ set, from, to }: Scale, revision: string): void {
    const [at, since] = [this.#clock.monotonic(), this.#clock.now()];
    if (to < from) this.#lowered.set(set.uid, { to, revision, at });
    this.#stored.set(set.uid, { revision, at, since });
  }

  /** Notes that no answer will come; the server may have stored it, or may yet do so. What raises a count disrupts nothing. */
  unanswered({ set, from, to, revision }: Scale, sentAt: Monotonic): void {
    if (to >= from) return;
    const earlier = this.#lost.get(set.uid) ?? [];
    this.#lost.set(set.uid, [...earlier, { revision, from, to, sentAt }]);
  }

  /** Returns the first write to one of `sets` that the cache does not show yet; undefined when it shows all. */
  unseen(sets: readonly StatefulSetView[]): UnseenScale | undefined {
    for (const set of sets) {
      const write = this.#stored.get(set.uid);
      if (write === undefined) continue;
      const { revision, at, since } = write;
      if (!this.#freshness.hasSeen(revision)) {
        return { set: setRef(set), revision, answeredAt: at, since };
      }
      this.#stored.delete(set.uid);
    }
    return undefined;
  }

  /**
   * Returns what may still lower some of `sets` as they are given, by name of the set. A request that finds another count
   * than the one that it tests is refused, and could land again as soon as the count returns: it is remembered until time
   * has settled it.
   */
  open(sets: readonly StatefulSetView[]): ReadonlyMap<string, OpenScale> {
    const found = new Map<string, OpenScale>();
    const [monotonic, now] = [this.#clock.monotonic(), this.#clock.now()];
    for (const set of sets) {
      const landing = this.#remembered(set.uid, monotonic).filter((each) => canLand(each, set));
      if (landing.length === 0) continue;
      const to = Math.min(...landing.map((each) => each.to));
      const end = Math.max(...landing.map(({ sentAt }) => sentAt + answerHorizon));
      found.set(set.name, { to, until: after(now, millis(end - monotonic)) });
    }
    return found;
  }

  /**
   * Returns the time from which the pods of `set` must have been seen for what we lowered to show in them; undefined when we lowered
   * nothing. A set that was raised again shows pods that are going and look well: they have to be seen after its controller
   * has observed the higher count, as until then it may still take some.
   */
  podsAfter(set: StatefulSetView): Monotonic | undefined {
    const lowered = this.#lowered.get(set.uid);
    if (lowered === undefined) return undefined;
    const { to, revision, at, raisedAt } = lowered;
    if (raisedAt !== undefined) return raisedAt;
    const isRaised =
      set.spec.replicas > to &&
      set.status.observedGeneration >= set.generation &&
      compareRevisions(set.resourceVersion, revision) > 0;
    if (!isRaised) return at;
    const now = this.#clock.monotonic();
    this.#lowered.set(set.uid, { ...lowered, raisedAt: now });
    return now;
  }

  /** Reports whether a request that lowers a count got no answer, and may still be carried out. */
  hasUnanswered(): boolean {
    const now = this.#clock.monotonic();
    return [...this.#lost.keys()].some((uid) => this.#remembered(uid, now).length > 0);
  }

  /** Forgets the set, which is gone: no request names its uid any more. */
  forget(uid: string): void {
    this.#stored.delete(uid);
    this.#lost.delete(uid);
    this.#lowered.delete(uid);
  }

  #remembered(uid: string, now: Monotonic): readonly Lost[] {
    const all = this.#lost.get(uid);
    if (all === undefined) return [];
    const left = all.filter(({ sentAt }) => now < sentAt + answerHorizon);
    if (left.length === 0) this.#lost.delete(uid);
    else if (left.length < all.length) this.#lost.set(uid, left);
    return left;
  }
}

/** Reports whether the test in the patch may hold: only what is newer than what was decided on shows that it does not (D-52). */
function canLand({ revision, from }: Lost, set: StatefulSetView): boolean {
  return set.spec.replicas === from || compareRevisions(set.resourceVersion, revision) <= 0;
}
