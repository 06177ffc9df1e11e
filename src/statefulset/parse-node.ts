import type { JsonObject } from '#base/json.ts';
import { objectAt, stringAt } from './parse-fields.ts';

/** The fields of a Node that any decision reads, parsed and frozen. */
export interface NodeView {
  /** Empty: nodes are in none. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** The zone that it says it is in, which may be called by an empty text; undefined where it says none (ZAU-23). */
  readonly zone: string | undefined;
}

/** Reads a Node as the API server sent it. Total: what is absent or malformed counts as not there. */
export function parseNode(object: JsonObject): NodeView {
  const metadata = objectAt(object, 'metadata');
  return Object.freeze({
    namespace: '',
    name: stringAt(metadata, 'name') ?? '',
    uid: stringAt(metadata, 'uid') ?? '',
    resourceVersion: stringAt(metadata, 'resourceVersion') ?? '',
    zone: stringAt(objectAt(metadata, 'labels'), 'topology.kubernetes.io/zone'),
  });
}
