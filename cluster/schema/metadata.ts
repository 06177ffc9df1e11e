import {
  bool,
  type FieldSchema,
  fields,
  ignored,
  int,
  kept,
  list,
  listBy,
  mapOf,
  type ObjectSchema,
  setOf,
  text,
  time,
} from './field-schema.ts';

const ownerReference = fields({
  apiVersion: kept(text),
  kind: kept(text),
  name: kept(text),
  uid: kept(text),
  controller: kept(bool),
  blockOwnerDeletion: kept(bool),
});

/** ObjectMeta; managedFields are known and dropped (OB-18). */
export const objectMeta = fields({
  name: text,
  generateName: text,
  namespace: text,
  selfLink: ignored,
  uid: text,
  resourceVersion: text,
  generation: int,
  creationTimestamp: time,
  deletionTimestamp: time,
  deletionGracePeriodSeconds: kept(int),
  labels: mapOf(text),
  annotations: mapOf(text),
  ownerReferences: listBy('uid', ownerReference),
  finalizers: setOf(text),
  managedFields: ignored,
});

/** A LabelSelector object. */
export const labelSelector = fields({
  matchLabels: mapOf(text),
  matchExpressions: list(fields({ key: kept(text), operator: kept(text), values: list(text) })),
});

/** `metav1.Condition`, all of whose members but observedGeneration are required. */
export const condition = fields({
  type: kept(text),
  status: kept(text),
  observedGeneration: int,
  lastTransitionTime: time,
  reason: kept(text),
  message: kept(text),
});

/** A reference to any object. */
export const objectReference = fields({
  kind: text,
  namespace: text,
  name: text,
  uid: text,
  apiVersion: text,
  resourceVersion: text,
  fieldPath: text,
});

/** A reference by name within the namespace. */
export const localObjectReference = fields({ name: text });

/** Returns a whole kind: apiVersion, kind and metadata in addition to its own `members`. */
export function kindOf(members: Readonly<Record<string, FieldSchema>>): ObjectSchema {
  return fields({ apiVersion: text, kind: text, metadata: objectMeta, ...members });
}
