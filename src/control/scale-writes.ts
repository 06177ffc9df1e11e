import type { Clock } from '#base/clock.ts';
import { after, type Instant, type Monotonic, millis, seconds } from '#base/units.ts';
import type { Freshness } from '#kubernetes/freshness.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import type { Scale } from './decision.ts';

/** How long a request without an answer may still take effect (D-7). */
const answerHorizon = seconds(120);

type Write =
  | { readonly kind: 'answered'; readonly revision: string }
  | {
      readonly kind: 'unanswered';
      readonly from: number;
      /** The lowest count that any request since asked for. */
      readonly to: number;
      readonly sentAt: Monotonic;
    };

/** A request without an answer that lowers the replicas of a set, if it is carried out yet. */
export interface OpenScale {
  readonly to: number;
  /** When it is settled by time. */
  readonly until: Instant;
}

/**
 * Writes of replicas that the cache may not show yet (reliability.md rule 4). Until it does, the group must be left
 * alone: it looks wholly available while pods of it are going. By uid of the set; one for all groups.
 */
export class ScaleWrites {
  readonly #clock: Clock;
  readonly #freshness: Freshness;
  readonly #writes = new Map<string, Write>();

  /** @param freshness of the cache of StatefulSets */
  constructor(clock: Clock, freshness: Freshness) {
    this.#clock = clock;
    this.#freshness = freshness;
  }

  /** The server stored it at `revision`. */
  answered({ set }: Scale, revision: string): void {
    this.#writes.set(set.uid, { kind: 'answered', revision });
  }

  /** No answer will come; the server may have stored it, or may yet do so. What raises a count disrupts nothing. */
  unanswered({ set, from, to }: Scale, sentAt: Monotonic): void {
    if (to >= from) return;
    const before = this.#writes.get(set.uid);
    const isSame = before?.kind === 'unanswered' && before.from === from;
    const lowest = isSame ? Math.min(before.to, to) : to;
    this.#writes.set(set.uid, { kind: 'unanswered', from, to: lowest, sentAt });
  }

  /** The revision of a write to one of `sets` that the cache does not show yet; undefined when it shows all. */
  unseen(sets: readonly StatefulSetView[]): string | undefined {
    for (const { uid } of sets) {
      const write = this.#writes.get(uid);
      if (write?.kind !== 'answered') continue;
      if (!this.#freshness.hasSeen(write.revision)) return write.revision;
      this.#writes.delete(uid);
    }
    return undefined;
  }

  /** What may still lower some of `sets`, by name of the set. */
  open(sets: readonly StatefulSetView[]): ReadonlyMap<string, OpenScale> {
    const found = new Map<string, OpenScale>();
    const now = this.#clock.monotonic();
    for (const { uid, name, spec } of sets) {
      const write = this.#writes.get(uid);
      if (write?.kind !== 'unanswered') continue;
      const left = write.sentAt + answerHorizon - now;
      // Once the count has changed, the test in the patch fails.
      if (left <= 0 || spec.replicas !== write.from) this.#writes.delete(uid);
      else found.set(name, { to: write.to, until: after(this.#clock.now(), millis(left)) });
    }
    return found;
  }
}
