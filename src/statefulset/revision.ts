import { parseOrdinal } from './parse-ordinal.ts';
import type { Ordinal, PodView, StatefulSetView } from './view.ts';

/**
 * Returns the revision that pods of `set` should run; undefined while it is unknown: the controller has not observed the
 * newest spec, or has not reported a revision (`target` in docs/rules/words.md).
 */
export function targetRevision(set: StatefulSetView): string | undefined {
  const { observedGeneration, updateRevision } = set.status;
  if (observedGeneration < set.generation || updateRevision === '') return undefined;
  return updateRevision;
}

/** Reports whether `pod` runs another revision than `target`; a pod without a revision label does (RC-42, scenario 27). */
export function isOutdated(pod: PodView, target: string): boolean {
  return pod.revision !== target;
}

/**
 * Returns the revision of the pod that the StatefulSet controller makes at `ordinal` when the one there goes; undefined
 * while that is not known. Below the partition of a `RollingUpdate` set that is the current revision; OnDelete has no
 * partition.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#partitions
 */
export function successorRevision(set: StatefulSetView, ordinal: Ordinal): string | undefined {
  const target = targetRevision(set);
  const { updateStrategy, partition, ordinalsStart } = set.spec;
  const isKept = updateStrategy === 'RollingUpdate' && ordinal < ordinalsStart + partition;
  if (target === undefined || !isKept) return target;
  return set.status.currentRevision === '' ? undefined : set.status.currentRevision;
}

/** A pod, and its place in the set. */
export interface IndexedPod {
  readonly pod: PodView;
  /** From the first ordinal. */
  readonly index: number;
}

/** Returns the pods of `set`, among `pods`, on another revision than `wanted`, the highest ordinal first. */
export function outdatedPods(
  set: StatefulSetView,
  pods: readonly PodView[],
  wanted: string,
): readonly IndexedPod[] {
  const { ordinalsStart, replicas } = set.spec;
  return pods
    .filter(({ revision }) => revision !== wanted)
    .map((pod) => ({ pod, index: (parseOrdinal(pod.name, set.name) ?? -1) - ordinalsStart }))
    .filter(({ index }) => index >= 0 && index < replicas)
    .toSorted((one, other) => other.index - one.index);
}

/**
 * Reports whether `pod` is older than `set`: another set of that name made it, which was deleted without its pods, and `set` has
 * adopted it. Of two that were made in the same second, or whose times cannot be read, nobody can tell: no.
 */
export function isMadeOver(set: Pick<StatefulSetView, 'createdAt'>, pod: PodView): boolean {
  if (set.createdAt === undefined || pod.createdAt === undefined) return false;
  return pod.createdAt < set.createdAt;
}

/** The longest value that a label may have. */
const longestLabel = 63;

/**
 * Returns why no pod of `set` can have its update revision, as a sentence; undefined where pods can. The StatefulSet controller writes
 * the name of the revision into the label `controller-revision-hash`, and of a name that is too long for a label the API server
 * creates no pod.
 */
export function unusableRevision({ name, status }: StatefulSetView): string | undefined {
  const { updateRevision } = status;
  if (updateRevision.length <= longestLabel) return undefined;
  return (
    `no pod can be created with revision ${updateRevision}: its name is the label controller-revision-hash, ` +
    `which may have ${longestLabel} characters, and has ${updateRevision.length}; ` +
    `a set whose name is shorter than ${name} has no such revision`
  );
}
