import type { JsonObject } from '#base/json.ts';
import type { Parsed } from '#base/parsed.ts';
import type { Cached } from '#kubernetes/informer/informer.ts';
import type { AnnotationKey } from '#statefulset/known-keys.ts';
import {
  arrayAt,
  identityIn,
  integerAt,
  objectAt,
  stringAt,
  stringsIn,
} from '#statefulset/parse-fields.ts';
import { type PhasedRolloutSpec, parsePhasedRollout } from './api.ts';
import { parseStatus, type RolloutStatus } from './status.ts';

/** Finalizer of a PhasedRollout: while it is there, the object owns a set, or may. */
export const finalizer = 'sts.plus/finalizer';
/** Annotation of a StatefulSet that names the PhasedRollout which rolls it out. */
export const ownerAnnotation = 'sts.plus/phasedRollout' satisfies AnnotationKey;

/** A PhasedRollout as this program keeps it. */
export interface RolloutView extends Cached {
  readonly generation: number;
  readonly isDeleting: boolean;
  readonly finalizers: readonly string[];
  readonly spec: Parsed<PhasedRolloutSpec>;
  readonly status: RolloutStatus;
  /** `status` as it is there, conditions and all. */
  readonly writtenStatus: JsonObject;
}

/** Reads a PhasedRollout as the API server sent it. Total: what cannot be read is reported by `spec`, or counts as not written. */
export function parseRollout(object: JsonObject): RolloutView {
  const metadata = objectAt(object, 'metadata');
  return Object.freeze({
    ...identityIn(metadata),
    generation: integerAt(metadata, 'generation') ?? 0,
    isDeleting: stringAt(metadata, 'deletionTimestamp') !== undefined,
    finalizers: stringsIn(arrayAt(metadata, 'finalizers')),
    spec: parsePhasedRollout(object),
    status: parseStatus(object),
    writtenStatus: objectAt(object, 'status'),
  });
}
