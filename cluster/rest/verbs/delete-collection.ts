import { apiVersionOf } from '#kubernetes/resource-type.ts';
import { StatusError } from '../../errors/status-error.ts';
import { without } from '../../json/json-fields.ts';
import type { Version } from '../../store/version.ts';
import {
  type ApiCall,
  type Reply,
  replyWith,
  type ServerContext,
} from '../request/server-context.ts';
import { deleteNamed } from './delete.ts';
import { deleteOptionsOf } from './delete-options.ts';
import { nameOf } from './list.ts';
import { candidates, selectionOf } from './selection.ts';

/** Deletions after which other work of the process gets a turn, so that watches are read meanwhile. */
const BATCH = 100;

/** Answers DELETE of a collection: each matching object with the same options (OB-11). */
export async function deleteCollection(context: ServerContext, call: ApiCall): Promise<Reply> {
  const options = deleteOptionsOf(call);
  const selection = selectionOf(context, call);
  const { revision } = context.store;
  const { matches } = selection;
  const found = candidates(context, call, selection).filter(
    ({ object }) => matches === undefined || matches(object),
  );
  for (const [at, version] of found.entries()) {
    await deleteIfPresent(context, call, { name: nameOf(version), options });
    if (at % BATCH === BATCH - 1) await context.clock.yield();
  }
  return listReply(call, found, revision);
}

async function deleteIfPresent(
  context: ServerContext,
  call: ApiCall,
  target: Parameters<typeof deleteNamed>[2],
): Promise<void> {
  try {
    await deleteNamed(context, call, target);
  } catch (error) {
    // Another client was faster: what this request wants has happened.
    if (!(error instanceof StatusError && error.code === 404)) throw error;
  }
}

/** Returns what there was to delete, as the list of `revision`. */
function listReply(call: ApiCall, found: readonly Version[], revision: number): Reply {
  const { type } = call.route.row;
  return replyWith(200, {
    kind: `${type.kind}List`,
    apiVersion: apiVersionOf(type),
    metadata: { resourceVersion: String(revision) },
    items: found.map(({ object }) => without(object, 'kind', 'apiVersion')),
  });
}
