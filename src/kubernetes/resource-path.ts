import type { Millis } from '#base/units.ts';
import type { ListQuery, WatchQuery } from './client.ts';
import { apiVersionOf, type ResourceType } from './resource-type.ts';

/** Which collection, object or part of an object a path leads to. */
export interface Target {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/**
 * Reports whether `name` can be that of one object: without one a path leads to a collection, and with dots to what is above
 * it.
 */
export function isPathName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..';
}

/**
 * Returns the URL path of a collection or an object. A namespaced type without a namespace means all namespaces.
 *
 * @throws where a name is given that can be that of no object, as the path would lead to something else
 */
export function resourcePath(type: ResourceType, target: Target): string {
  const root = type.group === '' ? '/api/' : '/apis/';
  let path = root + apiVersionOf(type);
  if (type.isNamespaced && target.namespace !== undefined) {
    path += `/namespaces/${segment(target.namespace)}`;
  }
  path += `/${type.plural}`;
  if (target.name !== undefined) path += `/${segment(target.name)}`;
  return target.subresource === undefined ? path : `${path}/${target.subresource}`;
}

/** Returns the query of a list; empty when there is nothing to say. */
export function listQuery(query: ListQuery): URLSearchParams {
  const params = new URLSearchParams();
  set(params, 'labelSelector', query.labelSelector);
  set(params, 'fieldSelector', query.fieldSelector);
  set(params, 'resourceVersion', query.resourceVersion);
  set(params, 'limit', query.limit);
  set(params, 'continue', query.continue);
  return params;
}

/** Returns the query of a watch; `sendInitialEvents` requires `resourceVersionMatch`, which is set with it. */
export function watchQuery(query: WatchQuery): URLSearchParams {
  const params = listQuery(query);
  params.set('watch', 'true');
  if (query.allowWatchBookmarks === true) params.set('allowWatchBookmarks', 'true');
  if (query.sendInitialEvents === true) {
    params.set('sendInitialEvents', 'true');
    params.set('resourceVersionMatch', 'NotOlderThan');
  }
  set(params, 'timeoutSeconds', query.timeoutSeconds);
  return params;
}

/** Returns `path` with `params` behind what query it already has. */
export function withQuery(path: string, params: URLSearchParams): string {
  if (params.size === 0) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${params.toString()}`;
}

/** Returns `span` as the API server's `timeout` parameter expects it, such as `5m0s` or `1h30m0s` or `1.5s` (FL-15). */
export function goDuration(span: Millis): string {
  const total = Math.max(0, span) / 1_000;
  const hours = Math.floor(total / 3_600);
  const minutes = Math.floor((total % 3_600) / 60);
  const rest = Number((total - hours * 3_600 - minutes * 60).toFixed(3));
  if (hours > 0) return `${hours}h${minutes}m${rest}s`;
  return minutes > 0 ? `${minutes}m${rest}s` : `${rest}s`;
}

// A name with a slash or a question mark would lead to another resource.
function segment(name: string): string {
  if (!isPathName(name)) {
    const need = 'a name must be neither empty nor "." nor ".."';
    throw new Error(`Cannot make a path as ${need}: current value is "${name}"`);
  }
  return encodeURIComponent(name);
}

function set(params: URLSearchParams, name: string, value: string | number | undefined): void {
  if (value !== undefined && value !== '') params.set(name, String(value));
}
