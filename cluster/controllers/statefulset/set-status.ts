import type { Instant, Millis } from '#base/units.ts';
import type { SetPod, SetSnapshot, SetStatus, SetView } from './views.ts';

/** Reports whether a pod counts as created: its phase is set (SS-10). */
export function isCreated(pod: SetPod): boolean {
  return pod.phase !== '';
}

/** Reports whether a pod runs and is Ready; terminating pods may be (SS-10). */
export function isReady(pod: SetPod): boolean {
  return pod.phase === 'Running' && pod.readySince !== undefined;
}

/** Reports whether a pod has been Ready for longer than `minReady`, strictly (SS-10). */
export function isAvailable(pod: SetPod, minReady: Millis, now: Instant): boolean {
  if (pod.readySince === undefined) return false;
  return minReady === 0 || pod.readySince + minReady < now;
}

/** Reports whether a pod is terminating or not available (SS-10). */
export function isUnavailable(pod: SetPod, minReady: Millis, now: Instant): boolean {
  return pod.isTerminating || !isAvailable(pod, minReady, now);
}

/** Returns the status of `set` before its pass acts (SS-11): counts over the pods that the cache shows. */
export function countPods(
  snapshot: SetSnapshot,
  pods: Iterable<SetPod>,
  seen: { readonly current: string; readonly update: string; readonly now: Instant },
): SetStatus {
  const { set } = snapshot;
  const counts = { replicas: 0, ready: 0, available: 0, current: 0, updated: 0 };
  for (const pod of pods) {
    if (isCreated(pod)) counts.replicas += 1;
    if (isReady(pod)) {
      counts.ready += 1;
      if (isAvailable(pod, set.minReady, seen.now)) counts.available += 1;
    }
    if (!isCreated(pod) || pod.isTerminating) continue;
    if (pod.revision === seen.current) counts.current += 1;
    if (pod.revision === seen.update) counts.updated += 1;
  }
  return {
    observedGeneration: set.generation,
    replicas: counts.replicas,
    readyReplicas: counts.ready,
    availableReplicas: counts.available,
    currentReplicas: counts.current,
    updatedReplicas: counts.updated,
    currentRevision: seen.current,
    updateRevision: seen.update,
    collisionCount: snapshot.collisionCount,
  };
}

/** Returns `status` after a rollout that is complete: the update revision becomes the current one (SS-18), never for OnDelete. */
export function promote(set: SetView, status: SetStatus): SetStatus {
  const isComplete =
    set.strategy === 'RollingUpdate' &&
    status.updatedReplicas === status.replicas &&
    status.readyReplicas === status.replicas &&
    status.replicas === set.replicas;
  if (!isComplete) return status;
  return {
    ...status,
    currentReplicas: status.updatedReplicas,
    currentRevision: status.updateRevision,
  };
}

/** Reports whether the status is worth a write: a number or a revision differs, or the generation is newer (SS-19). */
export function isStatusStale(old: SetStatus, next: SetStatus): boolean {
  return (
    next.observedGeneration > old.observedGeneration ||
    next.replicas !== old.replicas ||
    next.readyReplicas !== old.readyReplicas ||
    next.availableReplicas !== old.availableReplicas ||
    next.currentReplicas !== old.currentReplicas ||
    next.updatedReplicas !== old.updatedReplicas ||
    next.currentRevision !== old.currentRevision ||
    next.updateRevision !== old.updateRevision ||
    next.collisionCount !== old.collisionCount
  );
}
