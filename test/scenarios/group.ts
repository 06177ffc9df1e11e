/** What a scenario does with its group, and how it tells where the group stands. */
import type { JsonObject } from '#base/json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Env } from './env.ts';

/** The image that pods start with, one that works, and one that cannot be pulled where `breakImage` was called. */
export const images = Object.freeze({
  old: 'registry.example/ingester:1',
  new: 'registry.example/ingester:2',
  broken: 'registry.example/ingester:broken',
  fixed: 'registry.example/ingester:3',
});

interface SetShape {
  readonly metadata: { readonly generation: number };
  readonly spec: { readonly replicas: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly currentRevision?: string;
    readonly updateRevision?: string;
  };
}

interface PodShape {
  readonly metadata: { readonly uid: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly containers: readonly { readonly image: string }[] };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/** The name of the set of `zone`. */
export function setName(zone: string): string {
  return `ingester-zone-${zone}`;
}

/** The set of `zone` as an installation has it. */
export function setBody(
  env: Pick<Env, 'namespace' | 'replicas' | 'maxUnavailable'>,
  zone: string,
): JsonObject {
  const name = setName(zone);
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: {
      name,
      namespace: env.namespace,
      labels: { 'rollout-group': 'ingester' },
      annotations: { 'rollout-max-unavailable': String(env.maxUnavailable) },
    },
    spec: {
      replicas: env.replicas,
      serviceName: name,
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: { name } },
      template: {
        metadata: { labels: { name, app: 'ingester' } },
        spec: { containers: [{ name: 'ingester', image: images.old }] },
      },
    },
  };
}

/** A group on some cluster, as far as an image goes. */
export type Group = Pick<
  Env,
  'namespace' | 'zones' | 'replicas' | 'maxUnavailable' | 'admin' | 'stored' | 'run'
>;

/** Gives every zone a new image, as people do who start a rollout. */
export async function setImage(env: Group, image: string): Promise<void> {
  const containers = [{ name: 'ingester', image }];
  await patchSets(env, env.zones, { spec: { template: { spec: { containers } } } });
}

/** Pauses or resumes the rollout of one zone. */
export async function setPaused(env: Env, zone: string, isPaused: boolean): Promise<void> {
  const annotations = { 'grafana.com/rollout-paused': isPaused ? 'true' : null };
  await patchSets(env, [zone], { metadata: { annotations } });
}

async function patchSets(
  env: Group,
  zones: readonly string[],
  document: JsonObject,
): Promise<void> {
  const { namespace } = env;
  const patch = (zone: string): Promise<unknown> =>
    env.admin.patch(
      resourceTypes.statefulSets,
      { namespace, name: setName(zone) },
      { body: { kind: 'strategic', document } },
    );
  await env.run(Promise.all(zones.map(patch)));
}

/** Pods with `image` can never be pulled. */
export function breakImage(env: Env, image: string): void {
  const match = { namespace: env.namespace, image };
  env.kubelet.behaviours.add({ behave: 'imagePullBackOff', match });
}

/** How many pods of `zones` run `image`, and are ready unless `isAnyState`. */
export function podsOn(env: Group, image: string, zones: readonly string[] = env.zones): number {
  return zones.reduce(
    (sum, zone) => sum + podsOfZone(env, zone).filter((pod) => isReadyOn(pod, image)).length,
    0,
  );
}

/** How many pods of `zones` have `image` and are not ready. */
export function unreadyOn(env: Env, image: string, zones: readonly string[] = env.zones): number {
  const pods = zones.flatMap((zone) => podsOfZone(env, zone));
  return pods.filter((pod) => isOn(pod, image) && !isReadyOn(pod, image)).length;
}

/** The uids of the pods of `zone`, by ordinal. */
export function uidsOf(env: Env, zone: string): readonly string[] {
  return podsOfZone(env, zone).map(({ metadata }) => metadata.uid);
}

/** Whether every pod of `zones` runs `image` and is ready, and each set's status says so. */
export function isComplete(
  env: Group,
  image: string,
  zones: readonly string[] = env.zones,
): boolean {
  return zones.every((zone) => {
    const set = env.stored('statefulsets.apps', setName(zone)) as SetShape | undefined;
    if (set?.status === undefined) return false;
    const { replicas } = set.spec;
    return (
      set.status.observedGeneration === set.metadata.generation &&
      set.status.replicas === replicas &&
      set.status.readyReplicas === replicas &&
      set.status.currentRevision === set.status.updateRevision &&
      podsOn(env, image, [zone]) === replicas
    );
  });
}

function podsOfZone(env: Group, zone: string): readonly PodShape[] {
  return Array.from({ length: env.replicas }, (_, ordinal) =>
    env.stored('pods', `${setName(zone)}-${ordinal}`),
  ).filter((pod) => pod !== undefined) as unknown as readonly PodShape[];
}

function isOn(pod: PodShape, image: string): boolean {
  return pod.spec.containers[0]?.image === image;
}

function isReadyOn(pod: PodShape, image: string): boolean {
  const conditions = pod.status?.conditions ?? [];
  return (
    isOn(pod, image) &&
    pod.metadata.deletionTimestamp === undefined &&
    conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
  );
}
