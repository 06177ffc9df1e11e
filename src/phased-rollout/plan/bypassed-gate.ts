import type { StatefulSetView } from '#statefulset/view.ts';
import type { Step } from '../status.ts';
import { nameAt, type Pass } from './plan-outcome.ts';

/** That another client has let pods go in mid-rollout. */
export interface Bypass {
  /** The partition before. */
  readonly from: number;
  readonly message: string;
}

/**
 * Returns how the partition was lowered by another client since `step`; undefined where it was not. A step of ours lowers it
 * by one, and what it lowers it from is stored before.
 */
export function bypassOf({ target: { set } }: Pass, step: Step | undefined): Bypass | undefined {
  const { partition, replicas } = set.spec;
  const from = Math.min(step?.partition ?? 0, replicas);
  if (from - partition < 2) return undefined;
  return { from, message: bypassText(set, from) };
}

/** Returns which pods another client has let go by lowering the partition of `set`, which was `from`, to what it is. */
export function bypassText(set: StatefulSetView, from: number): string {
  const { partition } = set.spec;
  const [first, last] = [nameAt(set, partition), nameAt(set, from - 1)];
  return (
    `The partition of ${set.name} went from ${from} to ${partition}, ${writerText(set.writers)}: ` +
    `${first} to ${last} may run ${set.status.updateRevision} without a check. It is not taken back`
  );
}

function writerText({ partition, newest }: NonNullable<StatefulSetView['writers']> = {}): string {
  if (partition !== undefined) return `which "${partition}" has written`;
  // Who takes the field out does not have it, and the default that comes in its place belongs to nobody.
  const last = newest === undefined ? '' : `; "${newest}" wrote the set last`;
  return `as another client has written, or taken rollingUpdate out${last}`;
}
