import type { JsonObject } from '#base/json.ts';
import { groupResource } from '../../errors/status-errors.ts';
import { metadataOf, objectField, textField } from '../../json/json-fields.ts';
import { servedTypes } from '../../served-types.ts';
import type { ApiCall, ServerContext } from '../request/server-context.ts';

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

/** Gives a new PersistentVolumeClaim that names no class the newest of those marked as default, as upstream. */
export function withDefaultClass(
  context: ServerContext,
  call: ApiCall,
  object: JsonObject,
): JsonObject {
  if (call.route.row.type.kind !== 'PersistentVolumeClaim') return object;
  const spec = objectField(object, 'spec');
  if (spec['storageClassName'] !== undefined) return object;
  const type = servedTypes.storageClasses;
  const [newest] = context.store
    .collection(groupResource({ type }))
    .list()
    .map((version) => metadataOf(version.object))
    .filter((each) => textField(objectField(each, 'annotations'), DEFAULT_CLASS) === 'true')
    .sort((one, other) => (createdAt(one) < createdAt(other) ? 1 : -1));
  if (newest === undefined) return object;
  return { ...object, spec: { ...spec, storageClassName: textField(newest, 'name') } };
}

function createdAt(metadata: JsonObject): string {
  return textField(metadata, 'creationTimestamp');
}
