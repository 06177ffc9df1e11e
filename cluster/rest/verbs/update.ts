import type { JsonObject } from '#base/json.ts';
import {
  badRequest,
  conflict,
  invalid,
  notFound,
  resourceVersionRequired,
  staleResourceVersion,
} from '../../errors/status-errors.ts';
import { metadataOf, textField } from '../../json/json-fields.ts';
import { STALE } from '../../store/store.ts';
import type { Version } from '../../store/version.ts';
import { collectionOf, commit, keyOf, unstored } from '../request/commit.ts';
import type { ApiCall, ServerContext } from '../request/server-context.ts';
import { ineffectiveWarnings } from './create.ts';
import { assemble } from './metadata.ts';
import { isHeld } from './namespace-lifecycle.ts';
import { ownerCauses } from './owner-references.ts';
import { finalizerCauses, updatedObject } from './updated-object.ts';

/** Internal attempts of a write without resourceVersion before it gives up with 409. */
const MAXIMUM_ATTEMPTS = 100;

/** Makes the wanted object from the stored one; called again when another write came first (PA-2). */
type Wanted = (stored: JsonObject) => JsonObject;

/** A part of an object that is read and written as an object of its own, such as its Scale (SU-1). */
export interface Lens {
  readonly shown: (stored: JsonObject) => JsonObject;
  /** `stored` with what `part` says. @throws {StatusError} */
  readonly applied: (stored: JsonObject, part: JsonObject) => JsonObject;
}

/** What an update does. */
export interface Update {
  /** The object as the client wants it; through a lens, the part of it. */
  readonly wanted: Wanted;
  /** @default the whole object */
  readonly lens?: Lens;
  /** Whether the webhooks have had their say already, as for a binding (SU-3). @default false */
  readonly isAdmitted?: boolean;
}

/** Reads, changes and commits the route's object. @throws {StatusError} */
export async function updateObject(
  context: ServerContext,
  call: ApiCall,
  update: Update,
): Promise<Version> {
  const { name, row } = call.route;
  const key = keyOf(call, name);
  for (let attempt = 0; attempt < MAXIMUM_ATTEMPTS; attempt += 1) {
    const before = collectionOf(context, call).get(key);
    if (before === undefined) throw notFound(row, name);
    const object = await prepared(context, call, { ...update, old: before.object });
    const after = isReleased(call, object) ? undefined : object;
    const version = commit(context, call, { key, before, after });
    if (version === STALE) continue;
    // A client that takes the last hold away sees what it wrote, not what was removed.
    return after === undefined ? unstored(key, object, before) : version;
  }
  throw staleResourceVersion(row, name);
}

/**
 * Refuses another object.
 *
 * @throws {StatusError} 400 or 409 when `wanted` is about another object than `stored`; webhooks are not asked about that
 */
function checkIdentity(call: ApiCall, stored: JsonObject, wanted: JsonObject): void {
  const { namespace } = call.route;
  const given = metadataOf(wanted);
  checkName(call, given);
  const givenNamespace = textField(given, 'namespace');
  if (givenNamespace !== '' && givenNamespace !== namespace) {
    throw badRequest(
      `the namespace of the object (${givenNamespace}) does not match the namespace on the request (${namespace})`,
    );
  }
  if (call.route.verb !== 'patch') checkUidPrecondition(call, metadataOf(stored), given);
}

/** Refuses a replacement. @throws {StatusError} 409 or 422 when `wanted` may not replace `stored` */
function checkReplacement(call: ApiCall, stored: JsonObject, wanted: JsonObject): void {
  const given = metadataOf(wanted);
  checkVersion(call, metadataOf(stored), given);
  if (call.route.verb === 'patch') checkUidKept(call, metadataOf(stored), given);
}

/** Refuses another name. @throws {StatusError} 400 when `given` names another object than the URL */
export function checkName(call: ApiCall, given: JsonObject): void {
  const { name } = call.route;
  const givenName = textField(given, 'name');
  if (givenName === name || givenName === '') return;
  throw badRequest(
    `the name of the object (${givenName}) does not match the name on the URL (${name})`,
  );
}

/** Checks the uid in a PUT, which is a precondition. @throws {StatusError} 409 */
function checkUidPrecondition(call: ApiCall, stored: JsonObject, given: JsonObject): void {
  const { row, name } = call.route;
  const uid = textField(given, 'uid');
  const storedUid = textField(stored, 'uid');
  if (uid === '' || uid === storedUid) return;
  const failed = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${storedUid}`;
  const key = `/registry/${row.type.plural}/${keyOf(call, name)}`;
  throw conflict(
    row,
    name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${failed}`,
  );
}

/**
 * Refuses a patch that names another uid: it starts from the stored object, of which that never changes.
 *
 * @throws {StatusError} 422
 */
function checkUidKept(call: ApiCall, stored: JsonObject, given: JsonObject): void {
  const uid = textField(given, 'uid');
  if (uid === '' || uid === textField(stored, 'uid')) return;
  throw invalid(call.route.row, call.route.name, [
    {
      reason: 'FieldValueInvalid',
      message: `Invalid value: "${uid}": field is immutable`,
      field: 'metadata.uid',
    },
  ]);
}

function checkVersion(call: ApiCall, stored: JsonObject, given: JsonObject): void {
  const { row, name } = call.route;
  const version = textField(given, 'resourceVersion');
  if (version === '' || version === '0') {
    if (row.allowsUnconditionalUpdate) return;
    // The storage says it, which knows the resource and not the kind.
    throw resourceVersionRequired({ type: { ...row.type, kind: row.type.plural } }, name);
  }
  if (version !== textField(stored, 'resourceVersion')) throw staleResourceVersion(row, name);
}

interface Step extends Update {
  readonly old: JsonObject;
}

async function prepared(context: ServerContext, call: ApiCall, step: Step): Promise<JsonObject> {
  const { row, name, subresource } = call.route;
  const { old, lens } = step;
  const wanted = await mutated(context, call, step);
  const next = lens === undefined ? wanted : lens.applied(old, wanted);
  checkReplacement(call, old, next);
  const object = updatedObject(call, old, next);
  const causes = [
    ...ownerCauses(metadataOf(object)),
    ...finalizerCauses(old, object),
    // What /binding sets is immutable to all others.
    ...(subresource?.name === 'binding' ? [] : row.validate(object, old)),
  ];
  if (causes.length > 0) throw invalid(row, name, causes);
  if (step.isAdmitted !== true) {
    const shown = lens?.shown ?? same;
    const objects = { object: shown(object), oldObject: shown(old) };
    await context.admission?.validate({ call, operation: 'UPDATE', name, ...objects });
  }
  call.warnings.push(...ineffectiveWarnings(row.ineffectiveFields(object)));
  return object;
}

const same = (object: JsonObject): JsonObject => object;

/**
 * Returns what the client wants, as the mutating webhooks leave it: they see it with defaults, and before it is compared
 * with what is stored.
 */
async function mutated(context: ServerContext, call: ApiCall, step: Step): Promise<JsonObject> {
  const { old, lens, wanted, isAdmitted } = step;
  const given = wanted(old);
  if (lens === undefined) checkIdentity(call, old, given);
  if (context.admission === undefined || isAdmitted === true) return given;
  const object = lens === undefined ? completed(call, old, given) : given;
  const result = await context.admission.mutate({
    call,
    operation: 'UPDATE',
    name: call.route.name,
    object,
    oldObject: lens === undefined ? old : lens.shown(old),
  });
  if (result === undefined || result === object) return given;
  if (lens === undefined) checkIdentity(call, old, result);
  return result;
}

function completed(call: ApiCall, old: JsonObject, given: JsonObject): JsonObject {
  const { row, namespace } = call.route;
  const scope = row.type.isNamespaced ? { namespace } : {};
  const object = assemble(row, { ...metadataOf(given), ...scope }, given);
  return row.prepareForUpdate(object, old);
}

/** Reports whether this update takes the last hold from an object that waits to be deleted (OB-10). */
function isReleased(call: ApiCall, object: JsonObject): boolean {
  const metadata = metadataOf(object);
  if (metadata['deletionTimestamp'] === undefined) return false;
  const grace = metadata['deletionGracePeriodSeconds'] ?? 0;
  return grace === 0 && !isHeld(call.route.row, object);
}
