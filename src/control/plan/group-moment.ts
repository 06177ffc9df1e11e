import type { Clock } from '#base/clock.ts';
import { after, type Instant, type Monotonic, millis } from '#base/units.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import { slotsOf } from '#statefulset/slot.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import type { BudgetProof, BudgetSight } from '../budget/budget-sight.ts';
import type { Basis, SetProof } from '../consistent-read/basis.ts';
import type { ConsistentReads } from '../consistent-read/consistent-reads.ts';
import { groupScope, type SetSnapshot } from '../watch/group-sets.ts';
import type { OtherOwners } from '../watch/owners-of-sets.ts';
import type { OpenDisruptions } from '../write/open-disruptions.ts';

/**
 * A group as one instant shows it: its sets, their pods, what is leaving, and by what the view is proven, all taken in
 * one synchronous step (D-49). A proof vouches for nothing that was read before it, so a moment is never kept over an
 * `await`: after one, a new one is taken.
 */
export interface GroupMoment {
  /** The queue key of the group. */
  readonly key: string;
  readonly now: Instant;
  readonly monotonic: Monotonic;
  /** Its sets with their pods, sorted by name; empty when the group is gone. */
  readonly sets: readonly SetSnapshot[];
  /** uids of pods with a deletion that was sent and is not yet seen, or has no answer (D-7). */
  readonly leaving: ReadonlySet<string>;
  /** What else names a set, by its uid, so that no controller moves it (D-63); only sets that something else names. */
  readonly conflicts: Conflicts;
  /** By what each type of the view is proven. */
  readonly proof: SetProof & { readonly budgets: BudgetProof };
}

/** What else would move sets of a group, by uid of the set. */
export type Conflicts = ReadonlyMap<string, readonly string[]>;

/** Nothing else names any set; one for all moments, as they are compared. */
export const noConflicts: Conflicts = new Map();

/** What moments are made of. */
export interface MomentPorts {
  readonly clock: Clock;
  readonly pods: Informer<PodView>;
  readonly statefulSets: Informer<StatefulSetView>;
  readonly budgets: BudgetSight;
  readonly open: OpenDisruptions;
  readonly reads: ConsistentReads;
  /** What names sets besides their groups. */
  readonly owners: OtherOwners;
}

/**
 * Returns the group `key` as it is now: what the caches show, and where a consistent read is newer than a cache, that
 * read with every newer cached change over it (D-49).
 */
export function momentOf(key: string, ports: MomentPorts): GroupMoment {
  const { clock, pods, statefulSets, budgets, open, reads } = ports;
  const monotonic = clock.monotonic();
  const listers = { statefulSets: statefulSets.lister, pods: pods.lister };
  const { sets, proof } = reads.over(groupScope(key), listers);
  const leaving = open.leaving({
    now: monotonic,
    find: (pod) => pods.lister.get(pod.namespace, pod.name),
    hasSeen: (revision) => pods.freshness.hasSeen(revision),
  });
  return {
    key,
    now: clock.now(),
    monotonic,
    sets,
    leaving,
    conflicts: conflictsOf(sets, ports.owners),
    proof: { ...proof, budgets: budgets.proof(key) },
  };
}

function conflictsOf(sets: readonly SetSnapshot[], owners: OtherOwners): Conflicts {
  const found = sets
    .map(({ set }) => [set.uid, owners.conflicts(set)] as const)
    .filter(([, names]) => names.length > 0);
  return found.length === 0 ? noConflicts : new Map(found);
}

/** Returns what a decision on `moment` rests on; undefined while a type of its view is not proven at all. */
export function basisOf({ proof }: GroupMoment): Basis | undefined {
  const { pods, statefulSets, budgets } = proof;
  const isWhole = pods !== undefined && statefulSets !== undefined && budgets.kind !== 'unproven';
  return isWhole ? { pods, statefulSets, budgets } : undefined;
}

/** Returns the wall-clock time of a reading of the other clock. */
export function instantOf(time: Monotonic, { now, monotonic }: GroupMoment): Instant {
  return after(now, millis(time - monotonic));
}

/** Reports whether a slot of the group has no available pod: one is on its way, or a user is at work there. */
export function hasUnavailable({ sets, leaving, now }: GroupMoment): boolean {
  return sets.some((each) =>
    slotsOf({ ...each, leaving }, now).some(({ kind }) => kind !== 'available'),
  );
}
