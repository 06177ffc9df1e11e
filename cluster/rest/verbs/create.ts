import type { JsonObject } from '#base/json.ts';
import { timestamp } from '../../clock/timestamp.ts';
import {
  alreadyExists,
  badRequest,
  generatedNameTaken,
  invalid,
  resourceVersionOnCreate,
} from '../../errors/status-errors.ts';
import { metadataOf, objectField, textField, without } from '../../json/json-fields.ts';
import { STALE } from '../../store/store.ts';
import type { Version } from '../../store/version.ts';
import { collectionOf, commit, keyOf } from '../request/commit.ts';
import { decodeObject } from '../request/decode-body.ts';
import { versionReply } from '../request/presentation.ts';
import type { Admission, ApiCall, Reply, ServerContext } from '../request/server-context.ts';
import { withDefaultClass } from './default-storage-class.ts';
import { assemble, clientMetadata, generateName, hasStatus, newMetadata } from './metadata.ts';
import { checkNamespaceForCreate } from './namespace-lifecycle.ts';
import { ownerCauses, withoutDuplicateOwners } from './owner-references.ts';
import { withTopologyLabels } from './topology-labels.ts';

/** Attempts to find a free generated name (OB-1). */
const NAME_ATTEMPTS = 8;

/** Answers POST to a collection (OB-1). */
export async function create(context: ServerContext, call: ApiCall): Promise<Reply> {
  const object = decodeObject(call);
  const version = await createObject(context, call, object);
  return versionReply(context, call, { status: 201, version });
}

/** Stores `object` as a new one; PUT that creates comes here too (OB-4). @throws {StatusError} */
export async function createObject(
  context: ServerContext,
  call: ApiCall,
  object: JsonObject,
): Promise<Version> {
  checkGiven(call, object);
  const given = metadataOf(object);
  checkNamespaceForCreate(
    context,
    call,
    textField(given, 'name') || textField(given, 'generateName'),
  );
  const complete = withDefaultClass(context, call, placed(context, call, object));
  const { admission } = context;
  const admitted = admission === undefined ? complete : await mutated(admission, call, complete);
  const { row } = call.route;
  const isGenerated = textField(metadataOf(admitted), 'name') === '';
  for (let attempt = 1; ; attempt += 1) {
    const name = chooseName(context, call, admitted);
    const stored = await store(context, call, { name, object: admitted });
    if (stored !== STALE) return stored;
    if (!isGenerated)
      throw alreadyExists(row, name, { isTerminating: isLeaving(context, call, name) });
    if (attempt >= NAME_ATTEMPTS) throw generatedNameTaken(row, name);
  }
}

/** Labels what is created on a node as what is bound to it. */
function placed(context: ServerContext, call: ApiCall, object: JsonObject): JsonObject {
  if (call.route.row.type.kind !== 'Pod') return object;
  const node = textField(objectField(object, 'spec'), 'nodeName');
  return node === '' ? object : withTopologyLabels(context, object, node);
}

function isLeaving(context: ServerContext, call: ApiCall, name: string): boolean {
  const existing = collectionOf(context, call).get(keyOf(call, name));
  return existing !== undefined && metadataOf(existing.object)['deletionTimestamp'] !== undefined;
}

function checkGiven(call: ApiCall, object: JsonObject): void {
  const { namespace, row } = call.route;
  const metadata = metadataOf(object);
  const bodyNamespace = textField(metadata, 'namespace');
  if (bodyNamespace !== '' && bodyNamespace !== namespace && row.type.isNamespaced) {
    throw badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
  if (textField(metadata, 'resourceVersion') !== '') {
    // Not 400: the real server lets this storage error through as it is.
    throw resourceVersionOnCreate();
  }
}

function chooseName(context: ServerContext, call: ApiCall, object: JsonObject): string {
  const metadata = metadataOf(object);
  const name = textField(metadata, 'name');
  if (name !== '') return name;
  const base = textField(metadata, 'generateName');
  if (base !== '') return generateName(base, context.random.names);
  throw invalid(call.route.row, '', [
    {
      reason: 'FieldValueRequired',
      message: 'Required value: name or generateName is required',
      field: 'metadata.name',
    },
  ]);
}

/** Stores it. @returns {@link STALE} where the name is taken, which shows only after every other check, as upstream */
async function store(
  context: ServerContext,
  call: ApiCall,
  given: { readonly name: string; readonly object: JsonObject },
): Promise<Version | typeof STALE> {
  const { row } = call.route;
  const { name } = given;
  const object = newObject(context, call, given);
  const causes = [...ownerCauses(metadataOf(object)), ...row.validate(object)];
  if (causes.length > 0) throw invalid(row, name, causes);
  await context.admission?.validate({ call, operation: 'CREATE', name, object });
  const key = keyOf(call, name);
  // A dry run commits nothing, and would not notice.
  if (collectionOf(context, call).get(key) !== undefined) return STALE;
  call.warnings.push(...ineffectiveWarnings(row.ineffectiveFields(object)));
  return commit(context, call, { key, before: undefined, after: object });
}

function newObject(
  context: ServerContext,
  call: ApiCall,
  given: { readonly name: string; readonly object: JsonObject },
): JsonObject {
  const { row, namespace } = call.route;
  const metadata = newMetadata(row, given.object, {
    name: given.name,
    namespace,
    uid: context.random.uids.uuid(),
    creationTimestamp: timestamp(context.clock.now()),
  });
  const owned = withoutDuplicateOwners(metadata);
  call.warnings.push(...owned.warnings);
  const content = hasStatus(row) ? without(given.object, 'status') : given.object;
  return row.prepareForCreate(assemble(row, owned.metadata, content));
}

/** Returns `object` as the mutating webhooks leave it: they see it with defaults, and without what the server will add. */
async function mutated(
  admission: Admission,
  call: ApiCall,
  object: JsonObject,
): Promise<JsonObject> {
  const shown = withoutSystemFields(call.route, object);
  const name = textField(metadataOf(object), 'name');
  const result = await admission.mutate({ call, operation: 'CREATE', name, object: shown });
  if (result === undefined || result === shown) return object;
  checkGiven(call, result);
  return result;
}

function withoutSystemFields({ row, namespace }: ApiCall['route'], object: JsonObject): JsonObject {
  const metadata = {
    ...clientMetadata(metadataOf(object)),
    ...(row.type.isNamespaced ? { namespace } : {}),
  };
  const { status } = object;
  const complete = without(row.prepareForCreate(assemble(row, metadata, object)), 'status');
  return status === undefined ? complete : { ...complete, status };
}

/** Returns the warnings for fields that are stored but do nothing here. */
export function ineffectiveWarnings(fields: readonly string[]): readonly string[] {
  return fields.map((field) => `embedded cluster: ${field} is stored but has no effect`);
}
