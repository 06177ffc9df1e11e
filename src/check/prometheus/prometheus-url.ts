import { invalid, type Parsed, valid } from '#base/parsed.ts';
import { quoted } from '#base/text/quoted.ts';
import { requestUriProblem, urlParts } from './go-url.ts';

/** Where a Prometheus server answers, and with which credentials, as the URL itself says. */
export interface PrometheusUrl {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Where queries are answered: absolute, escaped, without a query. */
  readonly path: string;
  /** Value of an `Authorization` header; absent where the URL names no user. */
  readonly authorization?: string;
}

/** What a text is by which a server is to be asked. */
export type PrometheusUrlReading =
  | { readonly kind: 'url'; readonly url: PrometheusUrl }
  /** The peer tries it again and again, and fails each time before anything is sent. */
  | { readonly kind: 'unusable'; readonly why: string }
  /** No URL: the peer does not even try. */
  | { readonly kind: 'malformed'; readonly why: string };

const highestPort = 65_535;

/**
 * Checks `text` as the peer's webhook does: it must be a request URI in Go's sense, which many a useless URL is, too.
 *
 * @param path of the field that `text` is in
 */
export function checkRequestUri(text: string, path: string): Parsed<string> {
  const problem = requestUriProblem(text);
  if (problem === undefined) return valid(text);
  const wanted = 'must be a URL such as "http://prometheus.monitoring:9090"';
  return invalid(path, `${wanted}: got ${shownUrl(text)}, and ${problem.why}`);
}

/** Returns `text` as messages show it: without user and password, wherever the text makes them end. */
function shownUrl(text: string): string {
  return quoted(text.replace(/^((?:[a-z][a-z\d+.-]*:)?\/\/)?.*@/is, '$1…@'));
}

/** Reads where to ask from `text`, as the peer does when it asks. */
export function readPrometheusUrl(text: string): PrometheusUrlReading {
  const parts = urlParts(text);
  if ('why' in parts) return { kind: 'malformed', why: parts.why };
  const { scheme, host = '' } = parts;
  if (scheme !== 'http' && scheme !== 'https') {
    const seen = scheme === '' ? 'it has no scheme' : `its scheme is ${quoted(scheme)}`;
    return { kind: 'unusable', why: `${seen}, where http:// or https:// is needed` };
  }
  if (host === '') return { kind: 'unusable', why: 'it names no host' };
  const origin = originOf(scheme, host);
  if (origin === undefined) {
    return { kind: 'unusable', why: 'its host and port cannot be reached' };
  }
  const user = parts.user === undefined ? {} : { authorization: basicOf(parts.user) };
  return { kind: 'url', url: { origin, path: queryPath(parts.path), ...user } };
}

/**
 * Returns the origin at `host`; undefined where it cannot be reached. Web parsers take some names for addresses, such as `1` for
 * 0.0.0.1, which no reader of the URL would expect: what is not the same name to both is no host.
 */
function originOf(scheme: string, host: string): string | undefined {
  const [, name = '', port = ''] = /^(.*?)(?::(\d*))?$/s.exec(host) ?? [];
  const isReachable = port === '' || (Number(port) > 0 && Number(port) <= highestPort);
  const url = isReachable ? URL.parse(`${scheme}://${host}/`) : null;
  if (url === null) return undefined;
  const isPlain = /^[\w.-]*$/.test(name);
  return isPlain && url.hostname !== name.toLowerCase() ? undefined : url.origin;
}

/** Returns `base` followed by the path of the API, cleaned as Go's `path.Join` does: an escaped slash is a slash. */
function queryPath(base: string): string {
  const decoded = unescaped(base).toString('latin1');
  const kept: string[] = [];
  for (const segment of `${decoded}/api/v1/query`.split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  return `/${kept.join('/')}`.replaceAll(/[^\w.~$&+,/:;=@-]/g, escapedByte);
}

function basicOf(text: string): string {
  const colon = text.indexOf(':');
  const [name, password] = colon < 0 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)];
  return basicAuthorization(unescaped(name), unescaped(password));
}

/** Returns the header for basic authorization; user and password go in byte for byte. */
export function basicAuthorization(name: Uint8Array, password: Uint8Array): string {
  return `Basic ${Buffer.concat([name, Buffer.from(':'), password]).toString('base64')}`;
}

/** Decodes the bytes of `text`; every `%` in it is followed by two hexadecimal digits. */
function unescaped(text: string): Buffer {
  const bytes = Buffer.from(text).toString('latin1');
  const decoded = bytes.replaceAll(/%([\da-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(decoded, 'latin1');
}

function escapedByte(byte: string): string {
  return `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

/**
 * Returns the path and query that ask for `expr` at `url`. White space becomes one space each, also in quotes and behind a comment,
 * as at the peer.
 */
export function queryTarget(url: Pick<PrometheusUrl, 'path'>, expr: string): string {
  const collapsed = expr.replaceAll(/[\t\n\f\r ]+/g, ' ').toWellFormed();
  const escaped = encodeURIComponent(collapsed)
    .replaceAll(/[!'()*]/g, escapedByte)
    .replaceAll('%20', '+');
  return `${url.path}?query=${escaped}`;
}
