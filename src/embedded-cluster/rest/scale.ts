import type { JsonObject } from '#base/json.ts';
import { metadataOf, numberField, objectField, textField } from '#embedded-cluster/json-fields.ts';
import { selectorText } from '#embedded-cluster/selector/selector-text.ts';
import { conflict, invalid, staleResourceVersion } from '#embedded-cluster/status-errors.ts';
import type { ApiCall } from './server-context.ts';

const SCALE_METADATA = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'creationTimestamp',
] as const;

/** The `autoscaling/v1` Scale of `parent`: its metadata without labels, its counts and its selector as text (SU-1). */
export function scaleOf(parent: JsonObject): JsonObject {
  const stored = metadataOf(parent);
  const metadata: Record<string, JsonObject[string]> = {};
  for (const member of SCALE_METADATA) {
    if (stored[member] !== undefined) metadata[member] = stored[member];
  }
  const replicas = numberField(objectField(parent, 'spec'), 'replicas') ?? 0;
  const selector = selectorText(objectField(objectField(parent, 'spec'), 'selector'));
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata,
    // None at all is left out, as Go leaves out zero.
    spec: replicas === 0 ? {} : { replicas },
    status: {
      replicas: numberField(objectField(parent, 'status'), 'replicas') ?? 0,
      ...(selector === '' ? {} : { selector }),
    },
  };
}

/** `stored` with the replicas of `scale`. @throws {StatusError} 409 for a foreign uid or version, 422 for a negative count */
export function withScale(call: ApiCall, stored: JsonObject, scale: JsonObject): JsonObject {
  const { row, name } = call.route;
  const given = metadataOf(scale);
  const version = textField(given, 'resourceVersion');
  const resourceVersion = textField(metadataOf(stored), 'resourceVersion');
  const uid = textField(metadataOf(stored), 'uid');
  if (version !== '' && version !== resourceVersion) throw staleResourceVersion(row, name);
  const givenUid = textField(given, 'uid');
  if (givenUid !== '' && givenUid !== uid) {
    throw conflict(
      row,
      name,
      `Precondition failed: UID in precondition: ${givenUid}, UID in object meta: ${uid}`,
    );
  }
  const replicas = numberField(objectField(scale, 'spec'), 'replicas') ?? 0;
  if (!Number.isInteger(replicas) || replicas < 0) {
    throw invalid(row, name, [
      {
        reason: 'FieldValueInvalid',
        message: `Invalid value: ${replicas}: must be greater than or equal to 0`,
        field: 'spec.replicas',
      },
    ]);
  }
  return { ...stored, spec: { ...objectField(stored, 'spec'), replicas } };
}
