/** `/api/v1/…` or `/apis/<group>/<version>/…` down to a subresource, the namespace perhaps in between. */
const resourcePath =
  /^\/(?:api|apis\/([^/]+))\/([^/]+)(?:\/namespaces\/[^/]+)?\/([^/]+)(?:\/([^/]+)(?:\/([^/]+))?)?$/;

/**
 * Returns the `path` label of a request to the API server (ME-12): `apps/v1/statefulsets object status subresource`. Names
 * and namespaces are left out so that series stay few; a path of another shape is its own label.
 *
 * @param path a URL path, with or without its query
 */
export function pathLabel(path: string): string {
  const bare = withoutQuery(path);
  const match = resourcePath.exec(bare);
  if (match === null) return bare;
  const [, group = 'core', version = '', resource = '', name, subresource] = match;
  const kind = `${group}/${version}/${resource}`;
  if (name === undefined) return `${kind} collection`;
  return subresource === undefined ? `${kind} object` : `${kind} object ${subresource} subresource`;
}

/**
 * Returns the `api_group` label of a request to the API server, and the name of its rate limiter (ME-13): `core`, `apps`,
 * `apis` for the list of groups, or else the first segment, such as `/version`.
 *
 * @param path a URL path, with or without its query
 */
export function groupLabel(path: string): string {
  const [, first = '', second = ''] = withoutQuery(path).split('/', 3);
  if (first === 'api') return 'core';
  if (first === 'apis') return second === '' ? 'apis' : second;
  return `/${first}`;
}

function withoutQuery(path: string): string {
  const query = path.indexOf('?');
  return query === -1 ? path : path.slice(0, query);
}
