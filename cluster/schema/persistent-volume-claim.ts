import { fields, kept, list, listBy, mapOf, quantity, text, time } from './field-schema.ts';
import { kindOf, labelSelector, objectMeta } from './metadata.ts';

const claimSpec = fields({
  accessModes: list(text),
  selector: labelSelector,
  resources: fields({ limits: mapOf(quantity), requests: mapOf(quantity) }),
  volumeName: text,
  storageClassName: kept(text),
  volumeMode: kept(text),
  dataSource: fields({ apiGroup: kept(text), kind: kept(text), name: kept(text) }),
  dataSourceRef: fields({
    apiGroup: kept(text),
    kind: kept(text),
    name: kept(text),
    namespace: kept(text),
  }),
  volumeAttributesClassName: kept(text),
});

const claimStatus = fields({
  phase: text,
  accessModes: list(text),
  capacity: mapOf(quantity),
  conditions: listBy(
    'type',
    fields({
      type: kept(text),
      status: kept(text),
      lastProbeTime: time,
      lastTransitionTime: time,
      reason: text,
      message: text,
    }),
  ),
  allocatedResources: mapOf(quantity),
  allocatedResourceStatuses: mapOf(text),
  currentVolumeAttributesClassName: kept(text),
  modifyVolumeStatus: fields({ targetVolumeAttributesClassName: text, status: kept(text) }),
});

/** The template of an ephemeral volume. */
export const persistentVolumeClaimTemplate = fields({ metadata: objectMeta, spec: claimSpec });

/** PersistentVolumeClaim. */
export const persistentVolumeClaim = kindOf({ spec: claimSpec, status: claimStatus });
