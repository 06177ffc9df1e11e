import type { PodCall } from './pod-http.ts';

/** One request on the way of a call. */
export interface Hop {
  readonly method: PodCall['method'];
  readonly url: URL;
  /** Text of the Host header: as configured, so that a default port that was written stays. */
  readonly host: string;
}

/** Requests that one call makes at most, as the peer's client. */
export const maxHops = 10;

/** The first request to `text`; undefined when that is no absolute http(s) URL. */
export function firstHop(method: PodCall['method'], text: string): Hop | undefined {
  const url = URL.parse(text);
  if (url === null || !isWeb(url)) return undefined;
  const authority = /^[^:]+:\/\/([^/?#]*)/.exec(text)?.[1] ?? url.host;
  return { method, url, host: authority.slice(authority.lastIndexOf('@') + 1) };
}

/**
 * The request that follows an answer, as an ordinary client does (DD-12): 301, 302 and 303 ask with GET, 307 and 308
 * with the same method; `X-Cluster` goes along, the password does not unless the new URL has it.
 *
 * @returns undefined when the answer stands; `unusable` when it leads to no http(s) URL
 */
export function redirectOf(
  hop: Hop,
  answer: { readonly status: number; readonly location: string },
): Hop | 'unusable' | undefined {
  const method = methodAfter(hop.method, answer.status);
  if (method === undefined || answer.location === '') return undefined;
  const url = URL.parse(answer.location, hop.url);
  return url === null || !isWeb(url) ? 'unusable' : { method, url, host: url.host };
}

function methodAfter(method: PodCall['method'], status: number): PodCall['method'] | undefined {
  if (status === 301 || status === 302 || status === 303) return 'GET';
  return status === 307 || status === 308 ? method : undefined;
}

function isWeb(url: URL): boolean {
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== '';
}
