import type { JsonObject } from '#base/json.ts';
import type { AnnotationKey } from '#statefulset/known-keys.ts';
import { objectAt } from '#statefulset/parse-fields.ts';
import type { CarriedSet } from '../api.ts';
import { hashOf } from '../spec/rollout-key.ts';

/** Names the StatefulsetRollout that a set belongs to, as `<namespace>/<name>`. */
export const rolloutAnnotation = 'bedrock.operator.slack.com/rollout' satisfies AnnotationKey;
/** A hash of what was wanted last. */
export const hashAnnotation = 'bedrock.operator.slack.com/applied-hash' satisfies AnnotationKey;
/** What was wanted last, so that what is no longer wanted can be distinguished from what others have added. */
export const appliedAnnotation = 'bedrock.operator.slack.com/last-applied' satisfies AnnotationKey;
/** Says who manages the set, to people. */
const managedBy = { 'app.kubernetes.io/managed-by': 'statefulset-rollout-operator' };
/** All annotations of an object together may have so many bytes. */
const mostApplied = 256 * 1_024 - 16 * 1_024;

/** Whose set it is, and how many replicas are written. */
export interface SetWish {
  readonly namespace: string;
  /** Of the resource. */
  readonly rollout: string;
  /** Undefined: they are decided by another owner. */
  readonly replicas: number | undefined;
  /** @default OnDelete */
  readonly strategy?: JsonObject;
}

/** The strategy of a set whose pods only go when a user deletes them. */
export const onDelete: JsonObject = Object.freeze({ type: 'OnDelete', rollingUpdate: null });

/** Returns the set as it is to be. Nothing is added to the pod template: that would be another revision. */
export function wantedSet({ name, object }: CarriedSet, wish: SetWish): JsonObject {
  const { replicas, namespace, rollout, strategy = onDelete } = wish;
  const metadata = objectAt(object, 'metadata');
  const { replicas: _carried, updateStrategy: _strategy, ...rest } = objectAt(object, 'spec');
  const labels = { ...objectAt(metadata, 'labels'), ...managedBy };
  const annotations = objectAt(metadata, 'annotations');
  const applied: JsonObject = { metadata: { labels, annotations }, spec: rest };
  const text = JSON.stringify(applied);
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: {
      name,
      namespace,
      labels,
      annotations: {
        ...annotations,
        [rolloutAnnotation]: `${namespace}/${rollout}`,
        [hashAnnotation]: hashOf(applied),
        ...(Buffer.byteLength(text) <= mostApplied && { [appliedAnnotation]: text }),
      },
    },
    spec: {
      ...rest,
      ...(replicas !== undefined && { replicas }),
      updateStrategy: strategy,
    },
  };
}
