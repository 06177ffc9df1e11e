import type { JsonObject, JsonValue } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';
import type { Cause } from '../../errors/status-error.ts';
import { arrayField, isSameJson } from '../../json/json-fields.ts';

/** Returns `metadata` without repeated owner references, and the warning that reports it (OB-7). */
export function withoutDuplicateOwners(metadata: JsonObject): {
  readonly metadata: JsonObject;
  readonly warnings: readonly string[];
} {
  const owners = arrayField(metadata, 'ownerReferences');
  if (owners.length < 2) return { metadata, warnings: [] };
  const kept: JsonValue[] = [];
  for (const owner of owners) {
    if (!kept.some((other) => isSameJson(other, owner))) kept.push(owner);
  }
  if (kept.length === owners.length) return { metadata, warnings: [] };
  return {
    metadata: { ...metadata, ownerReferences: kept },
    warnings: [
      '.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests',
    ],
  };
}

/** Returns the causes for owner references of which more than one is the controller (OB-7). */
export function ownerCauses(metadata: JsonObject): readonly Cause[] {
  const controllers = arrayField(metadata, 'ownerReferences').filter(
    (owner) => isJsonObject(owner) && owner['controller'] === true,
  );
  if (controllers.length < 2) return [];
  return [
    {
      reason: 'FieldValueInvalid',
      message: 'Invalid value: only one reference can have Controller set to true',
      field: 'metadata.ownerReferences',
    },
  ];
}
