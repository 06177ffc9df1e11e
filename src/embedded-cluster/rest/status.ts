import type { JsonObject } from '#base/json.ts';
import type { ResourceRow } from '#embedded-cluster/resource-row.ts';
import { type Cause, StatusError } from '#embedded-cluster/status-error.ts';

/** `plural`, or `plural.group`: how messages and the store name a resource. */
export function resourceName(row: ResourceRow): string {
  const { group, plural } = row.type;
  return group === '' ? plural : `${plural}.${group}`;
}

function kindName(row: ResourceRow): string {
  const { group, kind } = row.type;
  return group === '' ? kind : `${kind}.${group}`;
}

function about(row: ResourceRow, name: string): { name: string; group?: string; kind: string } {
  const { group, plural } = row.type;
  return { name, ...(group === '' ? {} : { group }), kind: plural };
}

/** 404 for a missing object. */
export function notFound(row: ResourceRow, name: string): StatusError {
  return new StatusError(
    { code: 404, reason: 'NotFound', details: about(row, name) },
    `${resourceName(row)} "${name}" not found`,
  );
}

/** 409 for a create over an existing object. */
export function alreadyExists(row: ResourceRow, name: string, isTerminating: boolean): StatusError {
  const prefix = isTerminating ? 'object is being deleted: ' : '';
  return new StatusError(
    { code: 409, reason: 'AlreadyExists', details: about(row, name) },
    `${prefix}${resourceName(row)} "${name}" already exists`,
  );
}

/** 409 with `why` behind the usual sentence. */
export function conflict(row: ResourceRow, name: string, why: string): StatusError {
  return new StatusError(
    { code: 409, reason: 'Conflict', details: about(row, name) },
    `Operation cannot be fulfilled on ${resourceName(row)} "${name}": ${why}`,
  );
}

/** 409 for a write based on an older version. */
export function staleVersion(row: ResourceRow, name: string): StatusError {
  return conflict(
    row,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );
}

/** 409 for a delete precondition; the kind stands where other messages have the plural. */
export function failedPrecondition(row: ResourceRow, name: string, why: string): StatusError {
  return new StatusError(
    { code: 409, reason: 'Conflict', details: { ...about(row, name), kind: row.type.kind } },
    `Operation cannot be fulfilled on ${kindName(row)} "${name}": ${why}`,
  );
}

/** 422 with one cause per broken rule. */
export function invalid(row: ResourceRow, name: string, causes: readonly Cause[]): StatusError {
  const parts = causes.map(({ field, message }) => `${field}: ${message}`);
  const [only] = parts;
  const text = parts.length === 1 && only !== undefined ? only : `[${parts.join(', ')}]`;
  return new StatusError(
    {
      code: 422,
      reason: 'Invalid',
      details: { ...about(row, name), kind: row.type.kind, causes },
    },
    `${kindName(row)} "${name}" is invalid: ${text}`,
  );
}

/** 422 for options of a request rather than an object. */
export function invalidOptions(kind: string, cause: Cause): StatusError {
  return new StatusError(
    { code: 422, reason: 'Invalid', details: { group: 'meta.k8s.io', kind, causes: [cause] } },
    `${kind}.meta.k8s.io "" is invalid: ${cause.field}: ${cause.message}`,
  );
}

/** 400. */
export function badRequest(message: string): StatusError {
  return new StatusError({ code: 400, reason: 'BadRequest' }, message);
}

/** 405. */
export function methodNotAllowed(): StatusError {
  return new StatusError(
    { code: 405, reason: 'MethodNotAllowed' },
    'the server does not allow this method on the requested resource',
  );
}

/** 404 for something that this server does not serve. */
export function notServed(): StatusError {
  return new StatusError(
    { code: 404, reason: 'NotFound' },
    'the server could not find the requested resource',
  );
}

/** 406. */
export function notAcceptable(): StatusError {
  return new StatusError(
    { code: 406, reason: 'NotAcceptable' },
    'only the following media types are accepted: application/json',
  );
}

/** 415 that lists `accepted`. */
export function unsupportedMediaType(seen: string, accepted: readonly string[]): StatusError {
  return new StatusError(
    { code: 415, reason: 'UnsupportedMediaType' },
    `the body of the request was in an unknown format (${seen}) - accepted media types include: ${accepted.join(', ')}`,
  );
}

/** 410 for a watch that starts before the log. */
export function tooOldRevision(asked: number, oldest: number): StatusError {
  return new StatusError(
    { code: 410, reason: 'Expired' },
    `too old resource version: ${asked} (${oldest})`,
  );
}

/** 504 for a revision that has not come. */
export function tooLargeRevision(asked: number, current: number): StatusError {
  return new StatusError(
    {
      code: 504,
      reason: 'Timeout',
      details: {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      },
    },
    `Timeout: Too large resource version: ${asked}, current: ${current}`,
  );
}

/** The Status body of a refused request (ER-1). */
export function statusOf(error: StatusError): JsonObject {
  const { name, group, kind, uid, causes, retryAfterSeconds } = error.details;
  const members = Object.entries({ name, group, kind, uid, retryAfterSeconds }).filter(
    ([, value]) => value !== undefined,
  );
  const details: JsonObject = {
    ...Object.fromEntries(members),
    ...(causes === undefined ? {} : { causes: causes.map((cause) => ({ ...cause })) }),
  };
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: error.message,
    ...(error.reason === '' ? {} : { reason: error.reason }),
    ...(Object.keys(details).length === 0 ? {} : { details }),
    code: error.code,
  };
}

/** The Status body of a request that succeeded without an object to show (OB-9). */
export function successStatus(row: ResourceRow, name: string, uid: string): JsonObject {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { ...about(row, name), uid },
  };
}
