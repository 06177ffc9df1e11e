import { bool, fields, int, intOrString, kept, listBy, text, time } from './field-schema.ts';
import { kindOf, labelSelector } from './metadata.ts';
import { podTemplate } from './pod-spec.ts';

const condition = fields({
  type: kept(text),
  status: kept(text),
  lastUpdateTime: time,
  lastTransitionTime: time,
  reason: text,
  message: text,
});

const counts = {
  replicas: int,
  readyReplicas: int,
  availableReplicas: int,
  terminatingReplicas: kept(int),
  observedGeneration: int,
  conditions: listBy('type', condition),
};

/** Deployment. */
export const deployment = kindOf({
  spec: fields({
    replicas: kept(int),
    selector: labelSelector,
    template: podTemplate,
    strategy: fields({
      type: text,
      rollingUpdate: fields({ maxUnavailable: intOrString, maxSurge: intOrString }),
    }),
    minReadySeconds: int,
    revisionHistoryLimit: kept(int),
    paused: bool,
    progressDeadlineSeconds: kept(int),
  }),
  status: fields({
    ...counts,
    updatedReplicas: int,
    unavailableReplicas: int,
    collisionCount: kept(int),
  }),
});

/** ReplicaSet. */
export const replicaSet = kindOf({
  spec: fields({
    replicas: kept(int),
    minReadySeconds: int,
    selector: labelSelector,
    template: podTemplate,
  }),
  status: fields({ ...counts, replicas: kept(int), fullyLabeledReplicas: int }),
});
