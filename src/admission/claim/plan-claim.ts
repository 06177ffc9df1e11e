import { assertNever } from '#base/assert-never.ts';
import type { Millis } from '#base/units.ts';
import { claimLife, type GroupClaim, type StoredClaim } from './claim.ts';

/** Who asks for a group: a review of `set` in the process `replica`, which has no other review of that group under way. */
export interface Claimant {
  readonly set: string;
  readonly replica: string;
  /** Whether the claim of its own that is there, if any, has replaced one of a set that was allowed to shrink. */
  readonly isProtecting: boolean;
}

/** Whether a group may be claimed. */
export type ClaimPlan =
  | { readonly kind: 'free' }
  /** `isEnded` says whether it is over already, from a look at the set that was allowed to shrink. */
  | { readonly kind: 'held'; readonly by: GroupClaim }
  | { readonly kind: 'held-if-not-ended'; readonly by: GroupClaim }
  | { readonly kind: 'unreadable'; readonly why: string };

/**
 * Reports whether `claimant` may overwrite what is stored.
 *
 * A claim lapses when this process has watched that very text for 30 s. Its `until` decides nothing: the clock of its
 * writer may be behind, and ours ahead, and then two would hold the group; a claim without end would block it the other
 * way round. Who watches from the first look never ends a claim too soon, and waits for 30 s at most.
 *
 * @param watched how long this process has seen that very text, on a clock that never steps
 */
export function planClaim(stored: StoredClaim, claimant: Claimant, watched: Millis): ClaimPlan {
  if (stored.kind === 'none' || watched >= claimLife) return { kind: 'free' };
  if (stored.kind === 'corrupt') return { kind: 'unreadable', why: stored.why };
  const { claim } = stored;
  switch (claim.state) {
    case 'under-way':
      return isLeftover(claim, claimant) ? { kind: 'free' } : { kind: 'held', by: claim };
    case 'allowed':
      // The server asks again for the same set when its version has moved, and need not ask the same replica.
      if (claim.set === claimant.set) return { kind: 'free' };
      return { kind: 'held-if-not-ended', by: claim };
    default:
      return assertNever(claim.state);
  }
}

/**
 * Reports whether it is one of our own that could not be given up: its review has ended, as one of a group goes on here at a
 * time. Where an earlier review of its set allowed what may still be on its way, it stands for that one, too.
 */
function isLeftover(claim: GroupClaim, { set, replica, isProtecting }: Claimant): boolean {
  return claim.replica === replica && (!isProtecting || claim.set === set);
}

/** How far a set has come. */
export interface ClaimProgress {
  /** `metadata.generation`. */
  readonly generation: number;
  /** `status.observedGeneration`; 0 where there is none. */
  readonly observedGeneration: number;
  /** `status.replicas`: pods that there are, those that are terminating too. */
  readonly replicas: number;
  /** `spec.replicas`. */
  readonly wanted: number;
}

/**
 * Reports whether the scale-down that `claim` allowed needs no protection any more: its set is gone, or its spec has moved,
 * the controller has acted on that, and no pod is left to take. (Between two pods that go one after the other a set looks
 * whole.) A spec that moved for another reason does as well: the server decides on one version, and asks again before it
 * stores on another.
 *
 * @param set as a consistent read has it now; undefined: there is none
 */
export function hasEnded(claim: GroupClaim, set: ClaimProgress | undefined): boolean {
  if (set === undefined) return true;
  if (set.generation === claim.generation || set.observedGeneration < set.generation) return false;
  return set.replicas <= set.wanted;
}
