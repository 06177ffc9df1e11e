/** What a request asks for. */
export interface RequestTarget {
  /** Without escapes. */
  readonly path: string;
  /** Without `?`. */
  readonly query: string;
}

/** Before the path of a target in absolute form, which every server has to take (RFC 9112 §3.2.2). */
const origin = /^https?:\/\/[^/?]*/iu;

/** Reads the target of a request line. */
export function requestTarget(target: string): RequestTarget {
  const url = target.startsWith('/') ? target : target.replace(origin, '');
  const queryAt = url.indexOf('?');
  const path = queryAt < 0 ? url : url.slice(0, queryAt);
  return { path: unescaped(path), query: queryAt < 0 ? '' : url.slice(queryAt + 1) };
}

function unescaped(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    // No path of a webhook: it is answered as such.
    return path;
  }
}
