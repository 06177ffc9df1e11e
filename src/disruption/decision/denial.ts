import type { Instant, Millis } from '#base/units.ts';
import type { Obstacle } from '../obstacle.ts';

/** Which slots were counted. */
export type CountedSpan =
  /** A zone; undefined: what is disturbed where the zone is unknown, which may be any. */
  | { readonly kind: 'zone'; readonly zone: string | undefined }
  /** The replicas of a partition in all zones but the candidate's. */
  | { readonly kind: 'partition'; readonly partition: string };

/** Why a pod may not be disturbed. */
export type Denial =
  /** The budget allows no disruption at all. */
  | { readonly kind: 'nothing-allowed' }
  | { readonly kind: 'sets-unreadable' }
  /** Fewer sets than two are under the budget, so that there is no other zone. */
  | { readonly kind: 'too-few-sets'; readonly found: number }
  /** The pods of this set could not be read, or are too many to be looked at. */
  | { readonly kind: 'pods-unreadable'; readonly set: string }
  /** The budget selects the pod, and not the set that controls it: its zone is not seen. */
  | { readonly kind: 'set-not-governed' }
  /** The pod is not in the view; another one may be in its place. */
  | { readonly kind: 'pod-not-seen'; readonly seenUid: string | undefined }
  /** Its name has no partition. */
  | { readonly kind: 'no-partition' }
  /** The zone of its node is unknown (EV-15). */
  | { readonly kind: 'no-zone' }
  /** As much is disturbed as may be. */
  | {
      readonly kind: 'disturbed';
      readonly span: CountedSpan;
      readonly notReady: number;
      /** Slots without a pod that is seen. */
      readonly unknown: number;
      /** How many may be, with the candidate not counted. */
      readonly tolerated: number;
      readonly obstacles: readonly Obstacle[];
      /** From when on this is no longer in the way if nothing else changes; undefined: only an event helps. */
      readonly until: Instant | undefined;
    }
  /**
   * Evictions of these slots were allowed for so long, and no pod of them has gone: others have their turn before one is
   * allowed again. `until` then at the latest.
   */
  | {
      readonly kind: 'unused';
      /** Undefined: all that the budget governs. */
      readonly slots: CountedSpan | undefined;
      readonly allowed: Millis;
      readonly until: Instant;
    }
  /** The ledger has no room for another reservation. */
  | { readonly kind: 'ledger-full'; readonly reservations: number; readonly mostBytes: number };
