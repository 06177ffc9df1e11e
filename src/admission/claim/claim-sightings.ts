import { hash } from 'node:crypto';
import { type Millis, type Monotonic, millis } from '#base/units.ts';
import { claimLife, type GroupClaim } from './claim.ts';
import { parseClaim } from './parse-claim.ts';

/** How long a text that is not there any more is remembered: it may be put back. */
const memory = millis(2 * claimLife);

/** A claim that let a set shrink, and its text. */
interface Allowance {
  readonly text: string;
  readonly claim: GroupClaim;
}

/** Since when this process has seen the very texts of the claims. */
export class ClaimSightings {
  /** Keyed by the key of the claim and by {@link print}: a client may write texts of 1 MB again and again. */
  readonly #seen = new Map<string, Map<string, Monotonic>>();
  /** The last claim that let a set shrink, unless it was taken back or another set has the group. */
  readonly #allowed = new Map<string, Allowance>();

  /** Takes note of all that is in the ConfigMap, as an answer of `now` has it. */
  see(texts: ReadonlyMap<string, string>, now: Monotonic): void {
    for (const [key, text] of texts) {
      const known = this.#seen.get(key) ?? new Map<string, Monotonic>();
      this.#seen.set(key, known);
      const seen = print(text);
      if (!known.has(seen)) known.set(seen, now);
      this.#keepAllowed(key, text);
    }
    for (const [key, { text }] of this.#allowed) {
      if (this.watched(key, text, now) >= claimLife) this.#allowed.delete(key);
    }
    for (const [key, known] of this.#seen) this.#forget(key, known, { texts, now });
  }

  /** Takes note that this process itself has removed what was under `key`. */
  removed(key: string): void {
    this.#allowed.delete(key);
  }

  /**
   * Returns what is under `key`; where nothing does, the claim that let a set shrink and was there less than 30 s ago.
   * No replica removes such a claim, so a user has deleted it, or the whole ConfigMap, and the set shrinks none the less.
   */
  standing(key: string, texts: ReadonlyMap<string, string>, now: Monotonic): string | undefined {
    const text = texts.get(key);
    if (text !== undefined) return text;
    const lost = this.#allowed.get(key)?.text;
    return this.watched(key, lost, now) < claimLife ? lost : undefined;
  }

  /** Returns how long `text` has been seen under `key`; 0 if never. */
  watched(key: string, text: string | undefined, now: Monotonic): Millis {
    const since = text === undefined ? undefined : this.#seen.get(key)?.get(print(text));
    return millis(since === undefined ? 0 : now - since);
  }

  /** Returns the keys of `texts` whose claims have lapsed. */
  lapsed(texts: ReadonlyMap<string, string>, now: Monotonic): readonly string[] {
    return [...texts]
      .filter(([key, text]) => this.watched(key, text, now) >= claimLife)
      .map(([key]) => key);
  }

  #keepAllowed(key: string, text: string): void {
    const allowed = this.#allowed.get(key);
    if (allowed?.text === text) return;
    const found = parseClaim(text);
    if (found.kind !== 'claim') return;
    const { claim } = found;
    if (claim.state === 'allowed') this.#allowed.set(key, { text, claim });
    else if (allowed !== undefined && !protects(claim, allowed)) this.#allowed.delete(key);
  }

  #forget(
    key: string,
    known: Map<string, Monotonic>,
    { texts, now }: { readonly texts: ReadonlyMap<string, string>; readonly now: Monotonic },
  ): void {
    const text = texts.get(key);
    const current = text === undefined ? undefined : print(text);
    for (const [seen, since] of known) {
      if (seen !== current && now - since > memory) known.delete(seen);
    }
    if (known.size === 0) this.#seen.delete(key);
  }
}

/** Returns what stands for `text` where that is too long to be kept. */
function print(text: string): string {
  return hash('sha256', text, 'base64');
}

/**
 * Reports whether a review that goes on is another one of the set that was allowed to shrink: its denial puts that claim
 * back.
 */
function protects(underWay: GroupClaim, { claim }: Allowance): boolean {
  const isTakenBack = underWay.replica === claim.replica && underWay.until === claim.until;
  return underWay.set === claim.set && !isTakenBack;
}
