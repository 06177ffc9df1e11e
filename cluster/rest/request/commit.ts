import type { JsonObject } from '#base/json.ts';
import { groupResource } from '../../errors/status-errors.ts';
import { metadataOf, textField, without } from '../../json/json-fields.ts';
import { STALE } from '../../store/store.ts';
import { Version } from '../../store/version.ts';
import type { ApiCall, ServerContext } from './server-context.ts';

/** Returns `<namespace>/<name>`, or `<name>` for cluster-scoped kinds. */
export function keyOf(call: ApiCall, name: string): string {
  const { namespace } = call.route;
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** Returns the collection of the route's resource. */
export function collectionOf(
  context: ServerContext,
  call: ApiCall,
): ReturnType<ServerContext['store']['collection']> {
  return context.store.collection(groupResource(call.route.row));
}

/** One write of a handler. */
export interface Write {
  readonly key: string;
  readonly before: Version | undefined;
  readonly after: JsonObject | undefined;
}

/**
 * Commits and records `write`; a dry run only shows what would be (OB-12).
 *
 * @returns the new version, for a deletion the last one carrying the deletion's revision, for a change that
 * changes nothing the stored one; {@link STALE} when another write came first
 */
export function commit(
  context: ServerContext,
  call: ApiCall,
  write: Write,
): Version | typeof STALE {
  const { key, before, after } = write;
  const shown = after ?? before?.object ?? {};
  if (call.isDryRun) return unstored(key, shown, before);
  const resource = groupResource(call.route.row);
  const change = context.store.commit({ resource, ...write });
  if (change === STALE) return STALE;
  if (change === undefined) return before ?? new Version(key, shown, 0);
  record(context, call, change);
  return change.after ?? change.departed;
}

/** Returns `object` as an answer that nothing was stored for: it has the revision of what is stored, if anything is. */
export function unstored(key: string, object: JsonObject, stored: Version | undefined): Version {
  const metadata = without(metadataOf(object), 'resourceVersion');
  const revision = stored === undefined ? {} : { resourceVersion: String(stored.revision) };
  return new Version(key, { ...object, metadata: { ...metadata, ...revision } }, 0);
}

function verbOf(change: {
  readonly before?: unknown;
  readonly after?: unknown;
}): 'create' | 'update' | 'delete' {
  if (change.before === undefined) return 'create';
  return change.after === undefined ? 'delete' : 'update';
}

function record(
  context: ServerContext,
  call: ApiCall,
  change: {
    readonly revision: number;
    readonly before: Version | undefined;
    readonly after: Version | undefined;
  },
): void {
  const metadata = metadataOf((change.after ?? change.before)?.object ?? {});
  context.eventLog.committed({
    at: context.clock.now(),
    revision: change.revision,
    verb: verbOf(change),
    resource: groupResource(call.route.row),
    namespace: textField(metadata, 'namespace'),
    name: textField(metadata, 'name'),
    uid: textField(metadata, 'uid'),
    user: call.request.user.name,
    callId: call.callId,
    ...(change.before === undefined ? {} : { before: change.before.object }),
    ...(change.after === undefined ? {} : { after: change.after.object }),
  });
}
