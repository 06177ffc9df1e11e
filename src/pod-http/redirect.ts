import { quoted } from '#base/text/quoted.ts';
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

/** Nothing may end the host in front of the first slash, or a parser would find another one than a reader does. */
const webUrl = /^https?:\/\/([^/?#\\\s]+)(?:[/?#]|$)/i;

/** Returns the first request to `text`; undefined when that is no absolute http(s) URL. */
export function firstHop(method: PodCall['method'], text: string): Hop | undefined {
  const authority = webUrl.exec(text)?.[1];
  const url = URL.parse(text);
  if (authority === undefined || url === null) return undefined;
  return { method, url, host: authority.slice(authority.lastIndexOf('@') + 1) };
}

/** What comes after an answer that redirects. */
export type Redirect =
  | { readonly kind: 'hop'; readonly hop: Hop }
  /** The call has failed; `why` is a clause such as `it redirects to another host`. */
  | { readonly kind: 'misdirected'; readonly why: string };

/**
 * Returns the request that follows an answer (DD-12). 301, 302 and 303 ask with GET, 307 and 308 with the same method;
 * `X-Cluster` goes along, the password does not unless the new URL has it. An ordinary client follows further than this
 * (D-59): to another host, which a pod must not have us call, and with GET after a POST or DELETE, whose 200 says nothing of
 * what was asked for.
 *
 * @returns undefined when the answer stands
 */
export function redirectOf(
  hop: Hop,
  answer: { readonly status: number; readonly location: string },
): Redirect | undefined {
  const method = methodAfter(hop.method, answer.status);
  if (method === undefined || answer.location === '') return undefined;
  if (method !== hop.method) {
    return misdirected(`it answers ${answer.status}, after which ${hop.method} becomes ${method}`);
  }
  const url = URL.parse(answer.location, hop.url);
  if (url === null || !isWeb(url)) {
    return misdirected(
      `it redirects to ${quoted(answer.location)}, which is not an http or https URL`,
    );
  }
  if (bareName(url) !== bareName(hop.url)) {
    return misdirected(`it redirects to ${quoted(answer.location)}, which is another host`);
  }
  return { kind: 'hop', hop: { method, url, host: url.host } };
}

function misdirected(why: string): Redirect {
  return { kind: 'misdirected', why };
}

function methodAfter(method: PodCall['method'], status: number): PodCall['method'] | undefined {
  if (status === 301 || status === 302 || status === 303) return 'GET';
  return status === 307 || status === 308 ? method : undefined;
}

function isWeb(url: URL): boolean {
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== '';
}

/**
 * Returns `name` without the dot at its end, which only keeps search lists out: a pod may leave it away where it names
 * itself.
 */
function bareName({ hostname }: URL): string {
  return hostname.replace(/\.$/, '');
}
