import type { JsonObject } from '#base/json.ts';
import { type Cause, type StatusDetails, StatusError } from '../../errors/status-error.ts';
import type { ResourceRow } from '../../resource-row.ts';

function about(row: ResourceRow, name: string): { name: string; group?: string; kind: string } {
  const { group, plural } = row.type;
  return { name, ...(group === '' ? {} : { group }), kind: plural };
}

/** Returns 422 for options of a request rather than an object. */
export function invalidOptions(kind: string, cause: Cause): StatusError {
  return new StatusError(
    { code: 422, reason: 'Invalid', details: { group: 'meta.k8s.io', kind, causes: [cause] } },
    `${kind}.meta.k8s.io "" is invalid: ${cause.field}: ${cause.message}`,
  );
}

/** Returns 415 that lists `accepted`. */
export function unsupportedMediaType(seen: string, accepted: readonly string[]): StatusError {
  return new StatusError(
    { code: 415, reason: 'UnsupportedMediaType' },
    `the body of the request was in an unknown format (${seen}) - accepted media types include: ${accepted.join(', ')}`,
  );
}

/** Returns the Status body of a refused request (ER-1). */
export function statusOf(error: StatusError): JsonObject {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: error.message,
    ...(error.reason === '' ? {} : { reason: error.reason }),
    ...(error.details === undefined ? {} : { details: detailsOf(error.details) }),
    code: error.code,
  };
}

function detailsOf(details: StatusDetails): JsonObject {
  const { name, group, kind, uid, causes, retryAfterSeconds } = details;
  const members = Object.entries({ name, group, kind, uid, retryAfterSeconds }).filter(
    ([, value]) => value !== undefined,
  );
  return {
    ...Object.fromEntries(members),
    ...(causes === undefined ? {} : { causes: causes.map((cause) => ({ ...cause })) }),
  };
}

/** Returns the Status body of a request that succeeded without an object to show (OB-9). */
export function successStatus(row: ResourceRow, name: string, uid: string): JsonObject {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { ...about(row, name), uid },
  };
}
