import { isJsonObject, type JsonObject } from '#base/json.ts';
import { type Instant, instant } from '#base/units.ts';
import { type Authority, NEXT_KEYS, type NextLeaf, SECRET_KEYS, type SecretState } from '../api.ts';
import { lifecycle } from '../plan-lifecycle.ts';
import { parseAuthorities, parseLeaf } from '../read-pair.ts';

/**
 * Returns what the Secret `name` (as `namespace/name`) holds: nothing, a whole certificate, or what is of no use. A next
 * pair that cannot be used counts as none: it will be recreated.
 */
export function parseSecret(name: string, secret: JsonObject): SecretState {
  const data = secret['data'];
  const members = isJsonObject(data) ? data : {};
  if (Object.keys(members).length === 0) {
    const { type } = secret;
    if (type === undefined || type === 'Opaque') return { kind: 'empty' };
    return refused(name, `is of type ${JSON.stringify(type)}, so it belongs to another program`);
  }
  const missing = Object.values(SECRET_KEYS).filter((key) => textOf(members, key).trim() === '');
  if (missing.length > 0) {
    return refused(name, `has data, but lacks ${missing.map((key) => `"${key}"`).join(', ')}`);
  }
  const authorities = parseAuthorities(textOf(members, SECRET_KEYS.ca), `"${SECRET_KEYS.ca}"`);
  if (authorities.kind === 'invalid') return refusedFor(name, authorities.problem);
  const current = parseLeaf(
    { cert: textOf(members, SECRET_KEYS.cert), key: textOf(members, SECRET_KEYS.key) },
    { ca: `"${SECRET_KEYS.ca}"`, cert: `"${SECRET_KEYS.cert}"`, key: `"${SECRET_KEYS.key}"` },
    authorities.value,
  );
  if (current.kind === 'invalid') return refusedFor(name, current.problem);
  const next = nextOf(members, authorities.value, lifecycle(current.value).switchAt);
  const content = { current: current.value, next, authorities: authorities.value };
  return { kind: 'valid', content };
}

function nextOf(
  members: JsonObject,
  authorities: readonly Authority[],
  usual: Instant,
): NextLeaf | undefined {
  const pair = { cert: textOf(members, NEXT_KEYS.cert), key: textOf(members, NEXT_KEYS.key) };
  if (pair.cert.trim() === '') return undefined;
  const paths = { ca: SECRET_KEYS.ca, cert: NEXT_KEYS.cert, key: NEXT_KEYS.key };
  const leaf = parseLeaf(pair, paths, authorities);
  if (leaf.kind === 'invalid') return undefined;
  return { leaf: leaf.value, from: parseTime(textOf(members, NEXT_KEYS.from).trim()) ?? usual };
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

function parseTime(text: string): Instant | undefined {
  const at = rfc3339.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : instant(at);
}

/** Returns the text of a member of `data`, which is in base64; empty where there is none. */
function textOf(members: JsonObject, key: string): string {
  const value = members[key];
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : '';
}

function refusedFor(
  name: string,
  { path, message }: { readonly path: string; readonly message: string },
): SecretState {
  return refused(name, `cannot be used: its ${path} ${message}`);
}

function refused(name: string, what: string): SecretState {
  const message = `Secret "${name}" ${what}; delete it, or take its data away, to have a new certificate made, or name another with -server-tls.self-signed-cert.secret-name`;
  return { kind: 'refused', message };
}
