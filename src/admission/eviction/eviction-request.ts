/** What an Eviction under review says, as far as `parse-review.ts` reads it. */
import { isJsonArray, isJsonObject, jsonIn } from '#base/json.ts';
import { objectAt, stringAt } from '#statefulset/parse-fields.ts';
import type { AdmissionRequest } from '../review/review.ts';

/** Returns the uid without which nothing is evicted; undefined where the Eviction demands none. */
export function demandedUid({ object }: AdmissionRequest): string | undefined {
  const options = isJsonObject(object) ? objectAt(object, 'deleteOptions') : {};
  return stringAt(objectAt(options, 'preconditions'), 'uid');
}

/**
 * Returns whether nothing is evicted in the end. kubectl says so in the Eviction itself, which the API server does not pass on
 * to webhooks: a reservation for it would keep other pods for nothing.
 */
export function isDryRun({ isDryRun: isAnnounced, object }: AdmissionRequest): boolean {
  if (isAnnounced) return true;
  const options = isJsonObject(object) ? objectAt(object, 'deleteOptions') : {};
  const asked = jsonIn(stringAt(options, 'dryRun') ?? '');
  return isJsonArray(asked) && asked.includes('All');
}
