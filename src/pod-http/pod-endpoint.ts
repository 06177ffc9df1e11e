import { invalid, type Parsed, valid } from '#base/parsed.ts';
import { quoted } from '#base/text/quoted.ts';

/** All of a pod's URL but its host; {@link readPodUrl} and {@link endpointAt} make it, and see to its parts. */
export interface PodEndpoint {
  /** `http://` or `https://`, in whatever letters. */
  readonly scheme: string;
  /** `user:password@`; empty without. */
  readonly user: string;
  /** `:8080`; empty: the scheme's own. */
  readonly port: string;
  /** Path, query and fragment; empty, or beginning with `/`, `?` or `#`. */
  readonly rest: string;
}

/** What a text is by which pods are to be called. */
export type PodUrlReading =
  | { readonly kind: 'endpoint'; readonly endpoint: PodEndpoint }
  /** No URL; the peer's parser refuses it, too. */
  | { readonly kind: 'malformed' }
  /** A URL that cannot be called: it is not http(s), or its port does not exist. */
  | { readonly kind: 'uncallable' };

/** A text of a set, and the path of the field that it is in. */
export interface Field {
  readonly path: string;
  readonly text: string;
}

/**
 * An absolute URL as the peer's parser takes it, in parts: scheme, user, port, and what follows. Its host ends where the peer
 * ends it: only web parsers take a backslash for a slash.
 */
const webUrl =
  /^(https?:\/\/)(?=.)([\w.~!$&'()*+,;=%:@-]*@)?(?:\[[^\]@/?#]*\]|[^\s@[\]\\^`{|}:/?#]*)(?::(\d*))?([/?#].*)?$/is;
// oxlint-disable-next-line no-control-regex -- control characters are what the peer's parser refuses
const control = /[\u0000-\u001f\u007f]/;
const brokenEscape = /%(?![0-9a-f]{2})/i;
const highestPort = 65_535;

/** Reads a URL with any host, which is replaced by that of a pod (DD-10). */
export function readPodUrl(text: string): PodUrlReading {
  if (control.test(text) || text.startsWith(':')) return { kind: 'malformed' };
  if (!/^https?:\/\//i.test(text)) return { kind: 'uncallable' };
  const parts = webUrl.exec(text);
  return parts === null || !isReadable(text) ? { kind: 'malformed' } : readingOf(parts);
}

function readingOf([, scheme = '', user = '', digits = '', rest = '']: readonly (
  | string
  | undefined
)[]): PodUrlReading {
  if (digits === '') return endpoint({ scheme, user, port: '', rest });
  if (!isPort(digits)) return { kind: 'uncallable' };
  return endpoint({ scheme, user, port: `:${digits}`, rest });
}

function endpoint(parts: PodEndpoint): PodUrlReading {
  return { kind: 'endpoint', endpoint: { ...parts, rest: escaped(parts.rest) } };
}

/** Reads where a pod listens, and the path that it answers at; whether a slash is in front of it makes no difference. */
export function endpointAt(port: Field, path: Field): Parsed<PodEndpoint> {
  if (!isPort(port.text)) {
    const wanted = `must be a port number from 1 to ${highestPort}, such as "80"`;
    return invalid(port.path, `${wanted}: got ${quoted(port.text)}`);
  }
  const rest = `/${path.text}`;
  if (control.test(rest) || !isReadable(rest)) {
    const wanted = `must be a path such as "ingester/prepare-shutdown", without control characters, each "%" followed by two hexadecimal digits`;
    return invalid(path.path, `${wanted}: got ${quoted(path.text)}`);
  }
  return valid({
    scheme: 'http://',
    user: '',
    port: `:${port.text}`,
    rest: escaped(cleaned(rest)),
  });
}

/**
 * Cleans a path as the peer does since v0.39, with one slash between two parts and none at its end. Many servers redirect the
 * other forms, and a redirected POST is not the call that prepares a pod.
 */
function cleaned(rest: string): string {
  const path = pathOf(rest);
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}${rest.slice(path.length)}`;
}

function isPort(text: string): boolean {
  const port = Number(text);
  return /^\d{1,5}$/.test(text) && port >= 1 && port <= highestPort;
}

/** Reports whether all that is escaped before and behind a query is so properly. The peer sends a query as it is. */
function isReadable(text: string): boolean {
  const [beforeFragment = '', ...fragment] = text.split('#');
  const [path = ''] = beforeFragment.split('?', 1);
  return !brokenEscape.test(path) && !brokenEscape.test(fragment.join('#'));
}

/** Escapes what Web parsers change: they take a backslash in a path for a slash, and drop blanks at its end. */
function escaped(rest: string): string {
  const path = pathOf(rest);
  return path.replaceAll('\\', '%5C').replaceAll(' ', '%20') + rest.slice(path.length);
}

/** Returns what is in front of query and fragment. */
function pathOf(rest: string): string {
  const end = rest.search(/[?#]/);
  return end === -1 ? rest : rest.slice(0, end);
}
