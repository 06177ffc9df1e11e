/** What people ask of the API server of a world. */
import type { JsonObject } from '#base/json.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { NAMESPACE } from './world-group.ts';

/** Creates the namespace of the world. */
export async function createNamespace(admin: Client): Promise<void> {
  const body = { metadata: { name: NAMESPACE }, apiVersion: 'v1', kind: 'Namespace' };
  await admin.create(resourceTypes.namespaces, { name: NAMESPACE }, { body });
}

/** Patches the set `name` strategically, as kubectl does. */
export async function patchSetOf(admin: Client, name: string, document: JsonObject): Promise<void> {
  const at = { namespace: NAMESPACE, name };
  const body = { kind: 'strategic', document } as const;
  await admin.patch(resourceTypes.statefulSets, at, { body });
}

/** Returns the metadata of the pod `name`. */
export async function podOf(admin: Client, name: string): Promise<{ readonly uid: string }> {
  const { metadata } = await admin.get(resourceTypes.pods, { namespace: NAMESPACE, name });
  return metadata;
}

/** Returns the change of a set that gives its pods another image. */
export function templateOf(image: string): JsonObject {
  return { spec: { template: { spec: { containers: [{ name: 'ingester', image }] } } } };
}
