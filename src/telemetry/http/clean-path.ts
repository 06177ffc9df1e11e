/**
 * Returns `target` with empty and dot segments removed from its path, keeping a trailing slash and the query, as the peer's
 * router redirects to (ME-34): `//ready?x` gives `/ready?x`.
 *
 * @param target the target of a request line
 * @returns undefined when there is nothing to clean, or `target` is no path
 */
export function cleanTarget(target: string): string | undefined {
  if (!target.startsWith('/')) return undefined;
  const queryAt = target.indexOf('?');
  const path = queryAt === -1 ? target : target.slice(0, queryAt);
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  const slash = segments.length > 0 && path.endsWith('/') ? '/' : '';
  const cleaned = `/${segments.join('/')}${slash}`;
  if (cleaned === path) return undefined;
  // A browser takes a backslash for a slash, and `/\host` would lead it to another host.
  return cleaned.replaceAll('\\', '%5C') + target.slice(path.length);
}
