import { type Millis, type Monotonic, millis } from '#base/units.ts';
import { claimLife } from './claim.ts';

/** How long a text that is not there any more is remembered: it may be put back. */
const memory = millis(2 * claimLife);

/** Since when this process has seen the very texts of the claims. */
export class ClaimSightings {
  readonly #seen = new Map<string, Map<string, Monotonic>>();

  /** Takes note of all that stands in the ConfigMap, as an answer of `now` has it. */
  see(texts: ReadonlyMap<string, string>, now: Monotonic): void {
    for (const [key, text] of texts) {
      const known = this.#seen.get(key) ?? new Map<string, Monotonic>();
      this.#seen.set(key, known);
      if (!known.has(text)) known.set(text, now);
    }
    for (const [key, known] of this.#seen) this.#forget(key, known, { texts, now });
  }

  /** How long `text` has been seen under `key`; 0 if never. */
  watched(key: string, text: string | undefined, now: Monotonic): Millis {
    const since = text === undefined ? undefined : this.#seen.get(key)?.get(text);
    return millis(since === undefined ? 0 : now - since);
  }

  /** The keys of `texts` whose claims have lapsed. */
  lapsed(texts: ReadonlyMap<string, string>, now: Monotonic): readonly string[] {
    return [...texts]
      .filter(([key, text]) => this.watched(key, text, now) >= claimLife)
      .map(([key]) => key);
  }

  #forget(
    key: string,
    known: Map<string, Monotonic>,
    { texts, now }: { readonly texts: ReadonlyMap<string, string>; readonly now: Monotonic },
  ): void {
    for (const [text, since] of known) {
      if (text !== texts.get(key) && now - since > memory) known.delete(text);
    }
    if (known.size === 0) this.#seen.delete(key);
  }
}
