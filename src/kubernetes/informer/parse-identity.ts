import type { KubernetesObject } from '../object.ts';
import type { Cached } from './informer.ts';

/** Returns what every cached object keeps, and nothing more. */
export function parseIdentity({ metadata }: KubernetesObject): Cached {
  const { namespace = '', name, uid, resourceVersion } = metadata;
  return { namespace, name, uid, resourceVersion };
}
