import { after, type Instant, instant, millis, seconds } from '#base/units.ts';
import type { PodView, StatefulSetView, Unready } from '#statefulset/view.ts';

/** The instant at which every test begins: 2026-01-01T00:00:00Z. */
export const T0: Instant = instant(1_767_225_600_000);

/** Since when the pods of the builders are ready: an hour before {@link T0}. */
export const readySince: Instant = after(T0, seconds(-3_600));

/** What a test says of a StatefulSetView; members of `spec` and `status` one by one. */
export interface StatefulSetOverrides extends Partial<Omit<StatefulSetView, 'spec' | 'status'>> {
  readonly spec?: Partial<StatefulSetView['spec']>;
  readonly status?: Partial<StatefulSetView['status']>;
}

/**
 * Returns a set as the scenarios of rollout groups have it, unless overridden: `test/ingester-zone-a` of group `ingester`,
 * OnDelete, max unavailable 2, three ready replicas, current = update = `last-hash`. Name, uid and label follow `name`.
 */
export function statefulSetView(overrides: StatefulSetOverrides = {}): StatefulSetView {
  const name = overrides.name ?? 'ingester-zone-a';
  return Object.freeze({
    namespace: 'test',
    uid: `${name}-uid`,
    resourceVersion: '1',
    generation: 1,
    isDeleting: false,
    createdAt: after(T0, seconds(-86_400)),
    labels: { 'rollout-group': 'ingester' },
    annotations: { 'rollout-max-unavailable': '2' },
    ...overrides,
    name,
    spec: {
      replicas: 3,
      updateStrategy: 'OnDelete',
      partition: 0,
      hasMaxUnavailable: false,
      isOrdered: false,
      minReady: millis(0),
      ordinalsStart: 0,
      serviceName: name,
      selector: `name=${name}`,
      templateLabels: { name },
      ...overrides.spec,
    },
    status: {
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 3,
      currentRevision: 'last-hash',
      updateRevision: 'last-hash',
      ...overrides.status,
    },
  });
}

/**
 * Returns what a pod says that was ready for an hour until {@link T0} and is not any more, its containers running, unless
 * overridden.
 */
export function unready(overrides: Partial<Unready> = {}): Unready {
  return Object.freeze({
    condition: 'False',
    since: T0,
    isUnscheduled: false,
    isBackingOff: false,
    isStartingUp: false,
    isOutOfReach: false,
    ...overrides,
  });
}

/**
 * Returns a running and ready pod `ingester-zone-a-0` on `last-hash`, unless overridden. Its uid follows `name`, its owner
 * is the set that the name begins with. One whose `readySince` is overridden with nothing is not ready.
 */
export function podView(overrides: Partial<PodView> = {}): PodView {
  const name = overrides.name ?? 'ingester-zone-a-0';
  const isUnready = 'readySince' in overrides && overrides.readySince === undefined;
  return Object.freeze({
    namespace: 'test',
    uid: `${name}-uid`,
    resourceVersion: '1',
    createdAt: readySince,
    controllerUid: `${name.slice(0, name.lastIndexOf('-'))}-uid`,
    revision: 'last-hash',
    isTerminating: false,
    phase: 'Running',
    readySince,
    unready: isUnready ? unready() : undefined,
    unreadyAfter: undefined,
    areContainersReady: true,
    trouble: undefined,
    nodeName: undefined,
    readyTime: undefined,
    labels: {},
    ...overrides,
    name,
  });
}
