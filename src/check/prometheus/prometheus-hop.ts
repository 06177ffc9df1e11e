import { quoted } from '#base/text/quoted.ts';

/** One request on the way of a question. */
export interface Hop {
  /** Absolute, http or https, without user, password and fragment. */
  readonly url: URL;
  /** Path and query as they are sent. */
  readonly target: string;
  /** Value of an `Authorization` header, where one is sent. */
  readonly authorization?: string;
  /** Other headers that the query is sent with; names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Requests that one question makes at most, as the peer's client: nine redirects are followed. */
export const mostHops = 10;

/** What comes after an answer that redirects. */
export type NextHop =
  | { readonly kind: 'hop'; readonly hop: Hop }
  /** `why` is a clause such as `it redirects to …`. */
  | { readonly kind: 'misdirected'; readonly why: string };

const redirects: readonly number[] = [301, 302, 303, 307, 308];

/**
 * Returns the request that follows an answer to a GET. Credentials and headers go along as long as the host stays the same, and never from
 * https to http; once dropped they stay so. The peer's client takes them along to subdomains, and from https to http. What the
 * Location names as user and password is not sent.
 *
 * @param answer `shown` is the location as messages may show it
 * @returns undefined when the answer stands
 */
export function hopAfter(
  hop: Hop,
  answer: { readonly status: number; readonly location: string; readonly shown?: string },
): NextHop | undefined {
  const { status, location, shown = location } = answer;
  if (!redirects.includes(status) || location === '') return undefined;
  // Put together as texts: a path that begins with two slashes would be taken for a host.
  const url = URL.parse(location, hop.url.origin + hop.target);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return {
      kind: 'misdirected',
      why: `it redirects to ${quoted(shown)}, no http or https URL`,
    };
  }
  const next = { url: new URL(url.origin), target: url.pathname + url.search };
  return { kind: 'hop', hop: isTrusted(hop.url, url) ? { ...hop, ...next } : next };
}

/** Reports whether credentials for `from` may be sent to `to`. */
function isTrusted(from: URL, to: URL): boolean {
  return from.hostname === to.hostname && !(from.protocol === 'https:' && to.protocol === 'http:');
}
