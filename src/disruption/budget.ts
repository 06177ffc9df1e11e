import { assertNever } from '#base/assert-never.ts';
import type { Millis } from '#base/units.ts';
import type { StatefulSetView } from '#statefulset/view.ts';

/** Which object of the API a budget is; its ledger belongs to this uid, not to the name. */
export interface BudgetRef {
  readonly kind: 'ZoneAwarePodDisruptionBudget' | 'ZoneDisruptionBudget';
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** How many pods may be disturbed at once. Each API rounds its percentages its own way. */
export type Limit =
  /** A number of pods; what is below 0 counts as 0. */
  | { readonly kind: 'count'; readonly count: number }
  /** A share of the candidate's own set, rounded down, at least 1 where there is anything to share. */
  | { readonly kind: 'percent-of-own-set'; readonly percent: number }
  /** A share of what all sets should have together, rounded up (ZDB-8). */
  | { readonly kind: 'percent-of-all-sets'; readonly percent: number };

/** What excludes each other under a budget. */
export type Mode =
  /** Each set is a zone: every other zone is wholly undisturbed, and the own one below the limit. */
  | { readonly kind: 'zones-of-sets' }
  /** The same, where the zone of a pod is that of its node (ZDB-9). */
  | {
      readonly kind: 'zones-of-nodes';
      /** The zone of the pod, or where it last was; undefined where that is unknown. Called once a slot and moment. */
      readonly zoneOf: (podName: string) => string | undefined;
    }
  /**
   * Each set is a zone, and pods of one partition stand for one another: fewer of them than the limit are disturbed
   * in the other zones. The own zone is not looked at, so that nothing limits how many partitions of it are down at once.
   */
  | {
      readonly kind: 'partitions';
      /** The partition in the name of a pod; undefined where there is none. Called once a slot and moment. */
      readonly partitionOf: (podName: string) => string | undefined;
      /** How long a pod of another zone must have been ready to count as ready; 0: no time. */
      readonly crossZoneDelay: Millis;
    };

/** A disruption budget of either API, parsed. */
export interface Budget {
  readonly ref: BudgetRef;
  readonly limit: Limit;
  readonly mode: Mode;
}

/**
 * Returns how many pods `limit` means where the candidate is of `own`.
 *
 * @param own undefined where it is not under the budget
 * @param sets all sets under the budget; undefined where they could not be read
 * @returns an integer >= 0; undefined where it is a share of what is undefined
 */
export function limitOf(
  limit: Limit,
  own: StatefulSetView | undefined,
  sets: readonly StatefulSetView[] | undefined,
): number | undefined {
  switch (limit.kind) {
    case 'count':
      return Math.max(0, limit.count);
    case 'percent-of-own-set':
      return own === undefined ? undefined : shareOf(own, limit.percent);
    case 'percent-of-all-sets':
      return sets === undefined ? undefined : shareOfAll(sets, limit.percent);
    default:
      return assertNever(limit);
  }
}

function shareOf({ spec, status }: StatefulSetView, percent: number): number {
  const replicas = Math.min(spec.replicas, status.replicas);
  if (percent <= 0 || replicas <= 0) return 0;
  // In integers: 0.29 * 100 is 28.999…, which rounds down to the wrong pod.
  return Math.max(1, Math.floor((percent * replicas) / 100));
}

function shareOfAll(sets: readonly StatefulSetView[], percent: number): number {
  const replicas = sets.reduce((sum, { spec }) => sum + spec.replicas, 0);
  return Math.max(0, Math.ceil((percent * replicas) / 100));
}

/** Returns what a rollout asks for where a budget's limit is 0: its own limit, or 1 where partitions are protected. */
export function rolloutOverride(mode: Mode, maxUnavailable: number): number {
  return mode.kind === 'partitions' ? 1 : maxUnavailable;
}
