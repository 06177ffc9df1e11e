import { X509Certificate } from 'node:crypto';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { invalid, type Parsed, valid } from '#base/parsed.ts';
import { basicAuthorization } from '../prometheus/prometheus-url.ts';
import { longestValue, parseOneLine } from './header-value.ts';

/** Keys of a Secret with credentials, as at the peer; others are ignored. */
type CredentialKey = 'token' | 'username' | 'password';

/** Key of a Secret under which an authority's certificates are stored; ours. */
const authorityKey = 'ca.crt';

/**
 * Reads the value of an `Authorization` header from a Secret, byte for byte as the peer does; undefined where the
 * Secret has no credentials, with which the peer asks without any.
 *
 * @param name of the Secret, for the problem
 * @param secret undefined where there is none of that name
 */
export function parseCredentials(
  name: string,
  secret: JsonObject | undefined,
): Parsed<string | undefined> {
  const path = `Secret "${name}"`;
  if (secret === undefined) return invalid(path, 'must exist: found none');
  const valueOf = (key: CredentialKey): Buffer => bytesOf(secret, key) ?? Buffer.alloc(0);
  const [token, username, password] = [valueOf('token'), valueOf('username'), valueOf('password')];
  if (username.length > 0 !== password.length > 0) {
    const [there, missing] =
      username.length > 0 ? ['username', 'password'] : ['password', 'username'];
    return invalid(path, `must have both username and password: found ${there} without ${missing}`);
  }
  if (username.length > 0 && token.length > 0) {
    return invalid(path, 'must have either token or username and password: found all three');
  }
  if (username.length > 0) return valid(basicAuthorization(username, password));
  return token.length > 0 ? bearer(path, token) : valid(undefined);
}

function bearer(path: string, token: Buffer): Parsed<string> {
  const parsed = parseOneLine(`${path}, key token`, token.toString('latin1'));
  return parsed.kind === 'valid' ? valid(`Bearer ${parsed.value}`) : parsed;
}

/** Keys of a Secret that are kept for headers. */
const mostValues = 64;

/** Returns what may be the values of headers, by key, each byte as one character: of a Secret no more is kept than that. */
export function secretValues(secret: JsonObject | undefined): ReadonlyMap<string, string> {
  const data = secret?.['data'];
  const values = new Map<string, string>();
  for (const [key, text] of Object.entries(isJsonObject(data) ? data : {})) {
    if (values.size >= mostValues) break;
    if (typeof text !== 'string' || text === '' || text.length > (longestValue * 4) / 3) continue;
    values.set(key, Buffer.from(text, 'base64').toString('latin1'));
  }
  return values;
}

/**
 * Reads the certificates of the authorities that vouch for a server from a Secret, as PEM text; nothing else is trusted then.
 * A field of its own must ask for it: Secrets of service accounts have such a key, which says nothing of Prometheus.
 *
 * @param name of the Secret, for the problem
 * @param secret undefined where there is none of that name
 */
export function parseAuthorities(name: string, secret: JsonObject | undefined): Parsed<string> {
  const path = `Secret "${name}"`;
  if (secret === undefined) return invalid(path, 'must exist: found none');
  const pem = bytesOf(secret, authorityKey)?.toString() ?? '';
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  const wanted = 'must hold certificates in PEM';
  if (blocks.length === 0) return invalid(`${path}, key ${authorityKey}`, `${wanted}: found none`);
  const broken = blocks.findIndex((block) => !isCertificate(block));
  if (broken < 0) return valid(blocks.join('\n'));
  return invalid(`${path}, key ${authorityKey}`, `${wanted}: number ${broken + 1} is none`);
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    // That it is none is the answer.
    return false;
  }
}

/** Returns what a Secret holds under `key`; undefined where nothing is there. */
export function bytesOf(secret: JsonObject, key: string): Buffer | undefined {
  const { data } = secret;
  const text = isJsonObject(data) ? data[key] : undefined;
  return typeof text === 'string' ? Buffer.from(text, 'base64') : undefined;
}
