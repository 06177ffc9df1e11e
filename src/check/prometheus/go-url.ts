/**
 * What Go's parsers say of a URL: the peer admits what `url.ParseRequestURI` takes, and asks where `url.Parse` finds it to
 * lead. Nothing is decoded here.
 */
import { isIPv6 } from 'node:net';

/** A URL in parts. */
export interface UrlParts {
  /** In lower case; empty without. */
  readonly scheme: string;
  /** `user:password@`, without the `@`; undefined where there is none. */
  readonly user: string | undefined;
  /** Host and port; undefined where the URL has no such part. */
  readonly host: string | undefined;
  readonly path: string;
}

/** Why a text is no URL: a clause. */
export interface UrlProblem {
  readonly why: string;
}

// oxlint-disable-next-line no-control-regex -- control characters are what Go's parsers refuse
const control = /[\u0000-\u001f\u007f]/;
const schemeFirst = /^([a-z][a-z\d+.-]*):(.*)$/is;
const brokenEscape = /%(?![\da-f]{2})/i;
const userText = /^[\w.~!$&'()*+,;=:%@-]*$/;
const hostText = /^[\w.~!$&'()*+,;=:[\]<>"%\u0080-\u{10ffff}-]*$/u;

interface Beginning {
  readonly scheme: string;
  /** What follows the scheme, up to any query. */
  readonly rest: string;
}

/** Returns why `text` is no request URI, or undefined where it is one. */
export function requestUriProblem(text: string): UrlProblem | undefined {
  if (text === '') return problem('it is empty');
  const begun = beginningOf(text);
  if ('why' in begun) return text === '*' ? undefined : begun;
  const { scheme, rest } = begun;
  if (!rest.startsWith('/')) {
    if (scheme !== '' || text === '*') return undefined;
    return problem('it begins with neither a scheme nor a slash');
  }
  // A request line has no fragment, and without a scheme no host: all of that is its path.
  if (scheme === '' || !rest.startsWith('//')) return escapeProblem(rest, 'path');
  const { authority, path } = cutAuthority(rest);
  return authorityProblem(authority) ?? escapeProblem(path, 'path');
}

/** Returns the parts of `text`, or why it is no URL. */
export function urlParts(text: string): UrlParts | UrlProblem {
  const [beforeFragment = '', ...fragments] = text.split('#');
  const begun = beginningOf(beforeFragment);
  if ('why' in begun) return begun;
  const parts = partsBehind(begun);
  if ('why' in parts) return parts;
  const escapes =
    escapeProblem(parts.path, 'path') ?? escapeProblem(fragments.join('#'), 'fragment');
  return escapes ?? parts;
}

function beginningOf(text: string): Beginning | UrlProblem {
  if (control.test(text)) return problem('it has a control character');
  if (text.startsWith(':')) return problem('it has no scheme before the colon');
  const [, scheme = '', behind = text] = schemeFirst.exec(text) ?? [];
  const [rest = ''] = behind.split('?', 1);
  return { scheme: scheme.toLowerCase(), rest };
}

function partsBehind({ scheme, rest }: Beginning): UrlParts | UrlProblem {
  const bare = { scheme, user: undefined, host: undefined };
  if (scheme !== '' && !rest.startsWith('/')) return { ...bare, path: '' };
  if (scheme === '' && /^[^/]*:/.test(rest)) {
    return problem('its first part has a colon and is not a scheme');
  }
  const isWithHost = rest.startsWith('//') && (scheme !== '' || !rest.startsWith('///'));
  if (!isWithHost) return { ...bare, path: rest };
  const { authority, path } = cutAuthority(rest);
  const { user, host } = cutUser(authority);
  return authorityProblem(authority) ?? { scheme, user, host, path };
}

/** Cuts `//authority/path`. */
function cutAuthority(text: string): { readonly authority: string; readonly path: string } {
  const slash = text.indexOf('/', 2);
  if (slash < 0) return { authority: text.slice(2), path: '' };
  return { authority: text.slice(2, slash), path: text.slice(slash) };
}

function cutUser(authority: string): Pick<UrlParts, 'user'> & { readonly host: string } {
  const at = authority.lastIndexOf('@');
  return { user: at < 0 ? undefined : authority.slice(0, at), host: authority.slice(at + 1) };
}

function authorityProblem(authority: string): UrlProblem | undefined {
  const { user = '', host } = cutUser(authority);
  if (!userText.test(user)) return problem('its user has a character that must be escaped');
  return hostProblem(host) ?? escapeProblem(user, 'user');
}

function hostProblem(host: string): UrlProblem | undefined {
  if (!hostText.test(host)) return problem('its host has a character that no host has');
  if (host.includes('[')) return addressProblem(host) ?? escapeProblem(host, 'host');
  // What is shown might be the begin of a password that has a slash in it.
  const colon = host.lastIndexOf(':');
  if (colon >= 0 && /\D/.test(host.slice(colon + 1))) return problem('its port is not a number');
  // Only what is no ASCII may be escaped.
  if (/%(?![89a-f][\da-f])/i.test(host)) return problem('its host has an escape that no host has');
  return undefined;
}

/** Checks an address in brackets; a zone, which may hold anything, follows an escaped percent sign. */
function addressProblem(host: string): UrlProblem | undefined {
  const [, address = ''] = /^\[([^%\]]*)(?:%25[^[]*)?\](?::\d*)?$/s.exec(host) ?? [];
  return isIPv6(address) ? undefined : problem('its host has brackets around no IPv6 address');
}

function escapeProblem(text: string, where: string): UrlProblem | undefined {
  if (!brokenEscape.test(text)) return undefined;
  return problem(`its ${where} has a "%" without two hexadecimal digits behind it`);
}

function problem(why: string): UrlProblem {
  return { why };
}
