import type { JsonObject } from '#base/json.ts';
import { forbidden, namespaceNotFound, namespaceTerminating } from '../../errors/status-errors.ts';
import { metadataOf, objectField, textsField } from '../../json/json-fields.ts';
import type { ResourceRow } from '../../resource-row.ts';
import type { ApiCall, ServerContext } from '../request/server-context.ts';

const UNDELETABLE: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);

/** Reports whether `row` is that of namespaces themselves. */
export function isNamespaceRow(row: ResourceRow): boolean {
  return row.type.group === '' && row.type.plural === 'namespaces';
}

/**
 * Refuses a namespace that takes no new object.
 *
 * @throws {StatusError} 404 when the namespace of a new object is missing, 403 when it is terminating
 */
export function checkNamespaceForCreate(context: ServerContext, call: ApiCall, name: string): void {
  const { namespace, row } = call.route;
  if (!row.type.isNamespaced) return;
  const stored = context.store.collection('namespaces').get(namespace);
  if (stored === undefined) throw namespaceNotFound(namespace);
  if (metadataOf(stored.object)['deletionTimestamp'] === undefined) return;
  throw namespaceTerminating(row, name, namespace);
}

/** Refuses to delete some namespaces. @throws {StatusError} 403 for the namespaces that a cluster cannot be without (GC-5) */
export function checkNamespaceDeletable(row: ResourceRow, name: string): void {
  if (!isNamespaceRow(row) || !UNDELETABLE.has(name)) return;
  throw forbidden(row, name, 'this namespace may not be deleted');
}

/** Reports whether something still holds a deleted object: finalizers, or content of a namespace. */
export function isHeld(row: ResourceRow, object: JsonObject): boolean {
  if (textsField(metadataOf(object), 'finalizers').length > 0) return true;
  return isNamespaceRow(row) && textsField(objectField(object, 'spec'), 'finalizers').length > 0;
}
