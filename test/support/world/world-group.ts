import type { JsonObject } from '#base/json.ts';

/** The namespace of a world's groups. */
export const NAMESPACE = 'demo';

/** The group that every world has. */
export const GROUP = 'ingester';

/** The image that pods of a world start with, the one that a rollout goes to, and one more. */
export const images = Object.freeze({
  old: 'registry.example/ingester:1',
  new: 'registry.example/ingester:2',
  next: 'registry.example/ingester:3',
});

/** What differs between StatefulSets of worlds. */
export interface SetOptions {
  /** Pods a zone. @default 3 */
  readonly replicas?: number;
  /** @default 2 */
  readonly maxUnavailable?: string;
  /** Members that every set's spec has besides the usual ones. */
  readonly spec?: JsonObject;
}

/** Returns the name of the set of `zone` in `group`. */
export function setName(zone: string, group: string = GROUP): string {
  return `${group}-zone-${zone}`;
}

/** Returns a StatefulSet as a world creates it: `OnDelete`, on the old image. */
export function setOf(
  { zone, group = GROUP }: { readonly zone: string; readonly group?: string },
  options: SetOptions,
): JsonObject {
  const name = setName(zone, group);
  const labels = { name, app: group };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: {
      name,
      namespace: NAMESPACE,
      labels: { 'rollout-group': group },
      annotations: { 'rollout-max-unavailable': options.maxUnavailable ?? '2' },
    },
    spec: {
      replicas: options.replicas ?? 3,
      serviceName: name,
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: { name } },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'ingester', image: images.old }] },
      },
      ...options.spec,
    },
  };
}

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
  readonly metadata: { readonly deletionTimestamp?: string };
  readonly spec: { readonly containers: readonly { readonly image: string }[] };
  readonly status: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/**
 * Reports whether all pods of a stored set run `image` and are ready, and its status is observed, full and promoted; the
 * first image needs no promotion.
 */
export function isSetComplete(
  set: JsonObject | undefined,
  image: string,
  podOf: (ordinal: number) => JsonObject | undefined,
): boolean {
  if (set === undefined) return false;
  const { spec, status, metadata } = set as unknown as SetShape;
  if (status?.observedGeneration !== metadata.generation) return false;
  if (status.readyReplicas !== spec.replicas || status.replicas !== spec.replicas) return false;
  if (image !== images.old && status.currentRevision !== status.updateRevision) return false;
  return Array.from({ length: spec.replicas }, (_, ordinal) => podOf(ordinal)).every(
    (pod) => pod !== undefined && isReadyOn(pod as unknown as PodShape, image),
  );
}

function isReadyOn(pod: PodShape, image: string): boolean {
  return (
    pod.metadata.deletionTimestamp === undefined &&
    pod.spec.containers[0]?.image === image &&
    (pod.status.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True')
  );
}
