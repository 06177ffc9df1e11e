import type { StatefulSetView } from '#statefulset/view.ts';
import type { RolloutSnapshot } from '../snapshot.ts';

/**
 * Returns which client has scaled `set`, whose number of replicas is the resource's to say; undefined where the resource was
 * edited since, where this operator wrote the number last, or where the set does not say.
 */
export function otherScaler(
  { resource }: Pick<RolloutSnapshot, 'resource'>,
  { writers }: StatefulSetView,
): string | undefined {
  const { replicas, applied } = writers ?? {};
  if (resource.generation > resource.observedGeneration) return undefined;
  return applied === undefined || replicas === applied ? undefined : replicas;
}

/** Returns what is said of such a set. */
export function scaledText({ name, spec }: StatefulSetView, to: number, by: string): string {
  return `"${by}" has scaled ${name} to ${spec.replicas} replicas, and this resource says ${to}`;
}
