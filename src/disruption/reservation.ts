import { assertNever } from '#base/assert-never.ts';
import type { Instant } from '#base/units.ts';

/** On whose behalf a pod is disturbed. */
export type Asker = 'rollout' | 'eviction' | 'scale-down';

/** Who asks, and in which term. */
export type Asking =
  /** Another client evicts the pod, or does not. */
  | { readonly by: 'eviction' }
  /** An intent of our own, in a term of the Lease; in one of the process, where there is no Lease. */
  | { readonly by: 'rollout' | 'scale-down'; readonly term: string };

/** One permission to disturb a pod, and when it was given. Those of evictions end by time, too; our own intents never do. */
export type Claim = Asking & { readonly at: Instant };

/** Where a pod stands: its name is the slot's, whatever the uid of the pod in it. */
export interface SlotRef {
  readonly pod: string;
  /** The name of the set; undefined for a pod that nothing controls. */
  readonly set: string | undefined;
  /** Undefined where it is not known. */
  readonly zone: string | undefined;
}

/** That a pod is given away. Its slot counts as disturbed, once, until the reservation ends by evidence (BUDG-4). */
export interface Reservation {
  /** The uid of the pod. */
  readonly uid: string;
  readonly slot: SlotRef;
  /** Those that may disturb it: at least one, and at most one by each asker. */
  readonly claims: readonly Claim[];
}

/** Returns `reservation` with `claim`, in the place of one by the same asker. */
export function withClaim(reservation: Reservation, claim: Claim): Reservation {
  const { claims } = reservation;
  const isThere = claims.some(({ by }) => by === claim.by);
  const next = isThere
    ? claims.map((old) => (old.by === claim.by ? claim : old))
    : [...claims, claim];
  return { ...reservation, claims: next };
}

/** Reports whether it is for whichever pod is in the slot: a scale-down names none, and takes the successor as well. */
export function takesAnyPod({ claims }: Reservation): boolean {
  return claims.some(({ by }) => by === 'scale-down');
}

/** Returns the term of an intent of our own; undefined for other people's. */
export function termOf(asking: Asking): string | undefined {
  switch (asking.by) {
    case 'eviction':
      return undefined;
    case 'rollout':
    case 'scale-down':
      return asking.term;
    default:
      return assertNever(asking);
  }
}
