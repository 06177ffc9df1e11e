import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { dirname } from 'node:path';
import type { Cluster, Context, KubeConfig, User } from '@kubernetes/client-node';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { TlsSettings } from '../transport/tls-settings.ts';
import { type Credentials, rereadCredentials, staticCredentials } from './bearer-token.ts';
import { type ConnectionSettings, ConnectionSettingsError } from './connection.ts';

/** Settings of {@link kubeconfigSettings}. */
export interface KubeconfigOptions {
  readonly clock: Clock;
  /** Path of the file (FL-14). */
  readonly path: string;
  /** Replaces the server in the file (FL-13). */
  readonly apiUrl?: string;
  /** Called when a credential plugin fails while an older credential is still at hand. */
  readonly onStale?: (error: unknown) => void;
  /** Loads the Kubernetes client library. @default the installed one */
  readonly library?: () => Promise<KubeconfigLibrary>;
}

/** What is taken of the Kubernetes client library. */
export interface KubeconfigLibrary {
  readonly KubeConfig: new () => KubeConfig;
}

const installed = (): Promise<KubeconfigLibrary> => import('@kubernetes/client-node');

/**
 * Returns how a kubeconfig file says to reach a cluster: client certificates, tokens, passwords, credential plugins,
 * `insecure-skip-tls-verify`, `tls-server-name` and `proxy-url` included. Loads the Kubernetes client library only here, for
 * it takes long to load, and an installation without it does in a cluster.
 *
 * @throws {ConnectionSettingsError} when the file cannot be read, is no kubeconfig, or does not name one context; or
 *   the library is not installed
 */
export async function kubeconfigSettings(options: KubeconfigOptions): Promise<ConnectionSettings> {
  const { path, apiUrl, library = installed } = options;
  const config = await load(path, library);
  const { cluster, user, context } = chosen(config, path);
  let access = await accessOf(config, path);
  const settings = {
    server: urlOf(apiUrl === undefined || apiUrl === '' ? cluster.server : apiUrl, path),
    tls: () => tlsOf(cluster, access),
    credentials: credentialsOf({ user, context, config }, options, (renewed) => {
      access = renewed;
    }),
  };
  return {
    ...settings,
    ...(context.namespace !== undefined && { namespace: context.namespace }),
    ...(cluster.proxyUrl !== undefined && { proxy: cluster.proxyUrl }),
  };
}

async function load(path: string, library: () => Promise<KubeconfigLibrary>): Promise<KubeConfig> {
  const text = await read(path);
  const { KubeConfig } = await library().catch((cause: unknown) => {
    throw isMissing(cause) ? refused(path, notInstalled, cause) : cause;
  });
  const config = new KubeConfig();
  try {
    config.loadFromString(text);
  } catch (cause) {
    throw refused(path, `it is not a kubeconfig: ${firstLine(cause)}`, cause);
  }
  config.makePathsAbsolute(dirname(path));
  // The library gives no credentials for plain HTTP unless TLS is skipped; there is none to verify.
  config.clusters = config.clusters.map((cluster) =>
    cluster.server.startsWith('http:') ? { ...cluster, skipTLSVerify: true } : cluster,
  );
  return config;
}

const notInstalled =
  'this installation was made without the package @kubernetes/client-node, which reads it: install that as well, or run in a pod of the cluster';

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
}

async function read(path: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw refused(path, reasonOf(cause), cause);
  }
  if (text.trim() === '') throw refused(path, 'it is empty');
  return text;
}

function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'ENOENT') return 'it does not exist';
  if (code === 'EISDIR') return 'it is a directory, not a file';
  if (code === 'EACCES') return 'it may not be read';
  return firstLine(cause);
}

interface Choice {
  readonly context: Context;
  readonly cluster: Cluster;
  readonly user: User | undefined;
}

function chosen(config: KubeConfig, path: string): Choice {
  const context = contextOf(config, path);
  const cluster = config.getCluster(context.cluster);
  if (cluster === null) {
    throw refused(
      path,
      `context "${context.name}" names cluster "${context.cluster}", which it does not have`,
    );
  }
  // A context without a user is an anonymous one; a user that is named must exist.
  const user = context.user === undefined ? null : config.getUser(context.user);
  if (user === null && context.user !== undefined && context.user !== '') {
    throw refused(
      path,
      `context "${context.name}" names user "${context.user}", which it does not have`,
    );
  }
  config.setCurrentContext(context.name);
  return { context, cluster, user: user ?? undefined };
}

function contextOf(config: KubeConfig, path: string): Context {
  const { contexts, currentContext } = config;
  const names = contexts.map((context) => `"${context.name}"`).join(', ');
  const [only] = contexts;
  if (only === undefined) throw refused(path, 'it has no contexts');
  if (currentContext === undefined || currentContext === '') {
    if (contexts.length === 1) return only;
    throw refused(path, `it has no current-context: set it to one of ${names}`);
  }
  const current = config.getContextObject(currentContext);
  if (current !== null) return current;
  throw refused(path, `its current-context is "${currentContext}", it has only ${names}`);
}

/** What the client library finds out for the chosen user, plugins run. */
interface Access {
  readonly ca?: TlsSettings['ca'];
  readonly cert?: TlsSettings['cert'];
  readonly key?: TlsSettings['key'];
  readonly authorization?: string;
}

async function accessOf(config: KubeConfig, path: string): Promise<Access> {
  const options: RequestOptions = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch (cause) {
    throw refused(path, `its credentials cannot be had: ${firstLine(cause)}`, cause);
  }
  const { ca, cert, key, auth, headers } = options;
  const authorization = authorizationOf(headers, auth);
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(authorization !== undefined && { authorization }),
  };
}

function authorizationOf(headers: object | undefined, auth: unknown): string | undefined {
  if (typeof auth === 'string' && auth !== '') {
    return `Basic ${Buffer.from(auth).toString('base64')}`;
  }
  const value: unknown =
    headers !== undefined && 'Authorization' in headers ? headers.Authorization : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** Returns the chosen user's credentials; a plugin may renew the client certificate along with them. */
function credentialsOf(
  choice: Pick<Choice, 'user' | 'context'> & { readonly config: KubeConfig },
  options: KubeconfigOptions,
  onRenewed: (access: Access) => void,
): Credentials {
  const { user, context, config } = choice;
  if (user === undefined) return staticCredentials(undefined);
  const { clock, path, onStale, library = installed } = options;
  // The library caches what a plugin gave until it expires; a fresh load asks the plugin again.
  const read = async (isRefused: boolean): Promise<string | undefined> => {
    const source = isRefused ? await load(path, library) : config;
    source.setCurrentContext(context.name);
    const access = await accessOf(source, path);
    onRenewed(access);
    return access.authorization;
  };
  return rereadCredentials(onStale === undefined ? { clock, read } : { clock, read, onStale });
}

function tlsOf(cluster: Cluster, access: Access): TlsSettings {
  const { ca, cert, key } = access;
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(cluster.tlsServerName !== undefined && { serverName: cluster.tlsServerName }),
    ...(cluster.skipTLSVerify && { isInsecure: true }),
  };
}

function urlOf(text: string, path: string): URL {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  throw refused(path, `the server must be an http or https URL: current value is "${text}"`);
}

function refused(path: string, why: string, cause?: unknown): ConnectionSettingsError {
  return new ConnectionSettingsError(
    `Cannot use kubeconfig "${path}": ${why}`,
    cause === undefined ? {} : { cause },
  );
}

function firstLine(error: unknown): string {
  const text = errorOf(error).message;
  return text.trim().split('\n', 1)[0] ?? text;
}
