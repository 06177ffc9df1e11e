import type { JsonObject } from '#base/json.ts';
import { objectsAt, textAt } from '#cluster/json/read-json.ts';

/** What a place of a zone looks like from the server's side. */
export type PodState = 'ready' | 'starting' | 'broken' | 'terminating' | 'gone';

/** Returns the state of a stored pod; only `ready` counts as available. */
export function podState(pod: JsonObject | undefined): PodState {
  if (pod === undefined) return 'gone';
  if (isTerminating(pod)) return 'terminating';
  if (isReady(pod)) return 'ready';
  return troubleOf(pod) === '' && textAt(pod, 'status', 'phase') !== 'Failed'
    ? 'starting'
    : 'broken';
}

/** Reports whether the deletion of `pod` has begun. */
export function isTerminating(pod: JsonObject): boolean {
  return textAt(pod, 'metadata', 'deletionTimestamp') !== '';
}

/** Reports whether a pod is being deleted, or is not there. */
export function isGoing(pod: JsonObject | undefined): boolean {
  return pod === undefined || isTerminating(pod);
}

/** Returns the ordinal at the end of the name of a pod. */
export function ordinalOf(pod: string): number {
  return Number(pod.slice(pod.lastIndexOf('-') + 1));
}

/** Reports whether the Ready condition of `pod` is True. */
export function isReady(pod: JsonObject | undefined): boolean {
  return objectsAt(pod, 'status', 'conditions').some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  );
}

/** Returns why a container of `pod` waits, unless that is an ordinary step of a start; empty when none does. */
export function troubleOf(pod: JsonObject): string {
  for (const status of objectsAt(pod, 'status', 'containerStatuses')) {
    const reason = textAt(status, 'state', 'waiting', 'reason');
    if (reason !== '' && reason !== 'ContainerCreating' && reason !== 'PodInitializing') {
      return reason;
    }
  }
  return '';
}

/** Returns the revision that `pod` was made from; empty when it carries none. */
export function revisionOf(pod: JsonObject): string {
  return textAt(pod, 'metadata', 'labels', 'controller-revision-hash');
}

/** Returns the image of the first container of a pod or of a pod template. */
export function imageOf(podOrTemplate: JsonObject): string {
  return textAt(objectsAt(podOrTemplate, 'spec', 'containers')[0], 'image');
}

/** Returns uid of the owner that controls `pod`; empty when none does. */
export function controllerUid(pod: JsonObject): string {
  const owner = objectsAt(pod, 'metadata', 'ownerReferences').find(
    (reference) => reference['controller'] === true,
  );
  return textAt(owner, 'uid');
}
