import type { JsonObject } from '#base/json.ts';
import { metadataOf, objectField, textField } from '../../json/json-fields.ts';
import type { ServerContext } from '../request/server-context.ts';

const COPIED = ['topology.kubernetes.io/region', 'topology.kubernetes.io/zone'] as const;

/** The first minor version that copies labels of nodes to their pods unasked. */
const FIRST_MINOR = 35;

/** Returns `object` labelled with where `node` is, over labels of its own: a pod, or the Binding that sends it there. */
export function withTopologyLabels(
  context: ServerContext,
  object: JsonObject,
  node: string,
): JsonObject {
  const [, minor = ''] = context.version.split('.');
  const stored = context.store.collection('nodes').get(node)?.object;
  if (stored === undefined || Number(minor) < FIRST_MINOR) return object;
  const nodeLabels = objectField(metadataOf(stored), 'labels');
  const copied = COPIED.filter((name) => nodeLabels[name] !== undefined);
  if (copied.length === 0) return object;
  const metadata = metadataOf(object);
  const labels: Record<string, string> = {};
  for (const name of copied) labels[name] = textField(nodeLabels, name);
  return {
    ...object,
    metadata: { ...metadata, labels: { ...objectField(metadata, 'labels'), ...labels } },
  };
}
