import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { seconds } from '#base/units.ts';
import type { SharedTexts } from '#kubernetes/shared-config-map.ts';
import { type Deadline, startDeadline } from '../review/deadline.ts';
import { CLAIMS_NAME, formatClaim, type GroupClaim } from './claim.ts';
import type { ClaimStore } from './claim-store.ts';
import { untilSwapped } from './compare-and-swap.ts';
import { parseClaim } from './parse-claim.ts';
import type { Turns } from './turns.ts';

/** What {@link HeldClaim} works with. */
export interface HeldClaimOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly store: ClaimStore;
  /** Those of all writes of this process to the ConfigMap. */
  readonly turns: Turns;
  readonly key: string;
  /** Its state does not matter. */
  readonly claim: GroupClaim;
}

/** Time for giving a claim up, or taking it back, whatever became of the review. */
const patience = seconds(2);

/** Whether the claim was replaced; else what is in its place already. */
type Swap =
  | { readonly isDone: true }
  | { readonly isDone: false; readonly found: string | undefined };

/** A claim that one review of this process holds. */
export class HeldClaim {
  readonly #options: HeldClaimOptions;
  /** As it stands while the review goes on, and once it was allowed; nothing else writes either. */
  readonly #underWay: string;
  readonly #allowed: string;
  #mayBeAllowed = false;
  /** The ConfigMap of the last write; undefined: to be read. */
  #map: SharedTexts | undefined;
  #replaced: string | undefined;

  constructor(options: HeldClaimOptions) {
    this.#options = options;
    this.#underWay = formatClaim({ ...options.claim, state: 'under-way' });
    this.#allowed = formatClaim({ ...options.claim, state: 'allowed' });
  }

  /** Takes note of the ConfigMap as the claim was written into it. */
  stands(map: SharedTexts): void {
    this.#map = map;
  }

  /** Takes note of what the claim replaced, and {@link giveUp} puts back. */
  replaces(text: string | undefined): void {
    this.#replaced = text;
  }

  /**
   * Writes down that the review has ended well, so that the server may ask any replica again for the same set.
   *
   * @returns false when the claim is not there any more
   * @throws what the client throws; the reason of the deadline when that is over
   */
  async allow(deadline: Deadline): Promise<boolean> {
    this.#mayBeAllowed = true;
    return (await this.#swap(this.#allowed, deadline)).isDone;
  }

  /**
   * Takes {@link allow} back before something is undone that another review of the same set could meanwhile rely on.
   *
   * @returns false when such a review holds the group by now. Never rejects: where that cannot be found out, none does
   */
  async reopen(): Promise<boolean> {
    if (!this.#mayBeAllowed) return true;
    try {
      const swap = await this.#patiently((deadline) => this.#swap(this.#underWay, deadline));
      if (swap.isDone) return true;
      const other = parseClaim(swap.found);
      return other.kind !== 'claim' || other.claim.set !== this.#options.claim.set;
    } catch (error) {
      this.#failed('the claim of a scale-down cannot be taken back', error);
      return true;
    }
  }

  /** Gives the group to others, as far as it is still held. Never rejects: what cannot be given up lapses. */
  async giveUp(): Promise<void> {
    try {
      await this.#patiently((deadline) => this.#swap(this.#replaced, deadline));
    } catch (error) {
      this.#failed('the claim of a scale-down cannot be given up, and lapses', error);
    }
  }

  /** Puts `text` in place of the claim, where that is still stored. */
  async #swap(text: string | undefined, deadline: Deadline): Promise<Swap> {
    const { turns, clock } = this.#options;
    const leave = await turns.take(deadline);
    try {
      return await untilSwapped(() => this.#swapped(text, deadline), clock, deadline);
    } finally {
      leave();
    }
  }

  async #swapped(text: string | undefined, deadline: Deadline): Promise<Swap> {
    const { store, key } = this.#options;
    const map = this.#map ?? (await store.read(deadline));
    this.#map = undefined;
    const found = map.texts.get(key);
    if (found !== this.#underWay && found !== this.#allowed) return { isDone: false, found };
    if (found === text) return { isDone: true };
    this.#map = await store.write(map, new Map([[key, text]]), deadline);
    return { isDone: true };
  }

  async #patiently<T>(work: (deadline: Deadline) => Promise<T>): Promise<T> {
    const { clock } = this.#options;
    const deadline = startDeadline(clock, clock.monotonic(), patience);
    try {
      return await work(deadline);
    } finally {
      deadline.release();
    }
  }

  #failed(message: string, error: unknown): void {
    const { log, key } = this.#options;
    log.warn(message, { name: CLAIMS_NAME, key, err: errorOf(error) });
  }
}
