import { methodNotAllowed, pathNotFound } from '../errors/status-errors.ts';
import { reviewAccess, reviewSelf } from './access-review.ts';
import { get, patch, put } from './put-and-patch.ts';
import type { ApiCall, Reply, ServerContext } from './request/server-context.ts';
import { bindPod } from './subresources/binding.ts';
import { evictPod } from './subresources/eviction.ts';
import { create } from './verbs/create.ts';
import { deleteOne } from './verbs/delete.ts';
import { deleteCollection } from './verbs/delete-collection.ts';
import { list } from './verbs/list.ts';
import { isNamespaceRow } from './verbs/namespace-lifecycle.ts';

/** Executes a request that is not a watch. @throws {StatusError} */
export function dispatch(context: ServerContext, call: ApiCall): Reply | Promise<Reply> {
  switch (call.route.verb) {
    case 'get':
      return get(context, call);
    case 'list':
      return list(context, call);
    case 'create':
      return dispatchCreate(context, call);
    case 'update':
      return put(context, call);
    case 'patch':
      return patch(context, call);
    case 'delete':
      return deleteOne(context, call);
    case 'deletecollection':
      return deleteCollection(context, call);
    case 'watch':
      throw methodNotAllowed();
    default:
      throw methodNotAllowed();
  }
}

function dispatchCreate(context: ServerContext, call: ApiCall): Reply | Promise<Reply> {
  const { row, subresource } = call.route;
  if (subresource === undefined) {
    if (row.type.kind === 'SelfSubjectAccessReview') return reviewAccess(context, call);
    return row.type.kind === 'SelfSubjectReview' ? reviewSelf(call) : create(context, call);
  }
  const handler = context.subresourceHandlers.get(`${row.type.plural}/${subresource.name}`);
  if (handler !== undefined) return handler(context, call);
  if (subresource.name === 'binding') return bindPod(context, call);
  if (subresource.name === 'eviction') return evictPod(context, call);
  if (subresource.name === 'finalize' && isNamespaceRow(row)) return put(context, call);
  throw pathNotFound();
}
