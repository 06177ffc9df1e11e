import type { JsonObject } from '#base/json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Cause } from '../errors/status-error.ts';
import { isSameJson } from '../json/json-fields.ts';
import {
  emptyObject,
  listAt,
  mapObjectAt,
  objectAt,
  textAt,
  withMissing,
} from '../json/members.ts';
import type { ResourceRow } from '../resource-row.ts';
import { persistentVolumeClaim } from '../schema/persistent-volume-claim.ts';
import { persistentVolume, storageClass, volumeSources } from '../schema/storage-kinds.ts';
import { servedTypes } from '../served-types.ts';
import {
  persistentVolumeClaimColumns,
  persistentVolumeColumns,
  storageClassColumns,
} from './columns/storage-columns.ts';
import { defaultClaimSpec } from './defaults/default-volume.ts';
import { defineRow, statusSubresource } from './define-row.ts';
import { forbiddenField, invalidValue, notSupported, required } from './validation/causes.ts';
import { validatePersistentVolumeClaim } from './validation/validate-core.ts';
import { subdomainName, validateMetadata } from './validation/validate-metadata.ts';

const volumeDefaults: JsonObject = Object.freeze({
  persistentVolumeReclaimPolicy: 'Retain',
  volumeMode: 'Filesystem',
});
const classDefaults: JsonObject = Object.freeze({
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'Immediate',
});
const classPolicies = ['Delete', 'Retain'];
const bindingModes = ['Immediate', 'WaitForFirstConsumer'];

function sourceOf(spec: JsonObject | undefined): JsonObject {
  const given = volumeSources.flatMap((name) => {
    const source = spec?.[name];
    return source === undefined ? [] : [[name, source] as const];
  });
  return Object.fromEntries(given);
}

function capacityCauses(capacity: JsonObject | undefined): readonly Cause[] {
  const field = 'spec.capacity';
  const isSize = capacity?.['storage'] !== undefined && Object.keys(capacity).length === 1;
  if (isSize) return [];
  // With its members in order, as the message of a real server has them.
  const seen =
    capacity === undefined ? 'null' : JSON.stringify(capacity, Object.keys(capacity).toSorted());
  const message = `Unsupported value: ${seen}: supported values: "storage"`;
  const wrong = { reason: 'FieldValueNotSupported', message, field };
  return capacity === undefined ? [required(field), wrong] : [wrong];
}

function newVolume(volume: JsonObject): JsonObject {
  const at = textAt(objectAt(volume, 'metadata'), 'creationTimestamp');
  return { ...volume, status: { phase: 'Pending', lastPhaseTransitionTime: at } };
}

function validateVolume(volume: JsonObject, old: JsonObject | undefined): readonly Cause[] {
  const spec = objectAt(volume, 'spec') ?? emptyObject;
  const source = sourceOf(spec);
  const isMoved = old !== undefined && !isSameJson(source, sourceOf(objectAt(old, 'spec')));
  const place = 'spec.persistentvolumesource';
  return [
    ...validateMetadata(volume, subdomainName),
    ...(listAt(spec, 'accessModes').length === 0 ? [required('spec.accessModes')] : []),
    ...capacityCauses(objectAt(spec, 'capacity')),
    ...(Object.keys(source).length === 0 ? [required('spec', 'must specify a volume type')] : []),
    ...(isMoved ? [forbiddenField(place, `${place} is immutable after creation`)] : []),
  ];
}

function validateClass(object: JsonObject, old: JsonObject | undefined): readonly Cause[] {
  const [policy, mode] = [textAt(object, 'reclaimPolicy'), textAt(object, 'volumeBindingMode')];
  const fixed = ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'];
  const changed =
    old === undefined ? [] : fixed.filter((each) => !isSameJson(object[each], old[each]));
  return [
    ...validateMetadata(object, subdomainName),
    ...(textAt(object, 'provisioner') === '' ? [required('provisioner')] : []),
    ...(classPolicies.includes(policy)
      ? []
      : [notSupported('reclaimPolicy', policy, classPolicies)]),
    ...(bindingModes.includes(mode) ? [] : [notSupported('volumeBindingMode', mode, bindingModes)]),
    ...changed.map((each) => invalidValue(each, object[each], 'field is immutable')),
  ];
}

/** Claims, and the volumes and classes that users look at together with them (SS-8). */
export const storageRows: readonly ResourceRow[] = Object.freeze([
  defineRow({
    type: resourceTypes.persistentVolumeClaims,
    singular: 'persistentvolumeclaim',
    shortNames: ['pvc'],
    schema: persistentVolumeClaim,
    columns: persistentVolumeClaimColumns,
    withDefaults: (object) => mapObjectAt(object, 'spec', defaultClaimSpec),
    prepareForCreate: (object) => ({ ...object, status: { phase: 'Pending' } }),
    validate: validatePersistentVolumeClaim,
    subresources: [statusSubresource('PersistentVolumeClaim')],
    allowsUnconditionalUpdate: true,
    answersDeleted: true,
  }),
  defineRow({
    type: servedTypes.persistentVolumes,
    singular: 'persistentvolume',
    shortNames: ['pv'],
    schema: persistentVolume,
    columns: persistentVolumeColumns,
    withDefaults: (object) =>
      mapObjectAt(object, 'spec', (spec) => withMissing(spec, volumeDefaults)),
    prepareForCreate: newVolume,
    validate: validateVolume,
    subresources: [statusSubresource('PersistentVolume')],
    allowsUnconditionalUpdate: true,
    answersDeleted: true,
  }),
  defineRow({
    type: servedTypes.storageClasses,
    singular: 'storageclass',
    shortNames: ['sc'],
    schema: storageClass,
    columns: storageClassColumns,
    withDefaults: (object) => withMissing(object, classDefaults),
    validate: validateClass,
    allowsUnconditionalUpdate: true,
    answersDeleted: true,
  }),
]);
