import type { Clock } from '#base/clock.ts';
import type { Monotonic } from '#base/units.ts';
import { compareRevisions, newerRevision, RevisionWentBackError } from '../revision.ts';
import type { Freshness, OwnWrite, Proof } from './freshness.ts';

interface Waiter {
  readonly revision: string;
  readonly resolve: () => void;
}

/** What the informer must come to show. */
interface Owed {
  readonly revision: string;
  readonly since: Monotonic;
}

interface Mark {
  readonly at: Monotonic;
  readonly revision: string;
}

const maxPending = 64;
const maxOwed = 64;
const maxMarks = 256;
const markSpacing = 100;

/**
 * What one informer's view is proven to contain (D-3…D-6).
 *
 * @param subject names the resource type in errors, such as `pods`
 */
export class InformerFreshness implements Freshness {
  readonly #clock: Clock;
  readonly #subject: string;
  #proof: Proof | undefined;
  #seen: string | undefined;
  /** The newest revision that a write of ours was answered with; outlives relists. */
  #written: string | undefined;
  /** Unproven requests, by sending time and so by revision ascending: one that is dominated is never kept. */
  #pending: Proof[] = [];
  /** What had been seen at some times, oldest first. Outlives relists: a restored etcd shows in one. */
  #marks: Mark[] = [];
  #highest: string | undefined;
  readonly #waiters = new Set<Waiter>();
  readonly #onOwed: () => void;
  /** What is known to be at the server and was not shown, oldest knowledge first. */
  #owed: readonly Owed[] = [];

  /** @param onOwed called when there is something more that the informer must come to show */
  constructor(clock: Clock, subject: string, onOwed: () => void = () => undefined) {
    this.#clock = clock;
    this.#subject = subject;
    this.#onOwed = onOwed;
  }

  get proof(): Proof | undefined {
    return this.#proof;
  }

  get written(): string | undefined {
    return this.#written;
  }

  get seen(): string | undefined {
    return this.#seen;
  }

  get highest(): string | undefined {
    return this.#highest;
  }

  get owedSince(): Monotonic | undefined {
    return this.#owed[0]?.since;
  }

  hasSeen(revision: string): boolean {
    return this.#seen !== undefined && compareRevisions(this.#seen, revision) >= 0;
  }

  async whenSeen(revision: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.hasSeen(revision)) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { revision, resolve };
    const abort = (): void => reject(signal.reason);
    this.#waiters.add(waiter);
    signal.addEventListener('abort', abort, { once: true });
    try {
      await promise;
    } finally {
      this.#waiters.delete(waiter);
      signal.removeEventListener('abort', abort);
    }
  }

  delivered(revision: string): void {
    this.#seen = newerRevision(this.#seen, revision);
    this.#mark(this.#seen);
    if (this.#pending.length > 0) this.#settlePending();
    if (this.#owed.length > 0)
      this.#owed = this.#owed.filter((owed) => !this.hasSeen(owed.revision));
    for (const waiter of this.#waiters) {
      if (this.hasSeen(waiter.revision)) waiter.resolve();
    }
  }

  removedWhileListing(revision: string): void {
    this.#mark(revision);
  }

  reset(): void {
    this.#proof = undefined;
    this.#seen = undefined;
    this.#pending = [];
  }

  listed(revision: string, sentAt: Monotonic): void {
    this.#refuseOlder(revision, sentAt);
    this.#add({ revision, sentAt, by: 'streaming-list' });
    this.delivered(revision);
  }

  ownWrite(write: OwnWrite): void {
    // An answer that repeats the revision changed nothing, and may come from a lagging cache (D-5).
    if (compareRevisions(write.answered, write.before) <= 0) return;
    this.#add({ revision: write.answered, sentAt: write.sentAt, by: 'own-write' });
    this.#owe(write.answered);
    this.#written = newerRevision(this.#written, write.answered);
  }

  consistentRead(revision: string, sentAt: Monotonic, newest?: string): void {
    this.#refuseOlder(revision, sentAt);
    this.#add({ revision, sentAt, by: 'consistent-read' });
    if (newest !== undefined) this.#owe(newest);
  }

  #owe(revision: string): void {
    // When full, the newest is left out: what is owed longest counts.
    if (this.hasSeen(revision) || this.#owed.length >= maxOwed) return;
    this.#owed = [...this.#owed, { revision, since: this.#clock.monotonic() }];
    this.#onOwed();
  }

  #add(candidate: Proof): void {
    if (this.#proof !== undefined && candidate.sentAt <= this.#proof.sentAt) return;
    if (this.hasSeen(candidate.revision)) {
      this.#prove(candidate);
      return;
    }
    if (this.#pending.some((other) => dominates(other, candidate))) return;
    const useful = this.#pending.filter((other) => !dominates(candidate, other));
    // When full, the newest goes: the older ones are seen sooner, so that steady writes cannot starve the proof.
    if (useful.length >= maxPending) useful.pop();
    useful.push(candidate);
    this.#pending = useful.sort((a, b) => a.sentAt - b.sentAt);
  }

  #settlePending(): void {
    const proven = this.#pending.filter((pending) => this.hasSeen(pending.revision));
    const newest = proven.at(-1);
    if (newest !== undefined) this.#prove(newest);
  }

  #prove(proof: Proof): void {
    this.#proof = proof;
    this.#pending = this.#pending.filter((pending) => pending.sentAt > proof.sentAt);
  }

  #mark(seen: string): void {
    const highest = newerRevision(this.#highest, seen);
    if (highest === this.#highest) return;
    this.#highest = highest;
    const at = this.#clock.monotonic();
    const before = this.#marks.at(-2);
    // The newest mark moves along until it is worth keeping: in between, less is claimed than was seen.
    if (before !== undefined && at - before.at < markSpacing) this.#marks.pop();
    this.#marks.push({ at, revision: this.#highest });
    if (this.#marks.length > maxMarks) this.#marks.shift();
  }

  /** Refuses a read that is older than what was seen before it was sent; later events overtake answers. */
  #refuseOlder(revision: string, sentAt: Monotonic): void {
    const seen = this.#marks.findLast((mark) => mark.at < sentAt)?.revision;
    if (seen !== undefined && compareRevisions(revision, seen) < 0) {
      throw new RevisionWentBackError(this.#subject, revision, seen);
    }
  }
}

/** Reports whether `left` makes `right` useless: it was sent no earlier, and is seen no later. */
function dominates(left: Proof, right: Proof): boolean {
  return left.sentAt >= right.sentAt && compareRevisions(left.revision, right.revision) <= 0;
}
