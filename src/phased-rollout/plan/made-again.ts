import { parseOrdinal } from '#statefulset/parse-ordinal.ts';
import { isMadeOver, isOutdated } from '#statefulset/revision.ts';
import type { PodView, StatefulSetView } from '#statefulset/view.ts';
import type { TargetSet } from '../snapshot.ts';
import type { RolloutStatus, Step } from '../status.ts';

/**
 * Reports whether `target` is a set that was deleted and made again over its pods, some of which are yet to run its revision, which
 * was not checked for them. A set that has just been made reports its update revision as its current one, so that this looks like a
 * template that was taken back, where pods go back to what ran before without a check.
 */
export function isToBeChecked(
  { set, pods }: Pick<TargetSet, 'set' | 'pods'>,
  status: RolloutStatus,
): boolean {
  const { currentRevision, updateRevision } = set.status;
  if (updateRevision === '' || currentRevision !== updateRevision) return false;
  const older = pods.filter((pod) => isMadeOver(set, pod) && isCounted(set, pod));
  if (!older.some((pod) => isOutdated(pod, updateRevision))) return false;
  // Where another revision was being rolled out, one that older pods run is the one from before.
  const isAnother = status.updateRevision !== updateRevision;
  return !isAnother || older.every((pod) => isOutdated(pod, updateRevision));
}

function isCounted(set: StatefulSetView, pod: PodView): boolean {
  const index = (parseOrdinal(pod.name, set.name) ?? -1) - set.spec.ordinalsStart;
  return index >= 0 && index < set.spec.replicas;
}

/**
 * Returns the partition at which a rollout goes on whose set was made again, and with it its partition: the pods from there on run
 * the revision already, so that none goes by it. Never below the one of `step`, whose checks decide.
 */
export function resumedAt(
  { set, pods }: Pick<TargetSet, 'set' | 'pods'>,
  step: Step | undefined,
): number {
  const { updateRevision } = set.status;
  const { partition, ordinalsStart } = set.spec;
  const revisions = new Map(pods.map(({ name, revision }) => [name, revision]));
  let index = partition;
  while (index > (step?.partition ?? 0)) {
    if (revisions.get(`${set.name}-${ordinalsStart + index - 1}`) !== updateRevision) break;
    index -= 1;
  }
  return index;
}
