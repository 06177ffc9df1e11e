import type { JsonObject } from '#base/json.ts';
import { arrayAt, conditionOf, instantAt, objectAt, objectsIn, stringAt } from './parse-fields.ts';
import type { Unready } from './view.ts';

/** For which the kubelet tries again and again: no such container comes to run by itself, unless something else changes. */
const backOffs: ReadonlySet<string> = new Set([
  'CrashLoopBackOff',
  'ImagePullBackOff',
  'ErrImagePull',
  'InvalidImageName',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

/** For which every container waits once. */
const beginnings: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

/** Returns what the `status` says of a pod with a Ready condition other than True; frozen. What is absent or malformed is not so. */
export function parseUnready(status: JsonObject): Unready {
  const ready = conditionOf(status, 'Ready');
  const isUnscheduled = ready === undefined && isWithoutNode(status);
  const told = isUnscheduled ? conditionOf(status, 'PodScheduled') : ready;
  return Object.freeze({
    condition: conditions.find((each) => each === ready?.['status']),
    since: told === undefined ? undefined : instantAt(told, 'lastTransitionTime'),
    isUnscheduled,
    isBackingOff: waitingReasons(status).some((reason) => backOffs.has(reason)),
    isStartingUp: containersOf(status).some(isStartingUp),
    isOutOfReach: isOutOfReach(status, ready),
  });
}

const conditions = ['False', 'Unknown'] as const;

/**
 * Returns what keeps the pod of `status` from running, the most telling first: a reason that the kubelet repeats, then
 * another one for which a container waits, then why one ended, then why no node takes the pod.
 */
export function troubleOf(status: JsonObject): string | undefined {
  const reasons = waitingReasons(status);
  return (
    reasons.find((reason) => backOffs.has(reason)) ??
    reasons.find((reason) => !beginnings.has(reason)) ??
    endReasonOf(status) ??
    (isWithoutNode(status)
      ? stringAt(conditionOf(status, 'PodScheduled') ?? {}, 'reason')
      : undefined)
  );
}

/** Returns the containers, init containers first, as they come first; those that did their work are no trouble. */
function containersOf(status: JsonObject): readonly JsonObject[] {
  return ['initContainerStatuses', 'containerStatuses'].flatMap((name) =>
    objectsIn(arrayAt(status, name)),
  );
}

function waitingReasons(status: JsonObject): readonly string[] {
  return containersOf(status).flatMap(
    (container) => stringAt(objectAt(objectAt(container, 'state'), 'waiting'), 'reason') ?? [],
  );
}

function endReasonOf(status: JsonObject): string | undefined {
  for (const container of objectsIn(arrayAt(status, 'containerStatuses'))) {
    const reason = stringAt(objectAt(objectAt(container, 'state'), 'terminated'), 'reason');
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function isWithoutNode(status: JsonObject): boolean {
  return conditionOf(status, 'PodScheduled')?.['status'] === 'False';
}

/**
 * Reports whether a start-up probe goes on: the kubelet says `started: false` of a running container exactly while its
 * start-up probe has not succeeded.
 */
function isStartingUp(container: JsonObject): boolean {
  return container['started'] === false && objectAt(container, 'state')['running'] !== undefined;
}

/**
 * Reports whether the kubelet of the pod may not have written its status lately. A node that is lost shows in its pods in
 * one of these ways: Ready becomes Unknown; or the node controller turns it to False, and leaves all containers ready as
 * they were, which a kubelet does for a readiness gate only; or the pod is about to be taken away for it.
 *
 * @see https://kubernetes.io/docs/concepts/architecture/nodes/#node-controller
 */
function isOutOfReach(status: JsonObject, ready: JsonObject | undefined): boolean {
  if (ready?.['status'] === 'Unknown' || stringAt(status, 'reason') === 'NodeLost') return true;
  if (conditionOf(status, 'DisruptionTarget')?.['status'] === 'True') return true;
  const containers = objectsIn(arrayAt(status, 'containerStatuses'));
  const areReady = containers.length > 0 && containers.every((each) => each['ready'] === true);
  return areReady && ready?.['reason'] !== 'ReadinessGatesNotReady';
}
