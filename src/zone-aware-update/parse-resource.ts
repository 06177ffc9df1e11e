import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { Parsed } from '#base/parsed.ts';
import type { Cached } from '#kubernetes/informer/informer.ts';
import { identityIn, integerAt, objectAt, stringAt } from '#statefulset/parse-fields.ts';
import { parseZoneAwareUpdate, type ZoneAwareUpdateSpec } from './api.ts';
import { parseUpdateStatus, type UpdateStatus } from './status.ts';

/** A ZoneAwareUpdate as this program keeps it. */
export interface UpdateView extends Cached {
  readonly generation: number;
  /** As it is written, so that the older of two comes first as a text. */
  readonly createdAt: string;
  readonly isDeleting: boolean;
  readonly spec: Parsed<ZoneAwareUpdateSpec>;
  readonly status: UpdateStatus;
  /** `status` as it is there, conditions and all. */
  readonly writtenStatus: JsonObject;
}

/** Reads a ZoneAwareUpdate as the API server sent it. Total: what cannot be read is reported by `spec`, or counts as not written. */
export function parseUpdate(object: JsonObject): UpdateView {
  const metadata = objectAt(object, 'metadata');
  return Object.freeze({
    ...identityIn(metadata),
    generation: integerAt(metadata, 'generation') ?? 0,
    createdAt: stringAt(metadata, 'creationTimestamp') ?? '',
    isDeleting: stringAt(metadata, 'deletionTimestamp') !== undefined,
    spec: parseZoneAwareUpdate(object),
    status: parseUpdateStatus(object),
    writtenStatus: objectAt(object, 'status'),
  });
}

/** Returns the condition that says how a rollout goes on, as it is there. */
export function progressOf({
  writtenStatus,
}: Pick<UpdateView, 'writtenStatus'>): JsonObject | undefined {
  const { conditions } = writtenStatus;
  if (!Array.isArray(conditions)) return undefined;
  return conditions.filter(isJsonObject).find(({ type }) => type === 'Progressing');
}
