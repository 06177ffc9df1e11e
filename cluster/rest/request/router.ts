import { methodNotAllowed, pathNotFound } from '../../errors/status-errors.ts';
import type { ResourceRow, SubresourceRow, Verb } from '../../resource-row.ts';
import { type RefusedRoute, refusedRoute } from './refused-request.ts';
import type { RowIndex } from './row-index.ts';

/** A request for a served resource. */
export interface ResourceRoute {
  readonly kind: 'resource';
  readonly row: ResourceRow;
  /** Empty: all namespaces, or cluster-scoped. */
  readonly namespace: string;
  /** Empty for the collection. */
  readonly name: string;
  readonly subresource: SubresourceRow | undefined;
  readonly verb: Verb;
  readonly query: URLSearchParams;
}

/** What a path and method mean. */
export type Route =
  | ResourceRoute
  | { readonly kind: 'discovery'; readonly segments: readonly string[] }
  /** `segments` are those behind `/openapi/v3`. */
  | { readonly kind: 'openapi'; readonly segments: readonly string[] }
  | { readonly kind: 'fixed'; readonly path: string }
  | RefusedRoute
  | { readonly kind: 'unknown' };

const FIXED_PATHS: ReadonlySet<string> = new Set([
  '/version',
  '/livez',
  '/readyz',
  '/healthz',
  '/openapi/v2',
]);

interface Target {
  readonly row: ResourceRow;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: SubresourceRow | undefined;
}

/** Reads the path and method of a request. @throws {StatusError} 405 for a verb that the resource does not have (HT-4) */
export function routeOf(rows: RowIndex, method: string, url: string): Route {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  if (FIXED_PATHS.has(path)) return { kind: 'fixed', path };
  const segments = segmentsOf(path);
  if (segments[0] === 'openapi' && segments[1] === 'v3') {
    return { kind: 'openapi', segments: segments.slice(2) };
  }
  const groupSegments = groupDepth(segments);
  if (groupSegments === 0) return { kind: 'unknown' };
  if (segments.length <= groupSegments) return { kind: 'discovery', segments };
  const apiVersion = segments.slice(1, groupSegments).join('/');
  const rest = segments.slice(groupSegments);
  const target = targetOf(rows, apiVersion, rest);
  if (target === undefined) return unservedRoute(rows, apiVersion, rest);
  const query = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
  return { ...target, kind: 'resource', verb: verbOf(method, target, query), query };
}

/** Refuses a route. @throws {StatusError} 404: a version that is served answers for what it does not have */
function unservedRoute(rows: RowIndex, apiVersion: string, rest: readonly string[]): Route {
  const refused = refusedRoute(rows, apiVersion, rest);
  if (refused !== undefined) return refused;
  if (rows.ofVersion(apiVersion).length > 0) throw pathNotFound();
  return { kind: 'unknown' };
}

function segmentsOf(path: string): readonly string[] {
  const segments = path.split('/').filter((segment) => segment !== '');
  return path.includes('%') ? segments.map(decode) : segments;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    // A malformed escape names nothing that exists: the request gets its 404 from the lookup.
    return segment;
  }
}

/** Returns how many segments there are up to and including the version: 2 for /api/v1, 3 for /apis/apps/v1; 0 outside the API. */
function groupDepth(segments: readonly string[]): number {
  if (segments[0] === 'api') return 2;
  return segments[0] === 'apis' ? 3 : 0;
}

function targetOf(rows: RowIndex, apiVersion: string, rest: readonly string[]): Target | undefined {
  const nested = rest[0] === 'namespaces' ? rows.find(apiVersion, rest[2] ?? '') : undefined;
  // Otherwise the third segment may still be a subresource of the namespace itself.
  if (nested?.type.isNamespaced === true) return targetIn(nested, rest[1] ?? '', rest.slice(3));
  const row = rows.find(apiVersion, rest[0] ?? '');
  if (row === undefined || (row.type.isNamespaced && rest.length > 1)) return undefined;
  return targetIn(row, '', rest.slice(1));
}

function targetIn(
  row: ResourceRow,
  namespace: string,
  rest: readonly string[],
): Target | undefined {
  const [name = '', subresourceName] = rest;
  if (rest.length > 2) return undefined;
  if (subresourceName === undefined) return { row, namespace, name, subresource: undefined };
  const subresource = row.subresources.find((candidate) => candidate.name === subresourceName);
  return subresource && { row, namespace, name, subresource };
}

function isWatch(query: URLSearchParams): boolean {
  const watch = query.get('watch');
  return watch === '1' || watch === 'true';
}

function verbOf(method: string, target: Target, query: URLSearchParams): Verb {
  const verb = target.name === '' ? collectionVerb(method, query) : objectVerb(method, target);
  const allowed = target.subresource?.verbs ?? target.row.verbs;
  const needsNamespace = target.row.type.isNamespaced && target.namespace === '';
  const isWrite = verb === 'create' || verb === 'deletecollection';
  if (verb === undefined || !allowed.includes(verb) || (needsNamespace && isWrite)) {
    throw methodNotAllowed();
  }
  return verb;
}

function collectionVerb(method: string, query: URLSearchParams): Verb | undefined {
  if (method === 'GET') return isWatch(query) ? 'watch' : 'list';
  if (method === 'POST') return 'create';
  return method === 'DELETE' ? 'deletecollection' : undefined;
}

function objectVerb(method: string, target: Target): Verb | undefined {
  switch (method) {
    case 'GET':
      // `watch=true` is not even looked at here: one object is watched by a field selector.
      return 'get';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return 'delete';
    case 'POST':
      return target.subresource === undefined ? undefined : 'create';
    default:
      return undefined;
  }
}
