import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { isKeptAnnotation } from './known-keys.ts';
import { formatLabelSelector } from './label-selector.ts';
import { writersIn } from './metadata/parse-writers.ts';
import {
  controllerIn,
  identityIn,
  instantAt,
  integerAt,
  objectAt,
  stringAt,
  stringMapAt,
} from './parse-fields.ts';
import type { StatefulSetView } from './view.ts';

/**
 * Returns the view of a StatefulSet as the API server sent it, frozen. Total: an absent or malformed field has the value
 * that the API server defaults it to, a malformed status counts as not reported (0 or empty).
 */
export function parseStatefulSet(object: JsonObject): StatefulSetView {
  const metadata = objectAt(object, 'metadata');
  return Object.freeze({
    ...identityIn(metadata),
    generation: integerAt(metadata, 'generation') ?? 0,
    isDeleting: stringAt(metadata, 'deletionTimestamp') !== undefined,
    createdAt: instantAt(metadata, 'creationTimestamp'),
    ...controllerOf(metadata),
    labels: stringMapAt(metadata, 'labels'),
    annotations: stringMapAt(metadata, 'annotations', isKeptAnnotation),
    ...writersIn(metadata),
    spec: parseSpec(objectAt(object, 'spec')),
    status: parseStatus(objectAt(object, 'status')),
  });
}

function controllerOf(
  metadata: JsonObject,
): Pick<StatefulSetView, 'controllerUid' | 'controllerName'> {
  const controller = controllerIn(metadata);
  if (controller === undefined) return {};
  const controllerUid = stringAt(controller, 'uid') ?? '';
  const controllerName = `${stringAt(controller, 'kind') ?? ''} ${stringAt(controller, 'name') ?? ''}`;
  return { controllerUid, controllerName };
}

function parseSpec(spec: JsonObject): StatefulSetView['spec'] {
  const templateMetadata = objectAt(objectAt(spec, 'template'), 'metadata');
  const strategy = objectAt(spec, 'updateStrategy');
  const rollingUpdate = objectAt(strategy, 'rollingUpdate');
  return Object.freeze({
    replicas: integerAt(spec, 'replicas') ?? 1,
    updateStrategy: stringAt(strategy, 'type') ?? 'RollingUpdate',
    partition: integerAt(rollingUpdate, 'partition') ?? 0,
    hasMaxUnavailable: (rollingUpdate['maxUnavailable'] ?? null) !== null,
    isOrdered: stringAt(spec, 'podManagementPolicy') !== 'Parallel',
    minReady: seconds(integerAt(spec, 'minReadySeconds') ?? 0),
    ordinalsStart: integerAt(objectAt(spec, 'ordinals'), 'start') ?? 0,
    serviceName: stringAt(spec, 'serviceName') ?? '',
    selector: formatLabelSelector(objectAt(spec, 'selector')),
    templateLabels: stringMapAt(templateMetadata, 'labels'),
  });
}

function parseStatus(status: JsonObject): StatefulSetView['status'] {
  return Object.freeze({
    observedGeneration: integerAt(status, 'observedGeneration') ?? 0,
    replicas: integerAt(status, 'replicas') ?? 0,
    readyReplicas: integerAt(status, 'readyReplicas') ?? 0,
    currentRevision: stringAt(status, 'currentRevision') ?? '',
    updateRevision: stringAt(status, 'updateRevision') ?? '',
  });
}
