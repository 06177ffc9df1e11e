import type { JsonObject } from '#base/json.ts';
import { parseSet } from '#cluster/controllers/statefulset/parse-views.ts';
import { newPod } from '#cluster/controllers/statefulset/pod-identity.ts';
import { planRevisions } from '#cluster/controllers/statefulset/revisions.ts';
import type { Client } from '#kubernetes/client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { type GroupsOptions, namespace, type SetName, statefulSet } from './workload.ts';

/** The nodes that the kubelet stand-in has by default. */
const nodes = 3;

/**
 * Stores `set` with its revision and all its pods, running and ready, as the StatefulSet controller and the kubelet
 * would have left them: those that start these later find nothing to do. Every object goes through the API.
 */
export async function fillSet(
  client: Client,
  set: SetName,
  options: GroupsOptions & { readonly now: string },
): Promise<void> {
  const key = { namespace, name: set.name };
  const types = resourceTypes;
  const stored = await client.create(types.statefulSets, key, { body: statefulSet(set, options) });
  const view = parseSet(stored);
  const { update, action } = planRevisions(view, [], 0);
  if (action?.kind === 'create-revision') {
    await client.create(types.controllerRevisions, { namespace }, { body: action.body });
  }
  for (let ordinal = 0; ordinal < options.podsPerSet; ordinal += 1) {
    const pod = newPod(view, update, ordinal);
    const nodeName = `node-${ordinal % nodes}`;
    const body = { ...pod, spec: { ...Object(pod['spec']), nodeName } as JsonObject };
    const created = await client.create(types.pods, { namespace }, { body });
    const document = { status: podStatus(created, options.now) };
    await client.patch(
      types.pods,
      { namespace, name: created.metadata.name },
      { body: { kind: 'merge', document }, subresource: 'status' },
    );
  }
  const status = setStatus(options.podsPerSet, update.name);
  await client.replace(types.statefulSets, key, {
    body: { ...stored, status },
    subresource: 'status',
  });
}

function setStatus(pods: number, revision: string): JsonObject {
  return {
    observedGeneration: 1,
    replicas: pods,
    readyReplicas: pods,
    availableReplicas: pods,
    currentReplicas: pods,
    updatedReplicas: pods,
    currentRevision: revision,
    updateRevision: revision,
    collisionCount: 0,
  };
}

function podStatus(pod: KubernetesObject, at: string): JsonObject {
  const { containers } = pod['spec'] as unknown as {
    readonly containers: readonly { readonly name: string; readonly image: string }[];
  };
  const types = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady'];
  return {
    phase: 'Running',
    conditions: [...types, 'PodScheduled'].map((type) => ({
      type,
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: at,
    })),
    hostIP: '10.0.0.1',
    podIP: '10.244.0.1',
    podIPs: [{ ip: '10.244.0.1' }],
    startTime: at,
    containerStatuses: containers.map(({ name, image }) => ({
      name,
      image,
      imageID: '',
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: at } },
      lastState: {},
    })),
  };
}
