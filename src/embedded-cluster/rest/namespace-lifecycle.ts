import type { JsonObject } from '#base/json.ts';
import { metadataOf, objectField, textsField } from '#embedded-cluster/json-fields.ts';
import type { ResourceRow } from '#embedded-cluster/resource-row.ts';
import { StatusError } from '#embedded-cluster/status-error.ts';
import type { ApiCall, ServerContext } from './server-context.ts';
import { resourceName } from './status.ts';

const UNDELETABLE: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);

/** Whether `row` is that of namespaces themselves. */
export function isNamespaceRow(row: ResourceRow): boolean {
  return row.type.group === '' && row.type.plural === 'namespaces';
}

/** @throws {StatusError} 404 when the namespace of a new object is missing, 403 when it is terminating */
export function checkNamespaceForCreate(context: ServerContext, call: ApiCall, name: string): void {
  const { namespace, row } = call.route;
  if (!row.type.isNamespaced) return;
  const stored = context.store.collection('namespaces').get(namespace);
  if (stored === undefined) {
    throw new StatusError(
      { code: 404, reason: 'NotFound', details: { name: namespace, kind: 'namespaces' } },
      `namespaces "${namespace}" not found`,
    );
  }
  if (metadataOf(stored.object)['deletionTimestamp'] === undefined) return;
  const message = `namespace ${namespace} is being terminated`;
  const { group, plural } = row.type;
  throw new StatusError(
    {
      code: 403,
      reason: 'Forbidden',
      details: {
        name,
        ...(group === '' ? {} : { group }),
        kind: plural,
        causes: [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }],
      },
    },
    `${resourceName(row)} "${name}" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
  );
}

/** @throws {StatusError} 403 for the namespaces that a cluster cannot be without (GC-5) */
export function checkNamespaceDeletable(row: ResourceRow, name: string): void {
  if (!isNamespaceRow(row) || !UNDELETABLE.has(name)) return;
  throw new StatusError(
    { code: 403, reason: 'Forbidden', details: { name, kind: 'namespaces' } },
    `namespaces "${name}" is forbidden: this namespace may not be deleted`,
  );
}

/** Whether something still holds a deleted object: finalizers, or content of a namespace. */
export function isHeld(row: ResourceRow, object: JsonObject): boolean {
  if (textsField(metadataOf(object), 'finalizers').length > 0) return true;
  return isNamespaceRow(row) && textsField(objectField(object, 'spec'), 'finalizers').length > 0;
}

/** A namespace whose deletion has begun shows it in its phase. */
export function terminatingNamespace(row: ResourceRow, object: JsonObject): JsonObject {
  if (!isNamespaceRow(row)) return object;
  return { ...object, status: { ...objectField(object, 'status'), phase: 'Terminating' } };
}
