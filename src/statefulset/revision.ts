import type { PodView, StatefulSetView } from './view.ts';

/**
 * The revision that pods of `set` should run; undefined while it is unknown: the controller has not observed the
 * newest spec, or has not reported a revision (reliability.md §2, `target`).
 */
export function targetRevision(set: StatefulSetView): string | undefined {
  const { observedGeneration, updateRevision } = set.status;
  if (observedGeneration < set.generation || updateRevision === '') return undefined;
  return updateRevision;
}

/** Whether `pod` runs another revision than `target`; a pod without a revision label does (RC-42, scenario 27). */
export function isOutdated(pod: PodView, target: string): boolean {
  return pod.revision !== target;
}
