import { quoted } from '#base/text/quoted.ts';
import { type Options, parseOptions } from '../bedrock/options/parse-options.ts';
import type { AllowedNamespaces } from './deploy-store.ts';

/** How the deploy API is served. */
export interface ApiOptions {
  readonly host: string;
  /** 0: the system chooses. */
  readonly port: number;
  /** Paths; undefined: plain HTTP. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** Undefined: made of the address that it listens on. */
  readonly publicUrl: string | undefined;
  /** Where it deploys. */
  readonly namespaces: AllowedNamespaces;
  readonly tokenFile: string;
  readonly signingKeyFile: string;
  readonly kubeconfig: string | undefined;
}

/** What to do, or what to print instead, and the exit code. */
export type ParsedApi =
  | { readonly kind: 'serve'; readonly options: ApiOptions }
  | { readonly kind: 'help' }
  | { readonly kind: 'invalid'; readonly sentence: string };

/** What `--help` prints. */
export const apiHelp = `Usage: rollout-operator bedrock api --namespaces NAME[,NAME…] --token-file FILE --signing-key-file FILE [options]

Serves the reference deploy API: POST /v1/deploys, GET /v1/deploys/{id}, POST /v1/deploys/{id}/pause|resume|retry|advance, and
POST /v1/stages/{stageId}/callback for the operator. Its state is stored in the cluster: it can be restarted at any time.

  --listen HOST:PORT       127.0.0.1:8443 without it
  --tls-cert FILE, --tls-key FILE
                           in PEM; needed unless it listens on this host alone
  --public-url URL         by which the operator reaches it; without it made of --listen
  --namespaces NAME[,NAME…]
                           where it deploys, and nowhere else; needed. * is every namespace: then whoever bears the token may put
                           pods into kube-system, too
  --token-file FILE        what requests must bear
  --signing-key-file FILE  what callbacks are signed by
  --kubeconfig FILE        the cluster; without it $KUBECONFIG, else that of the pod, else ~/.kube/config

Exit codes: 0 after a signal, 1 it cannot start, 2 the arguments are wrong.
`;

const table = {
  listen: 'value',
  'tls-cert': 'value',
  'tls-key': 'value',
  'public-url': 'value',
  namespaces: 'value',
  'token-file': 'value',
  'signing-key-file': 'value',
  kubeconfig: 'value',
  help: 'flag',
} as const;

/** Reads the arguments after `bedrock api`. */
export function parseApiOptions(args: readonly string[]): ParsedApi {
  const parsed = parseOptions(args, table);
  if (parsed.kind === 'invalid') return parsed;
  const { options } = parsed;
  if (options.has('help')) return { kind: 'help' };
  const api = apiOptions(options);
  return typeof api === 'string'
    ? { kind: 'invalid', sentence: api }
    : { kind: 'serve', options: api };
}

function apiOptions(options: Options): ApiOptions | string {
  const missing = ['token-file', 'signing-key-file'].find((name) => !options.has(name));
  if (missing !== undefined) return `--${missing} is needed`;
  const address = addressIn(options.get('listen') ?? '127.0.0.1:8443');
  if (typeof address === 'string') return address;
  const wrong = tlsProblem(options, address.host) ?? urlProblem(options.get('public-url'));
  if (wrong !== undefined) return wrong;
  const namespaces = namespacesIn(options.get('namespaces'));
  if (typeof namespaces === 'string') return namespaces;
  const [cert, key] = [options.needed('tls-cert'), options.needed('tls-key')];
  return {
    ...address,
    namespaces: namespaces.names,
    tls: options.has('tls-cert') ? { cert, key } : undefined,
    publicUrl: options.get('public-url')?.replace(/\/+$/, ''),
    tokenFile: options.needed('token-file'),
    signingKeyFile: options.needed('signing-key-file'),
    kubeconfig: options.get('kubeconfig'),
  };
}

function namespacesIn(text: string | undefined): { readonly names: AllowedNamespaces } | string {
  if (text === undefined)
    return '--namespaces is needed: where it deploys, such as --namespaces demo';
  if (text === '*') return { names: 'all' };
  const names = text.split(',');
  const wrong = names.find((name) => !/^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(name));
  if (wrong === undefined) return { names: [...new Set(names)] };
  return `--namespaces must be names of namespaces with commas between them, or *: got ${quoted(wrong)}`;
}

function addressIn(text: string): { readonly host: string; readonly port: number } | string {
  const [, bracketed, bare, port = ''] =
    /^(?:\[([0-9a-f:.]+)\]|([^:\s]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = bracketed ?? bare;
  if (host !== undefined && Number(port) <= 65_535) return { host, port: Number(port) };
  return `--listen must be a host and a port, such as 127.0.0.1:8443: got ${quoted(text)}`;
}

function tlsProblem(options: Options, host: string): string | undefined {
  const [one, ...both] = options.among(['tls-cert', 'tls-key']);
  if (one !== undefined && both.length === 0)
    return `--tls-cert and --tls-key need each other: got --${one} alone`;
  const isHere = ['localhost', '127.0.0.1', '::1'].includes(host);
  // A token in the open is open to everyone.
  if (one === undefined && !isHere)
    return '--tls-cert and --tls-key are needed, unless it listens on this host alone';
  const isEverywhere = host === '0.0.0.0' || host === '::';
  if (isEverywhere && !options.has('public-url'))
    return `--public-url is needed, as ${host} is not an address that the operator could call`;
  return undefined;
}

function urlProblem(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  const isUsable = url !== null && /^https?:$/.test(url.protocol);
  const isPlain = isUsable && url.username === '' && url.hash === '' && url.search === '';
  return isPlain ? undefined : `--public-url must be an http or https address: got ${quoted(text)}`;
}
