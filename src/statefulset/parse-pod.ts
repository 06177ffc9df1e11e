import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import {
  arrayAt,
  conditionOf,
  controllerUidOf,
  instantAt,
  objectAt,
  objectsIn,
  stringAt,
  stringMapAt,
} from './parse-fields.ts';
import { parseUnready, troubleOf } from './parse-unready.ts';
import { podLabels } from './pod-labels.ts';
import type { PodView } from './view.ts';

/** When the pod became ready, as the peer noted it; this operator reads it, and writes none. */
export const READY_TIME = 'grafana.com/ready-time';

const phases = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'] as const;

/**
 * Returns the view of a Pod as the API server sent it, frozen. Total: what is absent or malformed counts as not there, so an
 * unreadable pod is never ready: doubt counts against a disruption.
 */
export function parsePod(object: JsonObject): PodView {
  const metadata = objectAt(object, 'metadata');
  const status = objectAt(object, 'status');
  const { readySince, unready, unreadyAfter } = readinessOf(status);
  const areContainersReady = areAllReady(status);
  const name = stringAt(metadata, 'name') ?? '';
  const labels = stringMapAt(metadata, 'labels');
  const revision = labels['controller-revision-hash'];
  const goneBy = instantAt(metadata, 'deletionTimestamp');
  return Object.freeze({
    namespace: stringAt(metadata, 'namespace') ?? '',
    name,
    uid: stringAt(metadata, 'uid') ?? '',
    resourceVersion: stringAt(metadata, 'resourceVersion') ?? '',
    createdAt: instantAt(metadata, 'creationTimestamp'),
    controllerUid: controllerUidOf(metadata),
    revision,
    labels: podLabels(labels, { name, revision }),
    isTerminating: stringAt(metadata, 'deletionTimestamp') !== undefined,
    ...(goneBy !== undefined && { goneBy }),
    phase: phaseOf(status),
    readySince,
    unready,
    unreadyAfter,
    areContainersReady,
    // Most pods have none, and thousands are read.
    trouble: unready === undefined && areContainersReady ? undefined : troubleOf(status),
    nodeName: nodeNameOf(object),
    readyTime: stringAt(objectAt(metadata, 'annotations'), READY_TIME),
  });
}

function readinessOf(status: JsonObject): Pick<PodView, 'readySince' | 'unready' | 'unreadyAfter'> {
  const ready = conditionOf(status, 'Ready') ?? {};
  const since = instantAt(ready, 'lastTransitionTime');
  const isTrue = ready['status'] === 'True';
  if (isTrue) return { readySince: since, unready: undefined, unreadyAfter: undefined };
  const startedAt = instantAt(status, 'startTime');
  const isKnown = since !== undefined && startedAt !== undefined;
  return {
    readySince: undefined,
    unready: parseUnready(status),
    unreadyAfter: isKnown ? millis(since - startedAt) : undefined,
  };
}

function nodeNameOf(object: JsonObject): string | undefined {
  const name = stringAt(objectAt(object, 'spec'), 'nodeName');
  return name === '' ? undefined : name;
}

function phaseOf(status: JsonObject): PodView['phase'] {
  return phases.find((phase) => phase === status['phase']) ?? 'Unknown';
}

function areAllReady(status: JsonObject): boolean {
  return objectsIn(arrayAt(status, 'containerStatuses')).every(isContainerReady);
}

function isContainerReady(container: JsonObject): boolean {
  return container['ready'] === true && objectAt(container, 'state')['running'] !== undefined;
}
