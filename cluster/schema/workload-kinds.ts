import {
  fields,
  int,
  intOrString,
  json,
  kept,
  list,
  listBy,
  mapOf,
  replaced,
  text,
  time,
} from './field-schema.ts';
import { condition, kindOf, labelSelector } from './metadata.ts';
import { persistentVolumeClaim } from './persistent-volume-claim.ts';
import { podSpec, podTemplate } from './pod-spec.ts';
import { podStatus } from './pod-status.ts';

/** Pod. */
export const pod = kindOf({ spec: podSpec, status: podStatus });

/** StatefulSet; `updateStrategy.rollingUpdate.maxUnavailable` and `ordinals` included. */
export const statefulSet = kindOf({
  spec: fields({
    replicas: kept(int),
    selector: labelSelector,
    template: podTemplate,
    volumeClaimTemplates: list(persistentVolumeClaim),
    serviceName: kept(text),
    podManagementPolicy: text,
    updateStrategy: fields({
      type: text,
      rollingUpdate: fields({ partition: kept(int), maxUnavailable: intOrString }),
    }),
    revisionHistoryLimit: kept(int),
    minReadySeconds: int,
    persistentVolumeClaimRetentionPolicy: fields({ whenDeleted: text, whenScaled: text }),
    ordinals: fields({ start: kept(int) }),
  }),
  status: fields({
    observedGeneration: int,
    replicas: kept(int),
    readyReplicas: int,
    currentReplicas: int,
    updatedReplicas: int,
    currentRevision: text,
    updateRevision: text,
    collisionCount: kept(int),
    conditions: listBy(
      'type',
      fields({
        type: kept(text),
        status: kept(text),
        lastTransitionTime: time,
        reason: text,
        message: text,
      }),
    ),
    availableReplicas: kept(int),
  }),
});

/** ControllerRevision. */
export const controllerRevision = kindOf({ data: json, revision: kept(int) });

/** PodDisruptionBudget, whose selector strategic merge replaces. */
export const podDisruptionBudget = kindOf({
  spec: fields({
    minAvailable: intOrString,
    selector: replaced(labelSelector),
    maxUnavailable: intOrString,
    unhealthyPodEvictionPolicy: kept(text),
  }),
  status: fields({
    observedGeneration: int,
    disruptedPods: mapOf(time),
    disruptionsAllowed: kept(int),
    currentHealthy: kept(int),
    desiredHealthy: kept(int),
    expectedPods: kept(int),
    conditions: listBy('type', condition),
  }),
});
