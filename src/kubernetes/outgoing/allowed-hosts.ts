import { isIP } from 'node:net';
import type { Problem } from '#base/parsed.ts';
import { quoted } from '#base/text/quoted.ts';

/** One entry of a list of hosts that may be called. */
export interface AllowedHost {
  /** Lower case, without a dot at its end; an IPv6 address in brackets. Of `*.a.b` it is `a.b`. */
  readonly name: string;
  /** Whether it stands for all names below `name`, and not for `name` itself. */
  readonly isSuffix: boolean;
  /** Undefined: the port that the scheme of the URL has by itself. */
  readonly port: number | undefined;
  /** Whether http will do; https always does. */
  readonly permitsHttp: boolean;
}

/** Hosts that may be called, and which flag says so. */
export interface AllowedHosts {
  readonly flag: string;
  readonly entries: readonly AllowedHost[];
}

/** A list of hosts, or all that is wrong with its entries. */
export type ParsedHosts =
  | { readonly kind: 'valid'; readonly value: AllowedHosts }
  | { readonly kind: 'invalid'; readonly problems: readonly Problem[] };

type Entry = AllowedHost | { readonly why: string };

const authority = /^(\*\.)?(\[[^\]]*\]|[^:[\]]*)(?::(.*))?$/s;
const highestPort = 65_535;

/**
 * Reads the entries of a list such as `--callback-allowed-hosts` (E-20): `host`, `host:port` or `*.suffix`, which may have a port, too, each
 * with an optional `http://` in front (E-22). Blanks around an entry do not count, nor do entries of blanks alone.
 *
 * @returns where and why there is no list; `path` names the entry as it was written
 */
export function parseAllowedHosts(entries: readonly string[], flag: string): ParsedHosts {
  const written = entries.map((entry) => entry.trim()).filter((entry) => entry !== '');
  const value: AllowedHost[] = [];
  const problems: Problem[] = [];
  for (const text of written) {
    const entry = entryOf(text);
    if ('why' in entry) problems.push({ path: flag, message: `${entry.why}: got ${quoted(text)}` });
    else value.push(entry);
  }
  return problems.length === 0
    ? { kind: 'valid', value: { flag, entries: value } }
    : { kind: 'invalid', problems };
}

function entryOf(text: string): Entry {
  const [, scheme = '', rest = ''] = /^([a-z][a-z\d+.-]*:\/\/)?(.*)$/is.exec(text) ?? [];
  const why = schemeProblem(scheme.toLowerCase());
  if (why !== undefined) return { why };
  if (/[/?#\\@\s,]/.test(rest)) {
    return { why: 'must name hosts without user, path, query and blanks' };
  }
  const [match, star, host = '', port] = authority.exec(rest) ?? [];
  if (match === undefined) {
    return { why: 'must name a host as "host", "host:port" or "*.suffix", IPv6 in brackets' };
  }
  const read = portOf(port);
  if (read === 'none') return { why: `must have a port from 1 to ${highestPort} behind ":"` };
  return hostEntry({ host, isSuffix: star !== undefined, port: read, permitsHttp: scheme !== '' });
}

/** Checks the scheme: only "http://" may be given. */
function schemeProblem(scheme: string): string | undefined {
  if (scheme === '' || scheme === 'http://') return undefined;
  return scheme === 'https://'
    ? 'must name hosts without "https://", which is the rule'
    : 'must name hosts with nothing or "http://" in front';
}

function portOf(digits: string | undefined): number | undefined | 'none' {
  if (digits === undefined) return undefined;
  const port = Number(digits);
  return /^\d{1,5}$/.test(digits) && port >= 1 && port <= highestPort ? port : 'none';
}

function hostEntry({
  host,
  ...entry
}: Omit<AllowedHost, 'name'> & { readonly host: string }): Entry {
  const name = host.toLowerCase().replace(/\.$/, '');
  const why = nameProblem(name) ?? (entry.isSuffix ? suffixProblem(name) : undefined);
  return why === undefined ? { name: canonical(name) ?? name, ...entry } : { why };
}

function nameProblem(name: string): string | undefined {
  if (name.includes('*')) return 'must have "*" only as "*." in front of a name';
  const read = canonical(name);
  if (name.startsWith('[')) {
    return read === undefined ? 'must have an IPv6 address in its brackets' : undefined;
  }
  if (!/^[\w-]+(?:\.[\w-]+)*$/.test(name)) {
    return 'must name a host by letters, digits, "-", "_" and ".", others in their "xn--" form';
  }
  if (read === name) return undefined;
  // Web parsers take some names for addresses, such as 1 for 0.0.0.1.
  return read === undefined ? 'must name a host' : `must name a host as it is read, ${read}`;
}

function suffixProblem(name: string): string | undefined {
  const isAddress = name.startsWith('[') || isIP(name) !== 0;
  return isAddress ? 'must have a name behind "*.", not an address' : undefined;
}

/** Returns `name` as URLs have it; undefined where none can. */
function canonical(name: string): string | undefined {
  return URL.parse(`http://${name}/`)?.hostname;
}

/** Why a URL may not be called. */
export type HostRefusal = 'HostNotAllowed' | 'HttpsRequired';

/** Whether a URL may be called; `why` is a clause that begins with the host. */
export type HostVerdict =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'refused'; readonly reason: HostRefusal; readonly why: string };

/**
 * Says whether `url`, http or https, may be called, as far as its host, port and scheme show (E-20, E-22). An empty list
 * allows no one.
 */
export function hostVerdict({ flag, entries }: AllowedHosts, url: URL): HostVerdict {
  const isSecure = url.protocol === 'https:';
  const defaultPort = isSecure ? 443 : 80;
  const port = url.port === '' ? defaultPort : Number(url.port);
  const found = entries.filter(
    (entry) => covers(entry, url.hostname) && port === (entry.port ?? defaultPort),
  );
  if (found.length === 0) {
    const entry = url.port === '' ? url.hostname : url.host;
    const why = `${entry} is not among the hosts of ${flag}`;
    return { kind: 'refused', reason: 'HostNotAllowed', why };
  }
  if (isSecure || found.some(({ permitsHttp }) => permitsHttp)) return { kind: 'allowed' };
  const why = `${url.host} may be called by https alone, as its entry of ${flag} has no "http://"`;
  return { kind: 'refused', reason: 'HttpsRequired', why };
}

function covers({ name, isSuffix }: AllowedHost, hostname: string): boolean {
  const bare = hostname.replace(/\.$/, '');
  return isSuffix ? bare.endsWith(`.${name}`) && isIP(bare) === 0 : bare === name;
}
