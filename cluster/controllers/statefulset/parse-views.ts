import type { JsonObject, JsonValue } from '#base/json.ts';
import { type Instant, instant, seconds } from '#base/units.ts';
import { parseIdentity } from '#kubernetes/informer/parse-identity.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { parseTimestamp } from '../../clock/timestamp.ts';
import { canonicalJson, numberAt, objectAt, objectsAt, textAt } from '../../json/read-json.ts';
import { placeOf, podIndexLabel, podNameLabel, revisionLabel } from './pod-labels.ts';
import type { RevisionView, RollingUpdate, SetPod, SetStatus, SetView } from './views.ts';

/** Returns the uid of the owner with `controller: true`; empty when there is none. */
function controllerUidOf(object: JsonObject): string {
  const owners = objectsAt(object, 'metadata', 'ownerReferences');
  return textAt(
    owners.find((owner) => owner['controller'] === true),
    'uid',
  );
}

/** Returns the revision data of a pod template (SS-4). */
export function revisionData(template: JsonObject): JsonObject {
  return { spec: { template: { ...template, $patch: 'replace' } } };
}

function parseRollingUpdate(spec: JsonObject): RollingUpdate | undefined {
  const raw = objectAt(spec, 'updateStrategy')['rollingUpdate'];
  if (raw === undefined || raw === null) return undefined;
  const limit = objectAt(raw)['maxUnavailable'];
  return {
    partition: numberAt(raw, 'partition') ?? 0,
    maxUnavailable: typeof limit === 'number' || typeof limit === 'string' ? limit : undefined,
  };
}

function parseStatus(status: JsonObject): SetStatus {
  const count = (member: string): number => numberAt(status, member) ?? 0;
  return {
    observedGeneration: count('observedGeneration'),
    replicas: count('replicas'),
    readyReplicas: count('readyReplicas'),
    availableReplicas: count('availableReplicas'),
    currentReplicas: count('currentReplicas'),
    updatedReplicas: count('updatedReplicas'),
    currentRevision: textAt(status, 'currentRevision'),
    updateRevision: textAt(status, 'updateRevision'),
    collisionCount: count('collisionCount'),
  };
}

function withDefault(value: JsonValue | undefined, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value : otherwise;
}

/** Returns a StatefulSet, with the server's defaults for what is absent (OB-16). */
export function parseSet(object: KubernetesObject): SetView {
  const spec = objectAt(object, 'spec');
  const template = objectAt(spec, 'template');
  return {
    ...parseIdentity(object),
    generation: object.metadata.generation ?? 0,
    isDeleting: object.metadata.deletionTimestamp !== undefined,
    annotations: object.metadata.annotations ?? {},
    replicas: numberAt(spec, 'replicas') ?? 1,
    ordinalsStart: numberAt(spec, 'ordinals', 'start') ?? 0,
    serviceName: textAt(spec, 'serviceName'),
    minReady: seconds(numberAt(spec, 'minReadySeconds') ?? 0),
    isOrdered: withDefault(spec['podManagementPolicy'], 'OrderedReady') === 'OrderedReady',
    strategy: withDefault(objectAt(spec, 'updateStrategy')['type'], 'RollingUpdate'),
    rollingUpdate: parseRollingUpdate(spec),
    revisionHistoryLimit: numberAt(spec, 'revisionHistoryLimit') ?? 10,
    selector: objectAt(spec, 'selector'),
    template,
    claimTemplates: objectsAt(spec, 'volumeClaimTemplates'),
    templateData: canonicalJson(revisionData(template)),
    status: parseStatus(objectAt(object, 'status')),
    object,
  };
}

function readySince(status: JsonObject): Instant | undefined {
  const ready = objectsAt(status, 'conditions').find((condition) => condition['type'] === 'Ready');
  if (ready === undefined || ready['status'] !== 'True') return undefined;
  return parseTimestamp(textAt(ready, 'lastTransitionTime')) ?? instant(0);
}

/** Returns a Pod. */
export function parsePod(object: KubernetesObject): SetPod {
  const status = objectAt(object, 'status');
  const labels = object.metadata.labels ?? {};
  const { name } = object.metadata;
  const { setName, ordinal } = placeOf(name);
  return {
    ...parseIdentity(object),
    ownerUid: controllerUidOf(object),
    labels,
    revision: labels[revisionLabel] ?? '',
    setName,
    ordinal,
    hasIdentity: labels[podNameLabel] === name && labels[podIndexLabel] === String(ordinal),
    phase: textAt(status, 'phase'),
    isTerminating: object.metadata.deletionTimestamp !== undefined,
    readySince: readySince(status),
  };
}

/** Returns a ControllerRevision; the template comes without its merge directive. */
export function parseRevision(object: KubernetesObject): RevisionView {
  const data = objectAt(object, 'data');
  const { $patch: _directive, ...template } = objectAt(data, 'spec', 'template');
  return {
    ...parseIdentity(object),
    ownerUid: controllerUidOf(object),
    labels: object.metadata.labels ?? {},
    revision: numberAt(object, 'revision') ?? 0,
    creationTimestamp: object.metadata.creationTimestamp ?? '',
    template,
    data: canonicalJson(data),
  };
}
