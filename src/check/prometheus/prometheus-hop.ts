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
 * Returns the request that follows an answer to a GET: at the same server, with the same credentials and headers. What the
 * Location names as user and password is not sent. The peer's client goes wherever it is told to: a server that the author of a
 * query has chosen could have this program call others for it.
 *
 * @returns undefined when the answer stands
 */
export function hopAfter(
  hop: Hop,
  { status, location }: { readonly status: number; readonly location: string },
): NextHop | undefined {
  if (!redirects.includes(status) || location === '') return undefined;
  // Put together as texts: a path that begins with two slashes would be taken for a host.
  const url = URL.parse(location, hop.url.origin + hop.target);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return { kind: 'misdirected', why: 'it redirects to no http or https URL' };
  }
  if (url.origin !== hop.url.origin && !isUpgrade(hop.url, url)) {
    return {
      kind: 'misdirected',
      why: 'it redirects to another server, whose URL is to be written',
    };
  }
  const next = { url: new URL(url.origin), target: url.pathname + url.search };
  return { kind: 'hop', hop: { ...hop, ...next } };
}

/** Reports whether `to` is the same host by https in place of http, each at its usual port. */
function isUpgrade(from: URL, to: URL): boolean {
  const isUsual = from.port === '' && to.port === '';
  const isSecured = from.protocol === 'http:' && to.protocol === 'https:';
  return isSecured && isUsual && from.hostname === to.hostname;
}
