import type { JsonObject } from '#base/json.ts';
import type { Cause } from '../../errors/status-error.ts';
import {
  isSameJson,
  metadataOf,
  numberField,
  objectField,
  textsField,
  without,
} from '../../json/json-fields.ts';
import type { ResourceRow } from '../../resource-row.ts';
import type { ApiCall } from '../request/server-context.ts';
import { assemble, hasStatus, isCustom, updatedMetadata } from './metadata.ts';
import { withoutDuplicateOwners } from './owner-references.ts';

/** Returns what is stored when `wanted` is written over `old` through the route's subresource (OB-3, OB-5, OB-6). */
export function updatedObject(call: ApiCall, old: JsonObject, wanted: JsonObject): JsonObject {
  const { row, subresource } = call.route;
  switch (subresource?.name) {
    case 'status':
      return updatedStatus(row, old, wanted);
    case 'binding':
      return assemble(row, metadataOf(wanted), wanted);
    case 'finalize':
      return assemble(row, metadataOf(old), { ...old, spec: wanted['spec'] });
    default:
      return updatedMain(call, old, wanted);
  }
}

function updatedMain(call: ApiCall, old: JsonObject, wanted: JsonObject): JsonObject {
  const { row } = call.route;
  const owned = withoutDuplicateOwners(updatedMetadata(old, wanted));
  call.warnings.push(...owned.warnings);
  const content = hasStatus(row) ? withStatusOf(old, wanted) : wanted;
  const next = row.prepareForUpdate(assemble(row, owned.metadata, content), old);
  return row.hasGeneration ? withGeneration(row, old, next) : next;
}

function withStatusOf(old: JsonObject, object: JsonObject): JsonObject {
  const bare = without(object, 'status');
  return old['status'] === undefined ? bare : { ...bare, status: old['status'] };
}

/**
 * Returns the object after a write of /status. Built-in kinds let labels, annotations and finalizers through; custom
 * resources do not (OB-6).
 */
function updatedStatus(row: ResourceRow, old: JsonObject, wanted: JsonObject): JsonObject {
  const content = withStatusOf(wanted, old);
  if (isCustom(row)) return assemble(row, metadataOf(old), content);
  const given = metadataOf(wanted);
  const kept = without(metadataOf(old), 'labels', 'annotations', 'finalizers');
  const metadata: Record<string, JsonObject[string]> = { ...kept };
  for (const member of ['labels', 'annotations', 'finalizers']) {
    if (given[member] !== undefined) metadata[member] = given[member];
  }
  return assemble(row, metadata, content);
}

/**
 * Returns what the generation counts changes of: everything but metadata and, with /status, the status (OB-5); of some,
 * labels.
 */
function generationBase(row: ResourceRow, object: JsonObject): JsonObject {
  const content = without(object, 'metadata', 'kind', 'apiVersion');
  const labels = objectField(metadataOf(object), 'labels');
  const bare = row.countsLabels === true ? { ...content, labels } : content;
  return hasStatus(row) ? without(bare, 'status') : bare;
}

function withGeneration(row: ResourceRow, old: JsonObject, next: JsonObject): JsonObject {
  if (isSameJson(generationBase(row, old), generationBase(row, next))) return next;
  return nextGeneration(next);
}

/** Returns `object` with its generation raised by one. */
export function nextGeneration(object: JsonObject): JsonObject {
  const metadata = metadataOf(object);
  const generation = numberField(metadata, 'generation') ?? 0;
  return { ...object, metadata: { ...metadata, generation: generation + 1 } };
}

/** Returns the causes for a finalizer that is added once the deletion has begun (OB-10). */
export function finalizerCauses(old: JsonObject, next: JsonObject): readonly Cause[] {
  const stored = metadataOf(old);
  if (stored['deletionTimestamp'] === undefined) return [];
  const known = textsField(stored, 'finalizers');
  const added = textsField(metadataOf(next), 'finalizers').filter((name) => !known.includes(name));
  if (added.length === 0) return [];
  const list = added.map((name) => `"${name}"`).join(', ');
  return [
    {
      reason: 'FieldValueForbidden',
      message: `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
      field: 'metadata.finalizers',
    },
  ];
}
