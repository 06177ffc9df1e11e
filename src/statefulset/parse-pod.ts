import type { JsonObject } from '#base/json.ts';
import { type Millis, millis } from '#base/units.ts';
import { arrayAt, instantAt, objectAt, objectsIn, stringAt } from './parse-fields.ts';
import type { PodView } from './view.ts';

const phases = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'] as const;

/**
 * The view of a Pod as the API server sent it, frozen. Total: what is absent or malformed counts as not there,
 * so an unreadable pod is never ready (style.md §3: fail closed).
 */
export function parsePod(object: JsonObject): PodView {
  const metadata = objectAt(object, 'metadata');
  const status = objectAt(object, 'status');
  const containers = objectsIn(arrayAt(status, 'containerStatuses'));
  const ready = readyConditionOf(status);
  const isTrue = ready?.['status'] === 'True';
  return Object.freeze({
    namespace: stringAt(metadata, 'namespace') ?? '',
    name: stringAt(metadata, 'name') ?? '',
    uid: stringAt(metadata, 'uid') ?? '',
    resourceVersion: stringAt(metadata, 'resourceVersion') ?? '',
    controllerUid: controllerUidOf(metadata),
    revision: stringAt(objectAt(metadata, 'labels'), 'controller-revision-hash'),
    isTerminating: stringAt(metadata, 'deletionTimestamp') !== undefined,
    phase: phases.find((phase) => phase === stringAt(status, 'phase')) ?? 'Unknown',
    readySince: isTrue ? instantAt(ready, 'lastTransitionTime') : undefined,
    unreadyAfter: isTrue || ready === undefined ? undefined : sinceStart(ready, status),
    areContainersReady: containers.every(isContainerReady),
    trouble: troubleOf(containers),
  });
}

function controllerUidOf(metadata: JsonObject): string | undefined {
  const owners = objectsIn(arrayAt(metadata, 'ownerReferences'));
  const controller = owners.find((owner) => owner['controller'] === true);
  return controller === undefined ? undefined : stringAt(controller, 'uid');
}

function readyConditionOf(status: JsonObject): JsonObject | undefined {
  const conditions = objectsIn(arrayAt(status, 'conditions'));
  return conditions.find((condition) => condition['type'] === 'Ready');
}

function sinceStart(condition: JsonObject, status: JsonObject): Millis | undefined {
  const at = instantAt(condition, 'lastTransitionTime');
  const startedAt = instantAt(status, 'startTime');
  return at === undefined || startedAt === undefined ? undefined : millis(at - startedAt);
}

function isContainerReady(container: JsonObject): boolean {
  return container['ready'] === true && objectAt(container, 'state')['running'] !== undefined;
}

function troubleOf(containers: readonly JsonObject[]): string | undefined {
  for (const container of containers) {
    const state = objectAt(container, 'state');
    const reason =
      stringAt(objectAt(state, 'waiting'), 'reason') ??
      stringAt(objectAt(state, 'terminated'), 'reason');
    if (reason !== undefined && reason !== 'ContainerCreating' && reason !== 'PodInitializing') {
      return reason;
    }
  }
  return undefined;
}
