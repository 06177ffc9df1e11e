import { isJsonObject, type JsonObject } from '#base/json.ts';
import { type Instant, type Millis, seconds } from '#base/units.ts';
import { numberAt, objectsAt, textAt, valueAt } from '../objects/json-path.ts';
import { limitOf } from '../oracles/max-unavailable.ts';
import { parseRfc3339 } from '../oracles/rfc3339.ts';

/** What a stored Pod says, as far as an invariant asks; read independently of the operator's own parser. */
export interface PodFacts {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** uid of the owner reference with `controller: true`. */
  readonly controllerUid: string | undefined;
  /** The `controller-revision-hash` label. */
  readonly revision: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly labels: JsonObject;
  readonly createdAt: Instant | undefined;
  readonly isTerminating: boolean;
  readonly isRunning: boolean;
  /** `status.phase`; undefined when it is absent. */
  readonly phase: string | undefined;
  /** `status.startTime`: when its kubelet took it over. */
  readonly startedAt: Instant | undefined;
  /** The status of the Ready condition; undefined when it is absent, or none of the three. */
  readonly ready: 'True' | 'False' | 'Unknown' | undefined;
  /** `lastTransitionTime` of the Ready condition, whatever it says; undefined when it cannot be read. */
  readonly readyChangedAt: Instant | undefined;
  /** `lastTransitionTime` of a Ready condition that is True; undefined when it is not True or carries no time. */
  readonly readySince: Instant | undefined;
  readonly areContainersReady: boolean;
  /** What the annotation `grafana.com/ready-time` says; undefined where it is absent, or no time. */
  readonly notedReadyAt: Instant | undefined;
  /** Why containers wait, init containers included; empty texts left out. */
  readonly waiting: readonly string[];
  /** Whether a running container has a start-up probe that has not succeeded yet. */
  readonly isStartingUp: boolean;
}

/** What a stored StatefulSet says, as far as an invariant asks. */
export interface SetFacts {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The `rollout-group` label; undefined when the set is in no group. */
  readonly group: string | undefined;
  readonly isPaused: boolean;
  readonly replicas: number;
  readonly ordinalsStart: number;
  readonly minReady: Millis;
  readonly updateStrategy: string;
  /** Whether its pods are made one after the other; otherwise all at once. */
  readonly isOrderedReady: boolean;
  readonly statusReplicas: number;
  readonly currentRevision: string;
  /** `status.updateRevision`; undefined while it is empty or older than the spec (docs/rules/words.md: unknown). */
  readonly target: string | undefined;
  /** Max unavailable pods, rounded (IN-25). */
  readonly limit: number;
  /** Its own, not those of its pods. */
  readonly labels: JsonObject;
  /** What the user wrote: labels and annotations together. */
  readonly keys: ReadonlyMap<string, string>;
}

// Stored objects are frozen and one version is looked at many times: as `after`, as `before`, by several rules.
const readPods = new WeakMap<JsonObject, PodFacts>();
const readSets = new WeakMap<JsonObject, SetFacts>();

/** Reads a Pod object, once. */
export function podFacts(object: JsonObject): PodFacts {
  const known = readPods.get(object);
  if (known !== undefined) return known;
  const facts = readPod(object);
  readPods.set(object, facts);
  return facts;
}

/** Reads a StatefulSet object, once; absent fields count as what the API server defaults them to. */
export function setFacts(object: JsonObject): SetFacts {
  const known = readSets.get(object);
  if (known !== undefined) return known;
  const facts = readSet(object);
  readSets.set(object, facts);
  return facts;
}

function readPod(object: JsonObject): PodFacts {
  const phase = textAt(object, 'status', 'phase');
  return {
    ...readiness(object),
    resourceVersion: textAt(object, 'metadata', 'resourceVersion'),
    labels: labelsOf(object),
    createdAt: timeAt(object, 'metadata', 'creationTimestamp'),
    startedAt: timeAt(object, 'status', 'startTime'),
    phase,
    namespace: textAt(object, 'metadata', 'namespace') ?? '',
    name: textAt(object, 'metadata', 'name') ?? '',
    uid: textAt(object, 'metadata', 'uid') ?? '',
    controllerUid: controllerUid(object),
    revision: textAt(object, 'metadata', 'labels', 'controller-revision-hash'),
    isTerminating: valueAt(object, 'metadata', 'deletionTimestamp') !== undefined,
    isRunning: phase === 'Running',
    notedReadyAt: timeAt(object, 'metadata', 'annotations', 'grafana.com/ready-time'),
    areContainersReady: objectsAt(object, 'status', 'containerStatuses').every(isContainerReady),
    waiting: waitingReasons(object),
    isStartingUp: isStartingUp(object),
  };
}

function labelsOf(object: JsonObject): JsonObject {
  const labels = valueAt(object, 'metadata', 'labels');
  return isJsonObject(labels) ? labels : {};
}

function controllerUid(object: JsonObject): string | undefined {
  for (const owner of objectsAt(object, 'metadata', 'ownerReferences')) {
    if (owner['controller'] === true) return textAt(owner, 'uid');
  }
  return undefined;
}

function timeAt(object: JsonObject, ...path: readonly string[]): Instant | undefined {
  const text = textAt(object, ...path);
  return text === undefined ? undefined : parseRfc3339(text);
}

function readiness(object: JsonObject): Pick<PodFacts, 'ready' | 'readyChangedAt' | 'readySince'> {
  const condition = objectsAt(object, 'status', 'conditions').find(({ type }) => type === 'Ready');
  const status = condition?.['status'];
  const ready =
    status === 'True' || status === 'False' || status === 'Unknown' ? status : undefined;
  const changedAt = condition === undefined ? undefined : timeAt(condition, 'lastTransitionTime');
  return {
    ready,
    readyChangedAt: changedAt,
    readySince: ready === 'True' ? changedAt : undefined,
  };
}

function waitingReasons(object: JsonObject): readonly string[] {
  return ['containerStatuses', 'initContainerStatuses'].flatMap((list) =>
    objectsAt(object, 'status', list).flatMap((status) => {
      const reason = textAt(status, 'state', 'waiting', 'reason') ?? '';
      return reason === '' ? [] : [reason];
    }),
  );
}

function isStartingUp(object: JsonObject): boolean {
  const probed = new Set(
    objectsAt(object, 'spec', 'containers')
      .filter((container) => valueAt(container, 'startupProbe') !== undefined)
      .map(({ name }) => name),
  );
  return objectsAt(object, 'status', 'containerStatuses').some(
    (status) =>
      probed.has(status['name']) &&
      status['started'] !== true &&
      valueAt(status, 'state', 'running') !== undefined,
  );
}

function isContainerReady(status: JsonObject): boolean {
  const isStopped =
    valueAt(status, 'state', 'waiting') !== undefined ||
    valueAt(status, 'state', 'terminated') !== undefined;
  return status['ready'] === true && !isStopped;
}

function readSet(object: JsonObject): SetFacts {
  const replicas = numberAt(object, 'spec', 'replicas') ?? 1;
  const annotation = (key: string): string | undefined =>
    textAt(object, 'metadata', 'annotations', key);
  return {
    namespace: textAt(object, 'metadata', 'namespace') ?? '',
    name: textAt(object, 'metadata', 'name') ?? '',
    uid: textAt(object, 'metadata', 'uid') ?? '',
    group: textAt(object, 'metadata', 'labels', 'rollout-group'),
    isPaused: annotation('grafana.com/rollout-paused') === 'true',
    replicas,
    ordinalsStart: numberAt(object, 'spec', 'ordinals', 'start') ?? 0,
    minReady: seconds(numberAt(object, 'spec', 'minReadySeconds') ?? 0),
    updateStrategy: textAt(object, 'spec', 'updateStrategy', 'type') ?? 'RollingUpdate',
    isOrderedReady: textAt(object, 'spec', 'podManagementPolicy') !== 'Parallel',
    statusReplicas: numberAt(object, 'status', 'replicas') ?? 0,
    currentRevision: textAt(object, 'status', 'currentRevision') ?? '',
    target: target(object),
    limit: limitOf(annotation('rollout-max-unavailable'), replicas),
    labels: labelsOf(object),
    keys: new Map([...textsAt(object, 'labels'), ...textsAt(object, 'annotations')]),
  };
}

function textsAt(object: JsonObject, map: 'labels' | 'annotations'): [key: string, text: string][] {
  return Object.entries(valueAt(object, 'metadata', map) ?? {}).flatMap(([key, text]) =>
    typeof text === 'string' ? [[key, text]] : [],
  );
}

function target(object: JsonObject): string | undefined {
  const observed = numberAt(object, 'status', 'observedGeneration') ?? 0;
  if (observed < (numberAt(object, 'metadata', 'generation') ?? 0)) return undefined;
  const revision = textAt(object, 'status', 'updateRevision') ?? '';
  return revision === '' ? undefined : revision;
}

/**
 * Reports whether `pod` fills a slot of `set` at `now` (docs/rules/words.md, D-10): controlled by the set's uid, Running,
 * Ready for `minReadySeconds`, all containers ready, not terminating. Without `minReadySeconds` Ready is available, whatever
 * the clocks say (D-55); with them a transition time in the future, or none, is "not yet".
 */
export function isAvailable(pod: PodFacts, set: SetFacts, now: Instant): boolean {
  if (!isReady(pod, set)) return false;
  if (set.minReady === 0) return true;
  return pod.readySince !== undefined && now - pod.readySince >= set.minReady;
}

/** Reports the same as {@link isAvailable} without `minReadySeconds`. */
export function isReady(pod: PodFacts, set: SetFacts): boolean {
  const isAlive = pod.isRunning && !pod.isTerminating && pod.controllerUid === set.uid;
  return isAlive && pod.areContainersReady && pod.ready === 'True';
}

/** Returns how many slots `set` should have: `start … start + max(spec.replicas, status.replicas) - 1`. */
export function slotCount(set: SetFacts): number {
  return Math.max(set.replicas, set.statusReplicas);
}

/** Reports whether `ordinal` is one of the slots of `set`. */
export function hasSlot(set: SetFacts, ordinal: number): boolean {
  return ordinal >= set.ordinalsStart && ordinal < set.ordinalsStart + slotCount(set);
}

/** Returns the ordinal in `podName` when it is a pod name of a set called `setName`; undefined otherwise. */
export function ordinalIn(podName: string, setName: string): number | undefined {
  if (!podName.startsWith(`${setName}-`)) return undefined;
  const tail = podName.slice(setName.length + 1);
  return /^(0|[1-9]\d*)$/.test(tail) ? Number(tail) : undefined;
}
