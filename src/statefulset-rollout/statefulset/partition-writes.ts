import { type Millis, type Monotonic, seconds } from '#base/units.ts';
import { compareRevisions } from '#kubernetes/revision.ts';

/** A set as it was when its partition was written. */
interface WrittenSet {
  readonly uid: string;
  readonly resourceVersion: string;
}

/** What has no answer takes effect no later than that (D-50). */
const longest: Millis = seconds(120);

/** Partitions that were written, and that no cache shows yet: which pods a controller takes by them is not known. */
export class PartitionWrites {
  /** By uid of the set. */
  readonly #sent = new Map<string, { readonly revision: string; readonly at: Monotonic }>();

  /** A write leaves that names the version of `set`. */
  sent({ uid, resourceVersion }: WrittenSet, at: Monotonic): void {
    this.#sent.set(uid, { revision: resourceVersion, at });
  }

  /** It did nothing. */
  refused(uid: string): void {
    this.#sent.delete(uid);
  }

  /** Whether a write may have changed `set` that this state of it does not show (D-52). */
  isUnseen({ uid, resourceVersion }: WrittenSet, now: Monotonic): boolean {
    const sent = this.#sent.get(uid);
    if (sent === undefined) return false;
    const isShown = compareRevisions(resourceVersion, sent.revision) > 0;
    if (!isShown && now - sent.at <= longest) return true;
    this.#sent.delete(uid);
    return false;
  }
}
