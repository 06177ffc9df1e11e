import type { Monotonic } from '#base/units.ts';

/** What proves that a view is at least as new as `revision`, which was current at some time after `sentAt`. */
export interface Proof {
  readonly revision: string;
  /** When the proving request was sent (D-3). */
  readonly sentAt: Monotonic;
  readonly by: 'streaming-list' | 'own-write' | 'consistent-read';
}

/** A write of ours that was answered. */
export interface OwnWrite {
  readonly sentAt: Monotonic;
  /** The object's revision that the write was decided on. */
  readonly before: string;
  /** The revision in the answer. */
  readonly answered: string;
}

/**
 * What one informer's view is proven to contain (D-3…D-6). Informers report what they delivered; writers and
 * readers report their requests; a proof exists once the one has caught up with the other.
 */
export interface Freshness {
  /** The newest proof of the whole cache, by sending time; undefined when there is none since the last relist. */
  readonly proof: Proof | undefined;
  /** The newest revision delivered since the last relist; undefined before the first list. */
  readonly seen: string | undefined;
  /**
   * The newest revision that the cache was ever shown, relists notwithstanding. A read that is older lacks something that
   * the cache knows, such as a deletion.
   */
  readonly highest: string | undefined;
  /**
   * Since when something is known to be at the server that the informer has not shown: the answer of an own write, or an
   * object of a consistent read. Undefined while nothing is. Outlives relists.
   */
  readonly owedSince: Monotonic | undefined;
  /** The newest revision that a write of ours was answered with; a read that is older shows the past. */
  readonly written: string | undefined;
  /** Reports whether the informer has shown `revision` or a newer one. */
  hasSeen(revision: string): boolean;
  /**
   * Resolves once the informer has shown `revision` or a newer one, at once if it has: a key whose own write is
   * awaited is woken by this. Waiting outlives relists. @throws the reason of `signal` when that aborts first
   */
  whenSeen(revision: string, signal: AbortSignal): Promise<void>;
  /** Notes that the informer delivered everything up to `revision`. */
  delivered(revision: string): void;
  /** Notes that a list that is not whole yet showed that something was gone as of `revision`: no older read knows. */
  removedWhileListing(revision: string): void;
  /** Notes that the view starts again; every proof so far, and all pending, are void (D-5). */
  reset(): void;
  /**
   * Notes that a streaming list begun without a resourceVersion at `sentAt` is complete up to `revision`.
   * @throws {RevisionWentBackError} when it is older than what had been seen when it was sent (D-6)
   */
  listed(revision: string, sentAt: Monotonic): void;
  /** Becomes a proof once `answered` was seen; ignored unless `answered` is greater than `before`. */
  ownWrite(write: OwnWrite): void;
  /**
   * Notes that a list without resourceVersion, sent at `sentAt`, was read at `revision`; becomes a proof once the informer
   * has seen that revision. @throws {RevisionWentBackError} when it is older than what had been seen when it was sent (D-6);
   * what was delivered since then may well be newer
   *
   * @param newest the newest revision of an object that the list showed, which the informer must come to show. That of
   * the list itself says nothing of the kind: the informer learns of it by a bookmark only
   */
  consistentRead(revision: string, sentAt: Monotonic, newest?: string): void;
}
