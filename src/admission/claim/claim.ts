import { type Millis, seconds } from '#base/units.ts';

/** The ConfigMap of the claims, in the operator's namespace: one key a group. */
export const CLAIMS_NAME = 'rollout-operator-claims';

/** How long a claim is held by those who see it, unless it is given up before. */
export const claimLife: Millis = seconds(30);

/** What is in the ConfigMap for one group: which set of it may be scaled down. */
export interface GroupClaim {
  /** Name of the StatefulSet. */
  readonly set: string;
  /** Identity of the process that wrote it, new at every start. */
  readonly replica: string;
  /** RFC 3339. For people: no other process believes the clock that it was written by. */
  readonly until: string;
  /** `metadata.generation` of the set when it was claimed: it moves when the scale-down is stored. */
  readonly generation: number;
  /** Whether its review goes on, or has ended with leave to scale down. */
  readonly state: 'under-way' | 'allowed';
}

/** What was found under a key. */
export type StoredClaim =
  | { readonly kind: 'none' }
  | { readonly kind: 'claim'; readonly claim: GroupClaim }
  | { readonly kind: 'corrupt'; readonly why: string };

/** Which group of which namespace is claimed. */
export interface ClaimedGroup {
  readonly namespace: string;
  /** Empty: the set is in no group, and claimed by itself. */
  readonly group: string;
  readonly set: string;
}

/**
 * Returns the key of a group in the ConfigMap: its name, which begins with a letter or digit as every label value does. What
 * begins with an underscore is a set in no group, or is in another namespace than `home`, the operator's.
 */
export function claimKey({ namespace, group, set }: ClaimedGroup, home: string): string {
  const name = group === '' ? `_set.${set}` : group;
  // No name of a namespace has a dot.
  return namespace === home ? name : `_in.${namespace}.${name}`;
}

/** Returns `claim` as it is stored. */
export function formatClaim({ set, replica, until, generation, state }: GroupClaim): string {
  return JSON.stringify({ set, replica, until, generation, state });
}
