import {
  bool,
  type FieldSchema,
  fields,
  json,
  kept,
  list,
  mapOf,
  quantity,
  text,
  time,
} from './field-schema.ts';
import { kindOf, objectReference } from './metadata.ts';

/** Where a volume can lie. Nothing is mounted here, so what is in there is kept as it is given. */
export const volumeSources = [
  'awsElasticBlockStore',
  'azureDisk',
  'azureFile',
  'cephfs',
  'cinder',
  'csi',
  'fc',
  'flexVolume',
  'flocker',
  'gcePersistentDisk',
  'glusterfs',
  'hostPath',
  'iscsi',
  'local',
  'nfs',
  'photonPersistentDisk',
  'portworxVolume',
  'quobyte',
  'rbd',
  'scaleIO',
  'storageos',
  'vsphereVolume',
] as const;

/** PersistentVolume. */
export const persistentVolume = kindOf({
  spec: fields({
    capacity: mapOf(quantity),
    ...Object.fromEntries(volumeSources.map((name): [string, FieldSchema] => [name, json])),
    accessModes: list(text),
    claimRef: objectReference,
    persistentVolumeReclaimPolicy: text,
    storageClassName: text,
    mountOptions: list(text),
    volumeMode: kept(text),
    nodeAffinity: fields({ required: json }),
    volumeAttributesClassName: kept(text),
  }),
  status: fields({ phase: text, message: text, reason: text, lastPhaseTransitionTime: time }),
});

/** StorageClass. */
export const storageClass = kindOf({
  provisioner: kept(text),
  parameters: mapOf(text),
  reclaimPolicy: kept(text),
  mountOptions: list(text),
  allowVolumeExpansion: kept(bool),
  volumeBindingMode: kept(text),
  allowedTopologies: list(
    fields({
      matchLabelExpressions: list(fields({ key: kept(text), values: kept(list(text)) })),
    }),
  ),
});
