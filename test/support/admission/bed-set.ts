import type { JsonObject } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { formatRfc3339 } from '../oracles/rfc3339.ts';
import { type ReviewedSet, setObject } from './admission-requests.ts';

type PodState = 'ready' | 'not ready' | 'terminating';

/** A StatefulSet of an `AdmissionBed`. */
export interface BedSet extends ReviewedSet {
  /** What its status says; @default all replicas, updated. */
  readonly status?: { readonly replicas: number; readonly updatedReplicas: number };
  /** Pods in the store: whether each is ready. @default as many as replicas, ready */
  readonly pods?: readonly PodState[];
}

/**
 * Stores a set with its status and its pods, which have run since `since`.
 * @returns the set as it is stored
 */
export async function storeSet(
  admin: Client,
  options: BedSet,
  since: Instant,
): Promise<JsonObject> {
  const { name = 'ingester-zone-a', replicas = 3 } = options;
  const namespace = 'test';
  const body = setObject(options);
  const created = await admin.create(resourceTypes.statefulSets, { namespace }, { body });
  const status = options.status ?? { replicas, updatedReplicas: replicas };
  const write = {
    body: { kind: 'merge', document: { status: { observedGeneration: 1, ...status } } },
    subresource: 'status',
  } as const;
  const stored = await admin.patch(resourceTypes.statefulSets, { namespace, name }, write);
  const pods = options.pods ?? Array.from({ length: status.replicas }, () => 'ready' as const);
  for (const [ordinal, state] of pods.entries()) {
    await storePod(admin, {
      name: `${name}-${ordinal}`,
      set: name,
      uid: created.metadata.uid,
      state,
      since,
    });
  }
  return stored;
}

interface BedPod {
  readonly name: string;
  readonly set: string;
  readonly uid: string;
  readonly state: PodState;
  readonly since: Instant;
}

async function storePod(admin: Client, pod: BedPod): Promise<void> {
  const { name, set, uid, state, since } = pod;
  const namespace = 'test';
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: set, uid, controller: true };
  const body: JsonObject = {
    metadata: {
      name,
      namespace,
      labels: { name: set },
      ownerReferences: [owner],
      ...(state === 'terminating' && { finalizers: ['test.example/hold'] }),
    },
    spec: { containers: [{ name: 'ingester', image: 'ingester:1' }] },
  };
  await admin.create(resourceTypes.pods, { namespace }, { body });
  const isReady = state !== 'not ready';
  const running = { startedAt: formatRfc3339(since) };
  const containerStatuses = [
    {
      name: 'ingester',
      image: 'ingester:1',
      imageID: '',
      ready: isReady,
      restartCount: 0,
      state: { running },
    },
  ];
  const status = { phase: 'Running', containerStatuses };
  const document = { status };
  await admin.patch(
    resourceTypes.pods,
    { namespace, name },
    { body: { kind: 'merge', document }, subresource: 'status' },
  );
  if (state === 'terminating') {
    await admin.delete(resourceTypes.pods, { namespace, name }, { preconditions: {} });
  }
}
