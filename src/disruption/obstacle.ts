import type { Instant } from '#base/units.ts';
import type { Asker } from './reservation.ts';

/** Why a slot counts as disturbed. */
export type Disturbance =
  /** No pod of the set is there. */
  | 'missing'
  /** The set that had the pod is gone, so that nobody makes it again. */
  | 'left'
  /** The set's status counts more pods than are seen, and more than its spec wants: whichever they are. */
  | 'uncounted'
  /** Another zone has no slot of this partition at all. */
  | 'no-peer'
  /** The pod is going, or its slot is about to go in a scale-down. */
  | 'terminating'
  | 'not-ready'
  /** Ready, but not yet for `minReadySeconds`. */
  | 'settling'
  /** Ready, but not yet for the delay across zones. */
  | 'in-delay'
  /** Undisturbed as far as can be seen, and given away. */
  | 'reserved';

/** One slot that counts as disturbed, as it is reported. */
export interface Obstacle {
  /** The name of the pod that should be there; of the set where no pod can be named. */
  readonly pod: string;
  readonly why: Disturbance;
  /** Who has a reservation for it; empty where there is none. */
  readonly reservedBy: readonly Asker[];
  /** When it ends if nothing else changes; undefined: only an event ends it. */
  readonly until: Instant | undefined;
}

/** Reports whether the reference calls it `unknown`; otherwise it says `not ready`. */
export function isUnknown({ why }: Obstacle): boolean {
  return why === 'missing' || why === 'left' || why === 'uncounted' || why === 'no-peer';
}
