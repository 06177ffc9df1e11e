import { setRef } from '#control/decision/refs.ts';
import { type IndexedPod, outdatedPods } from '#statefulset/revision.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import type { RolloutProgress } from '../progress.ts';
import type { RolledSet } from '../snapshot.ts';
import type { RolloutAction } from './plan-decision.ts';
import type { RolloutPass } from './plan-outcome.ts';
import type { Place } from './plan-places.ts';

/** A set that pins pods, and how it is looked at. */
export interface Pinned {
  readonly pass: RolloutPass;
  readonly target: RolledSet;
  /** The highest ordinal first. */
  readonly places: readonly Place[];
  /** So many of the lowest are pinned, by what the set says. */
  readonly partition: number;
  /** So many of the lowest are not wanted new. */
  readonly bottom: number;
  /** Whether pods are made again on one revision alone, wherever they are. */
  readonly hasOneRevision: boolean;
}

/** Returns whether the partition of `set` pins pods: the rollout has it do so, and the set shows it. */
export function isPinned(
  { partition }: Pick<RolloutProgress, 'partition'>,
  { spec }: Pick<StatefulSetView, 'spec'>,
): boolean {
  return partition !== undefined && spec.updateStrategy === 'RollingUpdate';
}

/** Returns the action that has `set` pin its `to` lowest pods; undefined: none, as it does not roll by itself any more. */
export function settingPartition(
  set: StatefulSetView,
  to: number | undefined,
): { readonly action: RolloutAction; readonly changes: Partial<RolloutProgress> } {
  const isLowering = to !== undefined && !(to >= set.spec.partition && isRolling(set));
  return {
    action: {
      kind: 'set-partition',
      set: setRef(set),
      revision: set.resourceVersion,
      to,
      isLowering,
    },
    // That pods are pinned no more is remembered once the set shows it.
    changes: to === undefined ? {} : { partition: to },
  };
}

function isRolling({ spec }: StatefulSetView): boolean {
  return spec.updateStrategy === 'RollingUpdate';
}

/** Returns `target` as it pins its pods, of which `places` are all. */
export function pinnedOf(pass: RolloutPass, target: RolledSet, places: readonly Place[]): Pinned {
  const { spec, status } = target.set;
  return {
    pass,
    target,
    places,
    partition: Math.min(spec.partition, places.length),
    bottom: places.filter(({ isTarget }) => !isTarget).length,
    hasOneRevision: status.currentRevision === status.updateRevision,
  };
}

/** Returns the pod that goes next when the partition of `target` is lowered far enough; undefined where none does. */
export function nextUnpinned({
  set,
  pods,
}: Pick<RolledSet, 'set' | 'pods'>): IndexedPod | undefined {
  return outdatedPods(set, pods, set.status.updateRevision).find(
    ({ index, pod }) => index < set.spec.partition && !pod.isTerminating,
  );
}
