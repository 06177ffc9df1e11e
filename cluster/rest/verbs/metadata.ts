import type { JsonObject, JsonValue } from '#base/json.ts';
import { apiVersionOf } from '#kubernetes/resource-type.ts';
import { metadataOf, textField, without } from '../../json/json-fields.ts';
import type { ResourceRow } from '../../resource-row.ts';
import type { SeededRandom } from '../../seeded-random.ts';

/** Characters of generated names: none that could spell a word. */
const NAME_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
const LONGEST_GENERATED_BASE = 58;

/** Metadata members that a client may not choose. */
const SYSTEM_MEMBERS = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'selfLink',
  'managedFields',
] as const;

const DECIDED_AT_BIRTH = ['name', 'generateName', 'namespace', ...SYSTEM_MEMBERS] as const;

/** Reports whether the kind has a `/status`. */
export function hasStatus(row: ResourceRow): boolean {
  return row.subresources.some(({ name }) => name === 'status');
}

/** Reports whether the kind is a custom resource: those have no strategic merge. */
export function isCustom(row: ResourceRow): boolean {
  return row.listMerge === undefined;
}

/** Returns `object` with `kind`, `apiVersion` and `metadata` in front, as the server writes it. */
export function assemble(row: ResourceRow, metadata: JsonObject, object: JsonObject): JsonObject {
  return {
    kind: row.type.kind,
    apiVersion: apiVersionOf(row.type),
    metadata,
    ...without(object, 'kind', 'apiVersion', 'metadata'),
  };
}

/** Returns a name made of `base` and five random characters (OB-1). */
export function generateName(base: string, random: SeededRandom): string {
  return `${base.slice(0, LONGEST_GENERATED_BASE)}${random.text(SUFFIX_LENGTH, NAME_ALPHABET)}`;
}

/** Returns `metadata` without what a client may not choose. */
export function clientMetadata(metadata: JsonObject): JsonObject {
  return without(metadata, ...SYSTEM_MEMBERS);
}

/** What the server decides about a new object. */
export interface Birth {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly creationTimestamp: string;
}

/** Returns the metadata of a new object: the client's, but for what the server decides (OB-1, OB-18). */
export function newMetadata(row: ResourceRow, object: JsonObject, birth: Birth): JsonObject {
  const given = metadataOf(object);
  const generateNameText = textField(given, 'generateName');
  const metadata: Record<string, JsonValue> = { name: birth.name };
  if (generateNameText !== '') metadata['generateName'] = generateNameText;
  if (row.type.isNamespaced) metadata['namespace'] = birth.namespace;
  metadata['uid'] = birth.uid;
  metadata['resourceVersion'] = '';
  if (row.hasGeneration) metadata['generation'] = 1;
  metadata['creationTimestamp'] = birth.creationTimestamp;
  return { ...metadata, ...without(given, ...DECIDED_AT_BIRTH) };
}

/** Returns the metadata of an update: the client's, but for what belongs to the stored object (OB-3). */
export function updatedMetadata(old: JsonObject, wanted: JsonObject): JsonObject {
  const stored = metadataOf(old);
  const given = without(metadataOf(wanted), ...DECIDED_AT_BIRTH);
  const kept: Record<string, JsonObject[string]> = {};
  for (const member of DECIDED_AT_BIRTH) {
    if (stored[member] !== undefined) kept[member] = stored[member];
  }
  return { ...kept, ...given };
}
