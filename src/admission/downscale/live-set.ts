import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { integerAt, objectAt, stringAt } from '#statefulset/parse-fields.ts';
import { type PreparedSet, preparedSetOf } from './prepared-set.ts';

/** The set that shrinks, as it is stored. */
export interface LiveSet {
  /** Or why it cannot be read. */
  readonly set: PreparedSet | string;
  readonly generation: number;
}

/** What the API means where no replicas are stated. */
const defaultReplicas = 1;

/**
 * Reads the stored set; undefined where it is not the one that the review is about: another object of that name, or one
 * with other replicas. Whatever a review says could have been posted by any client (D-59).
 *
 * @param posted `oldObject` of the review: a StatefulSet, or a Scale, which bears the uid of its set
 * @param from the replicas that it states
 */
export function liveSetOf(
  live: KubernetesObject,
  posted: JsonValue | undefined,
  from: number,
): LiveSet | undefined {
  if (uidOf(posted) !== live.metadata.uid || replicasOf(live) !== from) return undefined;
  return { set: preparedSetOf(live), generation: live.metadata.generation ?? 0 };
}

/** Returns the replicas that a StatefulSet asks for. */
export function replicasOf(set: JsonObject): number {
  return integerAt(objectAt(set, 'spec'), 'replicas') ?? defaultReplicas;
}

function uidOf(posted: JsonValue | undefined): string | undefined {
  const object: JsonObject = isJsonObject(posted) ? posted : {};
  return stringAt(objectAt(object, 'metadata'), 'uid');
}
