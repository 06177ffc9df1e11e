import type { JsonObject } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import { formatRfc3339 } from '../oracles/rfc3339.ts';
import { readySince } from './views.ts';

/** What a test says of a StatefulSet object. */
export interface RawStatefulSetOptions {
  /** @default 'ingester-zone-a' */
  readonly name?: string;
  /** @default 'test' */
  readonly namespace?: string;
  /** @default the name with `-uid` */
  readonly uid?: string;
  /** @default 'ingester' */
  readonly group?: string;
  /** @default 3 */
  readonly replicas?: number;
  /** The `rollout-max-unavailable` annotation. @default '2' */
  readonly maxUnavailable?: string;
  /** Further annotations. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** @default 'OnDelete' */
  readonly updateStrategy?: string;
  /** @default 0 */
  readonly minReadySeconds?: number;
  /** @default 'Parallel' */
  readonly podManagementPolicy?: 'OrderedReady' | 'Parallel';
  /** @default 'last-hash' */
  readonly currentRevision?: string;
  /** @default 'last-hash' */
  readonly updateRevision?: string;
  /** @default '1' */
  readonly resourceVersion?: string;
}

/** Returns a StatefulSet as the API server shows it, all replicas ready. */
export function rawStatefulSet(options: RawStatefulSetOptions = {}): JsonObject {
  const { name = 'ingester-zone-a', replicas = 3, updateStrategy = 'OnDelete' } = options;
  const { minReadySeconds = 0 } = options;
  return Object.freeze({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: setMetadata(name, options),
    spec: {
      replicas,
      serviceName: name,
      podManagementPolicy: options.podManagementPolicy ?? 'Parallel',
      ...(minReadySeconds === 0 ? {} : { minReadySeconds }),
      updateStrategy: { type: updateStrategy },
      selector: { matchLabels: { name } },
      template: {
        metadata: { labels: { name } },
        spec: { containers: [{ name: 'ingester', image: 'ingester:1' }] },
      },
    },
    status: {
      observedGeneration: 1,
      replicas,
      readyReplicas: replicas,
      availableReplicas: replicas,
      updatedReplicas: replicas,
      currentRevision: options.currentRevision ?? 'last-hash',
      updateRevision: options.updateRevision ?? 'last-hash',
    },
  });
}

function setMetadata(name: string, options: RawStatefulSetOptions): JsonObject {
  return {
    name,
    namespace: options.namespace ?? 'test',
    uid: options.uid ?? `${name}-uid`,
    resourceVersion: options.resourceVersion ?? '1',
    generation: 1,
    creationTimestamp: formatRfc3339(readySince),
    labels: { 'rollout-group': options.group ?? 'ingester' },
    annotations: {
      'rollout-max-unavailable': options.maxUnavailable ?? '2',
      ...options.annotations,
    },
  };
}

/** What a test says of a Pod object. */
export interface RawPodOptions {
  /** Name of the owning set. @default 'ingester-zone-a' */
  readonly set?: string;
  /** @default 0 */
  readonly ordinal?: number;
  /** @default 'test' */
  readonly namespace?: string;
  /** @default the pod's name with `-uid` */
  readonly uid?: string;
  /** @default the set's name with `-uid` */
  readonly setUid?: string;
  /** The `controller-revision-hash` label. @default 'last-hash' */
  readonly revision?: string;
  /** Further labels. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Its annotations. @default none */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Since when it is ready; `false`: it runs and is not ready. @default an hour before T0 */
  readonly ready?: Instant | false;
  /** When its Ready condition changed last, where it is not ready. @default an hour before T0, as it was made */
  readonly unreadySince?: Instant;
  /** When it was made, and its kubelet took it over. @default an hour before T0 */
  readonly createdAt?: Instant;
  /** What its container waits for, such as `CrashLoopBackOff`. @default it runs */
  readonly waiting?: string;
  /** Its node is not heard of: the Ready condition is Unknown, where it is not ready. @default false */
  readonly isUnknown?: boolean;
  /** Says nothing of when its Ready condition changed. @default false */
  readonly isTimeless?: boolean;
  /** Its container has a start-up probe, which has not succeeded yet. @default false */
  readonly isStartingUp?: boolean;
  /** @default 'Running' */
  readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  /** When its deletion began. @default it is not being deleted */
  readonly terminatingSince?: Instant;
  /** @default '1' */
  readonly resourceVersion?: string;
  /** Members of `status` that take the place of what follows from the rest. */
  readonly status?: JsonObject;
}

/** Returns a Pod of a StatefulSet as the API server shows it, running and ready. */
export function rawPod(options: RawPodOptions = {}): JsonObject {
  return Object.freeze({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: podMetadata(options),
    spec: { containers: [container(options)] },
    status: { ...podStatus(options), ...options.status },
  });
}

function podStatus(options: RawPodOptions): JsonObject {
  const { ready = readySince, phase = 'Running', createdAt = readySince } = options;
  const isReady = ready !== false && phase === 'Running';
  const since = formatRfc3339(ready === false ? (options.unreadySince ?? createdAt) : ready);
  return {
    phase,
    startTime: formatRfc3339(createdAt),
    conditions: [readyCondition(options, isReady, since)],
    containerStatuses: phase === 'Pending' ? [] : [containerStatus(options, isReady, since)],
  };
}

function readyCondition(
  { isUnknown = false, isTimeless = false }: RawPodOptions,
  isReady: boolean,
  since: string,
): JsonObject {
  const unready = isUnknown ? 'Unknown' : 'False';
  const time = isTimeless ? {} : { lastTransitionTime: since };
  return { type: 'Ready', status: isReady ? 'True' : unready, ...time };
}

function container({ isStartingUp = false }: RawPodOptions): JsonObject {
  const probe = isStartingUp ? { startupProbe: { exec: { command: ['true'] } } } : {};
  return { name: 'ingester', image: 'ingester:1', ...probe };
}

function containerStatus(
  { waiting, isStartingUp }: RawPodOptions,
  isReady: boolean,
  since: string,
): JsonObject {
  const isWaiting = waiting !== undefined;
  return {
    name: 'ingester',
    ready: isReady,
    ...(isStartingUp === true && { started: false }),
    state: isWaiting ? { waiting: { reason: waiting } } : { running: { startedAt: since } },
  };
}

/** The status of a pod that was never ready since it was made, and whose container ends again and again. */
export const crashLoop: JsonObject = Object.freeze({
  startTime: formatRfc3339(readySince),
  conditions: [
    {
      type: 'Ready',
      status: 'False',
      reason: 'ContainersNotReady',
      lastTransitionTime: formatRfc3339(readySince),
    },
  ],
  containerStatuses: [
    { name: 'ingester', ready: false, state: { waiting: { reason: 'CrashLoopBackOff' } } },
  ],
});

function podMetadata(options: RawPodOptions): JsonObject {
  const set = options.set ?? 'ingester-zone-a';
  const name = `${set}-${options.ordinal ?? 0}`;
  const { terminatingSince } = options;
  return {
    name,
    namespace: options.namespace ?? 'test',
    uid: options.uid ?? `${name}-uid`,
    resourceVersion: options.resourceVersion ?? '1',
    creationTimestamp: formatRfc3339(options.createdAt ?? readySince),
    ...(terminatingSince === undefined
      ? {}
      : { deletionTimestamp: formatRfc3339(terminatingSince) }),
    labels: {
      name: set,
      'controller-revision-hash': options.revision ?? 'last-hash',
      ...options.labels,
    },
    ...(options.annotations !== undefined && { annotations: options.annotations }),
    ownerReferences: [ownerOf(set, options)],
  };
}

function ownerOf(set: string, { setUid = `${set}-uid` }: RawPodOptions): JsonObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    name: set,
    uid: setUid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** What a test says of a whole group. */
export interface GroupOptions extends Omit<RawStatefulSetOptions, 'name' | 'uid'> {
  /** @default ['a', 'b', 'c'] */
  readonly zones?: readonly string[];
  /** Revision of the pods. @default the set's current revision */
  readonly podRevision?: string;
}

/** The objects of a group `ingester`: sets `ingester-zone-<zone>`, and their ready pods. */
export interface Group {
  readonly sets: readonly JsonObject[];
  readonly pods: readonly JsonObject[];
}

/** Returns a group that is wholly available, as the scenarios of rollout groups have it unless overridden. */
export function ingesterGroup(options: GroupOptions = {}): Group {
  const { zones = ['a', 'b', 'c'], replicas = 3, podRevision, ...set } = options;
  const { group = 'ingester', namespace = 'test', currentRevision = 'last-hash' } = options;
  const revision = podRevision ?? currentRevision;
  const names = zones.map((zone) => `${group}-zone-${zone}`);
  const ordinals = Array.from({ length: replicas }, (_, ordinal) => ordinal);
  return {
    sets: names.map((name) => rawStatefulSet({ ...set, name, replicas })),
    pods: names.flatMap((name) =>
      ordinals.map((ordinal) => rawPod({ set: name, ordinal, namespace, revision })),
    ),
  };
}
