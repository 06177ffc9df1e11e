import type { Cached } from '#kubernetes/informer.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';

/** What every cached object keeps, and nothing more. */
export function parseIdentity({ metadata }: KubernetesObject): Cached {
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
  };
}
