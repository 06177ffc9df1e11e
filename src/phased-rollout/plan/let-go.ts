import { outdatedPods } from '#statefulset/revision.ts';
import type { PodView } from '#statefulset/view.ts';
import type { TargetSet } from '../snapshot.ts';
import { isRollback, type RolloutStatus } from '../status.ts';
import { isToBeChecked } from './made-again.ts';

/**
 * Returns the pod that goes when the partition of `target` is lowered next; undefined where none does. The controller takes
 * the highest ordinal first, one at a time.
 */
export function nextToGo(
  target: Pick<TargetSet, 'set' | 'pods'>,
  status: RolloutStatus,
): PodView | undefined {
  const { set, pods } = target;
  const { currentRevision, updateRevision } = set.status;
  const isAgain = isToBeChecked(target, status);
  if (!isAgain && isRollback(status.step?.status)) return podToGoBack(target);
  const outdated = outdatedPods(set, pods, updateRevision);
  // Pods that go back to what ran before are let go together.
  if (currentRevision === updateRevision && !isAgain) return outdated[0]?.pod;
  return outdated.find(({ index }) => index === set.spec.partition - 1)?.pod;
}

/**
 * Returns the pod that is replaced next while all go back to the current revision: one that is not ready before those
 * that are, then the highest ordinal; undefined where none runs another revision, but for those that are going.
 */
export function podToGoBack({ set, pods }: Pick<TargetSet, 'set' | 'pods'>): PodView | undefined {
  const others = outdatedPods(set, pods, set.status.currentRevision)
    .map(({ pod }) => pod)
    .filter(({ isTerminating }) => !isTerminating);
  return others.find(({ readySince }) => readySince === undefined) ?? others[0];
}
