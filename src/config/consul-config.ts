import { invalid, type Parsed, problemText, valid } from '#base/parsed.ts';
import { quoted } from '#base/text/quoted.ts';
import { boolKind, stringKind } from './flags/flag-kind.ts';
import type { Flag, FlagSet } from './flags/go-flags.ts';

/** The variables of Consul's own programs that are read. */
export interface ConsulEnvironment {
  readonly CONSUL_HTTP_ADDR?: string | undefined;
  readonly CONSUL_HTTP_SSL?: string | undefined;
  readonly CONSUL_HTTP_TOKEN?: string | undefined;
  readonly CONSUL_HTTP_TOKEN_FILE?: string | undefined;
  readonly CONSUL_CACERT?: string | undefined;
  readonly CONSUL_CLIENT_CERT?: string | undefined;
  readonly CONSUL_CLIENT_KEY?: string | undefined;
}

/** How Consul is asked (CONSUL-1); paths are those of files in PEM. */
export interface ConsulConfig {
  /** URL of http or https, without user, query and fragment. */
  readonly address: string;
  /** The only authorities that vouch for it. @default those of this host */
  readonly authorities: string | undefined;
  /** What the operator shows of itself. @default nothing */
  readonly identity: { readonly certificate: string; readonly key: string } | undefined;
  /** The operator's own token. @default none */
  readonly token: { readonly kind: 'text' | 'file'; readonly value: string } | undefined;
  /** Whether servers are asked that do not lead. */
  readonly isStaleAllowed: boolean;
  /** Keys of a registration's meta data under which it says of which pod it is. */
  readonly keys: { readonly podName: string; readonly namespace: string };
}

/** The flags about Consul. */
export type ConsulFlags = ReturnType<typeof allOfConsul>;

/** Adds the flags about Consul. */
export function consulFlags(set: FlagSet): ConsulFlags {
  return allOfConsul(set);
}

function allOfConsul(set: FlagSet) {
  return {
    consulAddress: set.add('consul-address', stringKind, {
      default: '',
      help: 'Address of Consul, such as https://consul:8501. When empty: CONSUL_HTTP_ADDR; without both Consul is not queried.',
    }),
    consulTokenFile: set.add('consul-token-file', stringKind, {
      default: '',
      help: 'File with the ACL token for resources that name none. When empty: CONSUL_HTTP_TOKEN_FILE, or CONSUL_HTTP_TOKEN.',
    }),
    isConsulStale: set.add('consul-stale', boolKind, {
      default: false,
      help: 'Query Consul servers that are not the leader, too, while they have heard from the leader in the last 10 s.',
    }),
    consulPodNameKey: set.add('consul-pod-name-key', stringKind, {
      default: 'pod-name',
      help: 'Key of Service.Meta that holds the name of the pod.',
    }),
    consulNamespaceKey: set.add('consul-namespace-key', stringKind, {
      default: 'k8s-namespace',
      help: 'Key of Service.Meta that holds the namespace of the pod.',
    }),
  } as const;
}

/** Returns how Consul is asked, undefined where it is not, or a sentence that says what is wrong; a token is never in it. */
export function readConsulConfig(
  flags: ConsulFlags,
  env: ConsulEnvironment,
): { readonly config: ConsulConfig | undefined } | { readonly refused: string } {
  const parts = {
    address: addressOf(flags, env),
    identity: identityOf(env),
    token: tokenOf(flags, env),
    podName: keyOf(flags.consulPodNameKey),
    namespace: keyOf(flags.consulNamespaceKey),
  };
  const { address, identity, token, podName, namespace } = parts;
  for (const part of Object.values(parts)) {
    if (part.kind === 'invalid') return { refused: problemText(part.problem) };
  }
  const isRead =
    address.kind === 'valid' &&
    identity.kind === 'valid' &&
    token.kind === 'valid' &&
    podName.kind === 'valid' &&
    namespace.kind === 'valid';
  if (!isRead || address.value === undefined) return { config: undefined };
  return {
    config: {
      address: address.value,
      authorities: env.CONSUL_CACERT || undefined,
      identity: identity.value,
      token: token.value,
      isStaleAllowed: flags.isConsulStale.value,
      keys: { podName: podName.value, namespace: namespace.value },
    },
  };
}

/**
 * Returns the address by the rules of Consul's own programs: a scheme may be missing, and CONSUL_HTTP_SSL says which it is
 * then.
 */
function addressOf(
  { consulAddress }: ConsulFlags,
  { CONSUL_HTTP_ADDR = '', CONSUL_HTTP_SSL = '' }: ConsulEnvironment,
): Parsed<string | undefined> {
  const isSecure = boolKind.parse(CONSUL_HTTP_SSL || 'false');
  if (isSecure.kind === 'invalid') {
    return invalid('CONSUL_HTTP_SSL', `must be true or false: got ${quoted(CONSUL_HTTP_SSL)}`);
  }
  const scheme = isSecure.value ? 'https' : 'http';
  const { name, value } = consulAddress;
  if (value !== '') return urlOf(`-${name}`, value, scheme);
  if (CONSUL_HTTP_ADDR !== '') return urlOf('CONSUL_HTTP_ADDR', CONSUL_HTTP_ADDR, scheme);
  return valid(undefined);
}

function urlOf(path: string, text: string, scheme: string): Parsed<string> {
  const url = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `${scheme}://${text}`);
  if (url !== null && isUsable(url)) return valid(url.href);
  // Of what may hold a password nothing is shown.
  const got = text.includes('@') ? 'another one' : quoted(text);
  return invalid(path, `must be host:port, or a URL of http or https with no more: got ${got}`);
}

function isUsable({ protocol, username, password, search, hash }: URL): boolean {
  const isHttp = protocol === 'http:' || protocol === 'https:';
  return isHttp && `${username}${password}${search}${hash}` === '';
}

function identityOf({
  CONSUL_CLIENT_CERT: certificate = '',
  CONSUL_CLIENT_KEY: key = '',
}: ConsulEnvironment): Parsed<ConsulConfig['identity']> {
  if (certificate !== '' && key !== '') return valid({ certificate, key });
  if (certificate === key) return valid(undefined);
  const path = key === '' ? 'CONSUL_CLIENT_KEY' : 'CONSUL_CLIENT_CERT';
  return invalid(path, 'must be set, too, where the other of the two is');
}

function tokenOf(
  { consulTokenFile }: ConsulFlags,
  { CONSUL_HTTP_TOKEN = '', CONSUL_HTTP_TOKEN_FILE = '' }: ConsulEnvironment,
): Parsed<ConsulConfig['token']> {
  const path = consulTokenFile.value || CONSUL_HTTP_TOKEN_FILE;
  if (path !== '') return valid({ kind: 'file', value: path });
  const token = CONSUL_HTTP_TOKEN.trim();
  if (token === '') return valid(undefined);
  if (/^[\x21-\x7e]+$/.test(token)) return valid({ kind: 'text', value: token });
  return invalid('CONSUL_HTTP_TOKEN', 'must be one line of printable characters');
}

/** Returns the key as Consul takes it. */
function keyOf({ name, value: key }: Flag<string>): Parsed<string> {
  if (/^[A-Za-z0-9_-]{1,128}$/.test(key)) return valid(key);
  return invalid(`-${name}`, `must have 1 to 128 letters, digits, "_" and "-": got ${quoted(key)}`);
}
