import type { JsonObject } from '#base/json.ts';
import { emptyObject, listAt, objectAt, textAt } from '../../json/members.ts';
import type { Column } from '../../resource-row.ts';
import { ageColumn, metadataOf, nameColumn, text } from './column.ts';

const ACCESS_MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

function specOf(object: JsonObject): JsonObject | undefined {
  return objectAt(object, 'spec');
}

function statusOf(object: JsonObject): JsonObject | undefined {
  return objectAt(object, 'status');
}

function phaseCell(object: JsonObject): string {
  if (metadataOf(object)?.['deletionTimestamp'] !== undefined) return 'Terminating';
  return textAt(statusOf(object), 'phase');
}

/** Returns the short names of the `accessModes` in `part`, an object's spec or status. */
function accessModes(part: JsonObject | undefined): string {
  return listAt(part, 'accessModes')
    .map((mode) => (typeof mode === 'string' ? (ACCESS_MODES[mode] ?? mode) : ''))
    .join(',');
}

function storage(part: JsonObject | undefined): string {
  return textAt(objectAt(part, 'capacity'), 'storage');
}

function attributesClass(object: JsonObject): string {
  return textAt(specOf(object), 'volumeAttributesClassName') || '<unset>';
}

const volumeModeColumn = text(
  'VolumeMode',
  (object) => textAt(specOf(object), 'volumeMode') || '<unset>',
  1,
);

/** Returns what a claim got: nothing before it names its volume, as upstream. */
function grantedTo(claim: JsonObject): JsonObject | undefined {
  return textAt(specOf(claim), 'volumeName') === '' ? undefined : (statusOf(claim) ?? emptyObject);
}

function claimCapacity(claim: JsonObject): string {
  const granted = grantedTo(claim);
  return granted === undefined ? '' : storage(granted) || '0';
}

/** Columns of PersistentVolumeClaims. */
export const persistentVolumeClaimColumns: readonly Column[] = Object.freeze([
  nameColumn,
  text('Status', phaseCell),
  text('Volume', (claim) => textAt(specOf(claim), 'volumeName')),
  text('Capacity', claimCapacity),
  text('Access Modes', (claim) => accessModes(grantedTo(claim))),
  text('StorageClass', (claim) => textAt(specOf(claim), 'storageClassName')),
  text('VolumeAttributesClass', attributesClass),
  ageColumn,
  volumeModeColumn,
]);

function claimCell(volume: JsonObject): string {
  const claim = objectAt(specOf(volume), 'claimRef');
  return claim === undefined ? '' : `${textAt(claim, 'namespace')}/${textAt(claim, 'name')}`;
}

/** Columns of PersistentVolumes. */
export const persistentVolumeColumns: readonly Column[] = Object.freeze([
  nameColumn,
  text('Capacity', (volume) => storage(specOf(volume))),
  text('Access Modes', (volume) => accessModes(specOf(volume))),
  text('Reclaim Policy', (volume) => textAt(specOf(volume), 'persistentVolumeReclaimPolicy')),
  text('Status', phaseCell),
  text('Claim', claimCell),
  text('StorageClass', (volume) => textAt(specOf(volume), 'storageClassName')),
  text('VolumeAttributesClass', attributesClass),
  text('Reason', (volume) => textAt(statusOf(volume), 'reason')),
  ageColumn,
  volumeModeColumn,
]);

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

function classNameCell(object: JsonObject): string {
  const isDefault = textAt(objectAt(metadataOf(object), 'annotations'), DEFAULT_CLASS) === 'true';
  return `${textAt(metadataOf(object), 'name')}${isDefault ? ' (default)' : ''}`;
}

/** Columns of StorageClasses. */
export const storageClassColumns: readonly Column[] = Object.freeze([
  Object.freeze({ ...nameColumn, cell: classNameCell }),
  text('Provisioner', (object) => textAt(object, 'provisioner')),
  text('ReclaimPolicy', (object) => textAt(object, 'reclaimPolicy')),
  text('VolumeBindingMode', (object) => textAt(object, 'volumeBindingMode')),
  text('AllowVolumeExpansion', (object) => object['allowVolumeExpansion'] === true),
  ageColumn,
]);
