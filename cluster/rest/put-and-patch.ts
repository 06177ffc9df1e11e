import type { JsonObject, JsonValue } from '#base/json.ts';
import { apiVersionOf } from '#kubernetes/resource-type.ts';
import { badRequest, notFound } from '../errors/status-errors.ts';
import { isSameJson, metadataOf, textField } from '../json/json-fields.ts';
import { parseJson } from '../json/parse-json.ts';
import { collectionOf, keyOf } from './request/commit.ts';
import {
  checkBodySize,
  checkKind,
  decodeAnyBody,
  decodeObject,
  dropUnknownFields,
  mediaTypeOf,
} from './request/decode-body.ts';
import { present, presentationOf, versionReply } from './request/presentation.ts';
import {
  type ApiCall,
  type Reply,
  replyWith,
  type ServerContext,
} from './request/server-context.ts';
import { completeScale, scaleLens, scaleOf } from './subresources/scale.ts';
import { createObject } from './verbs/create.ts';
import { checkName, updateObject } from './verbs/update.ts';

/** Answers PUT of an object, its status or its finalizers (OB-3, OB-4, OB-6). */
export async function put(context: ServerContext, call: ApiCall): Promise<Reply> {
  if (call.route.subresource?.name === 'scale') return putScale(context, call);
  const { row, name, subresource } = call.route;
  const wanted = decodeObject(call);
  if (textField(metadataOf(wanted), 'name') === '') {
    throw badRequest(
      `the name of the object must be given and equal the name on the URL (${name})`,
    );
  }
  checkName(call, metadataOf(wanted));
  const isMissing = collectionOf(context, call).get(keyOf(call, name)) === undefined;
  if (isMissing && row.allowsCreateOnUpdate && subresource === undefined) {
    const created = await createObject(context, call, wanted);
    return versionReply(context, call, { status: 201, version: created });
  }
  const version = await updateObject(context, call, { wanted: () => wanted });
  return versionReply(context, call, { status: 200, version });
}

/** Answers PATCH of an object, its status or its scale (PA-1, PA-2, PA-6). */
export async function patch(context: ServerContext, call: ApiCall): Promise<Reply> {
  checkBodySize(call.request.body);
  const { row, subresource } = call.route;
  context.rules.checkPatchType(mediaTypeOf(call), row);
  if (subresource?.name === 'scale') return patchScale(context, call);
  const expected = { apiVersion: apiVersionOf(row.type), kind: row.type.kind };
  const wanted = (stored: JsonObject): JsonObject => {
    const patched = applied(context, call, stored);
    checkKind(patched, expected);
    // What was stored has no unknown fields: an untouched result need not be decoded again.
    return isSameJson(patched, stored) ? patched : dropUnknownFields(call, patched);
  };
  const version = await updateObject(context, call, { wanted });
  return versionReply(context, call, { status: 200, version });
}

function applied(context: ServerContext, call: ApiCall, object: JsonObject): JsonObject {
  return context.rules.applyPatch({
    contentType: mediaTypeOf(call),
    body: patchBody(call),
    object,
    row: call.route.row,
  });
}

/** Returns the body of a patch. Only JSON is parsed: what else arrives is refused by its type, not by its syntax. */
function patchBody(call: ApiCall): JsonValue {
  return mediaTypeOf(call).endsWith('json') ? parseJson(call.request.body) : null;
}

async function putScale(context: ServerContext, call: ApiCall): Promise<Reply> {
  const scale = decodeAnyBody(call);
  checkKind(scale, { apiVersion: 'autoscaling/v1', kind: 'Scale' });
  const wanted = completeScale(call, scale);
  const version = await updateObject(context, call, {
    wanted: () => wanted,
    lens: scaleLens(call),
  });
  return scaleReply(context, call, version.object);
}

async function patchScale(context: ServerContext, call: ApiCall): Promise<Reply> {
  const lens = scaleLens(call);
  const wanted = (stored: JsonObject): JsonObject =>
    completeScale(call, applied(context, call, lens.shown(stored)));
  const version = await updateObject(context, call, { wanted, lens });
  return scaleReply(context, call, version.object);
}

function scaleReply(context: ServerContext, call: ApiCall, object: JsonObject): Reply {
  const { row, subresource } = call.route;
  const scale = scaleOf(object, row.scalePaths);
  const { columns = row.columns } = subresource ?? {};
  const view = { ...presentationOf(context, call), row: { ...row, columns } };
  return replyWith(200, present(view, scale));
}

/** Answers GET of an object or of a subresource that is a part of it. */
export function get(context: ServerContext, call: ApiCall): Reply {
  const { row, name, subresource } = call.route;
  const collection = collectionOf(context, call);
  const key = keyOf(call, name);
  const { viewRevision } = call;
  const version =
    viewRevision === undefined
      ? collection.get(key)
      : collection.at(viewRevision)?.find((candidate) => candidate.key === key);
  if (version === undefined) throw notFound(row, name);
  if (subresource?.name === 'scale') return scaleReply(context, call, version.object);
  return versionReply(context, call, { status: 200, version });
}
