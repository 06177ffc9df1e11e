import type { ResourceType } from '#kubernetes/resource-type.ts';
import { type Cause, StatusError } from './status-error.ts';

/** What the builders need to know of a row: {@link import('../resource-row.ts').ResourceRow} fits. */
export interface RowIdentity {
  readonly type: ResourceType;
}

/** Returns the resource as messages name it: `statefulsets.apps`, `pods` (the `gr` of ER-1). */
export function groupResource(row: RowIdentity): string {
  const { plural, group } = row.type;
  return group === '' ? plural : `${plural}.${group}`;
}

function groupKind(row: RowIdentity): string {
  const { kind, group } = row.type;
  return group === '' ? kind : `${kind}.${group}`;
}

function detailsOf(
  row: RowIdentity,
  name: string,
): { name?: string; group?: string; kind: string } {
  const { group, plural } = row.type;
  return {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    kind: plural,
  };
}

/** Returns 404: no such object (ER-1). */
export function notFound(row: RowIdentity, name: string): StatusError {
  return new StatusError(
    { code: 404, reason: 'NotFound', details: detailsOf(row, name) },
    `${groupResource(row)} "${name}" not found`,
  );
}

/** Returns 404: a create in a namespace that does not exist (ER-1). */
export function namespaceNotFound(namespace: string): StatusError {
  return new StatusError(
    { code: 404, reason: 'NotFound', details: { name: namespace, kind: 'namespaces' } },
    `namespaces "${namespace}" not found`,
  );
}

/** Returns 404: no resource is served at this path. */
export function pathNotFound(): StatusError {
  return new StatusError(
    { code: 404, reason: 'NotFound', details: {} },
    'the server could not find the requested resource',
  );
}

/** Returns 409: a create over an existing object; `isTerminating` is true where that one is being deleted (ER-1). */
export function alreadyExists(
  row: RowIdentity,
  name: string,
  options: { readonly isTerminating?: boolean } = {},
): StatusError {
  const prefix = options.isTerminating === true ? 'object is being deleted: ' : '';
  return new StatusError(
    { code: 409, reason: 'AlreadyExists', details: detailsOf(row, name) },
    `${prefix}${groupResource(row)} "${name}" already exists`,
  );
}

/** Returns 409: every name tried for a `generateName` was taken (OB-1). */
export function generatedNameTaken(row: RowIdentity, name: string): StatusError {
  return new StatusError(
    {
      code: 409,
      reason: 'AlreadyExists',
      details: { ...detailsOf(row, name), retryAfterSeconds: 1 },
    },
    `${groupResource(row)} "${name}" already exists, the server was not able to generate a unique name for the object`,
  );
}

/** Returns 409 with a reason of the caller's, such as `pod web-0 is already assigned to node "a"` (ER-1). */
export function conflict(row: RowIdentity, name: string, why: string): StatusError {
  return new StatusError(
    { code: 409, reason: 'Conflict', details: detailsOf(row, name) },
    `Operation cannot be fulfilled on ${groupResource(row)} "${name}": ${why}`,
  );
}

/** Returns 409: a write that carries an old resourceVersion (ER-1, OB-3). */
export function staleResourceVersion(row: RowIdentity, name: string): StatusError {
  return conflict(
    row,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );
}

/** Returns 409: a scale whose `metadata.uid` is not that of the scaled object (OB-3). */
export function changedUid(
  row: RowIdentity,
  name: string,
  uids: { readonly wanted: string; readonly seen: string },
): StatusError {
  return conflict(
    row,
    name,
    `Precondition failed: UID in precondition: ${uids.wanted}, UID in object meta: ${uids.seen}`,
  );
}

/** Returns 409: a precondition of a delete does not hold; the message has the kind in place of the plural (ER-1, OB-8). */
export function preconditionFailed(
  row: RowIdentity,
  name: string,
  precondition: {
    readonly member: 'UID' | 'ResourceVersion';
    readonly wanted: string;
    readonly seen: string;
  },
): StatusError {
  const { member, wanted, seen } = precondition;
  const hint = member === 'UID' ? 'deleted and then recreated' : 'modified';
  return new StatusError(
    {
      code: 409,
      reason: 'Conflict',
      details: { ...detailsOf(row, name), kind: row.type.kind },
    },
    `Operation cannot be fulfilled on ${groupKind(row)} "${name}": the ${member} in the precondition (${wanted}) does not match the ${member} in record (${seen}). The object might have been ${hint}`,
  );
}

/** Returns 422: validation failed; one clause for each cause (ER-1, OB-17). `causes` has at least one entry. */
export function invalid(row: RowIdentity, name: string, causes: readonly Cause[]): StatusError {
  const { group, kind } = row.type;
  const clauses = causes.map(({ field, message }) => `${field}: ${message}`);
  const [first] = clauses;
  const text = clauses.length === 1 && first !== undefined ? first : `[${clauses.join(', ')}]`;
  return new StatusError(
    {
      code: 422,
      reason: 'Invalid',
      details: {
        ...(name === '' ? {} : { name }),
        ...(group === '' ? {} : { group }),
        kind,
        causes,
      },
    },
    `${groupKind(row)} "${name}" is invalid: ${text}`,
  );
}

/** Returns 422: PUT without resourceVersion where the kind needs one (OB-3). */
export function resourceVersionRequired(row: RowIdentity, name: string): StatusError {
  return invalid(row, name, [
    {
      reason: 'FieldValueInvalid',
      message: 'Invalid value: 0: must be specified for an update',
      field: 'metadata.resourceVersion',
    },
  ]);
}

/** Returns 400: a request that makes no sense, such as bad JSON or a wrong namespace (ER-1). */
export function badRequest(message: string): StatusError {
  return new StatusError({ code: 400, reason: 'BadRequest' }, message);
}

/** Returns 400: the body has a member of the wrong JSON type. */
export function undecodable(row: RowIdentity, why: string): StatusError {
  const { kind, version } = row.type;
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`);
}

/** Returns 400: unknown or duplicate fields under `fieldValidation=Strict` (ER-1, OB-13). */
export function strictDecodingError(
  row: RowIdentity,
  fields: { readonly unknown: readonly string[]; readonly duplicate?: readonly string[] },
): StatusError {
  const faults = [
    ...fields.unknown.map((path) => `unknown field "${path}"`),
    ...(fields.duplicate ?? []).map((path) => `duplicate field "${path}"`),
  ];
  return undecodable(row, `strict decoding error: ${faults.join(', ')}`);
}

/** Returns 422: a JSON patch whose `test` failed or whose path is missing; the text is generic as upstream (ER-1, PA-3). */
export function patchRejected(why: string): StatusError {
  return new StatusError(
    {
      code: 422,
      reason: 'Invalid',
      details: { causes: [{ reason: 'UnexpectedServerResponse', message: why }] },
    },
    'the server rejected our request due to an error in our request',
  );
}

/** Returns 415: the body or patch has a type that is not read here (ER-1). */
export function unsupportedMediaType(
  accepted: readonly string[],
  why = 'the body of the request was in an unknown format',
): StatusError {
  return new StatusError(
    { code: 415, reason: 'UnsupportedMediaType', details: {} },
    `${why} - accepted media types include: ${accepted.join(', ')}`,
  );
}

/** Returns 406: no media type that the client accepts is written here. */
export function notAcceptable(accepted: readonly string[]): StatusError {
  return new StatusError(
    { code: 406, reason: 'NotAcceptable' },
    `only the following media types are accepted: ${accepted.join(', ')}`,
  );
}

/** Returns 413: a body or patch beyond its bound (PA-1). */
export function requestTooLarge(message: string): StatusError {
  return new StatusError({ code: 413, reason: 'RequestEntityTooLarge' }, message);
}

/** Returns 405: the resource is served, the verb is not. */
export function methodNotAllowed(): StatusError {
  return new StatusError(
    { code: 405, reason: 'MethodNotAllowed', details: {} },
    'the server does not allow this method on the requested resource',
  );
}

/** Returns 403 with a reason of the caller's (ER-1). */
export function forbidden(row: RowIdentity, name: string, why: string): StatusError {
  return new StatusError(
    { code: 403, reason: 'Forbidden', details: detailsOf(row, name) },
    `${groupResource(row)} "${name}" is forbidden: ${why}`,
  );
}

/** Returns 403: a create in a namespace that is being deleted (ER-1). */
export function namespaceTerminating(
  row: RowIdentity,
  name: string,
  namespace: string,
): StatusError {
  const causes = [
    {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    },
  ];
  return new StatusError(
    { code: 403, reason: 'Forbidden', details: { ...detailsOf(row, name), causes } },
    `${groupResource(row)} "${name}" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
  );
}

/** Returns 410 of a watch that asks for what the log no longer holds; revisions as integers (ER-1). */
export function tooOldResourceVersion(requested: number, oldest: number): StatusError {
  return new StatusError(
    { code: 410, reason: 'Expired' },
    `too old resource version: ${requested} (${oldest})`,
  );
}

/** Returns 410 of a list at an exact resourceVersion that was compacted (ER-1). */
export function expiredList(): StatusError {
  return new StatusError(
    { code: 410, reason: 'Expired' },
    'The resourceVersion for the provided list is too old.',
  );
}

/** Returns 504 after the wait for a revision of the future; revisions as integers (ER-1). */
export function tooLargeResourceVersion(requested: number, current: number): StatusError {
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
  return new StatusError(
    { code: 504, reason: 'Timeout', details: { causes, retryAfterSeconds: 1 } },
    `Timeout: Too large resource version: ${requested}, current: ${current}`,
  );
}

/** Returns 500: such as a webhook that does not answer (ER-1). */
export function internalError(why: string): StatusError {
  return new StatusError(
    { code: 500, reason: 'InternalError', details: { causes: [{ message: why }] } },
    `Internal error occurred: ${why}`,
  );
}

/** Returns 500 with an empty reason: `resourceVersion` in an object to be created (OB-1). */
export function resourceVersionOnCreate(): StatusError {
  return new StatusError(
    { code: 500, reason: '' },
    'resourceVersion should not be set on objects to be created',
  );
}
