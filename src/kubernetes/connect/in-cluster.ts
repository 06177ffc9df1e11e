import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Environment } from '../transport/proxy.ts';
import { rereadCredentials } from './bearer-token.ts';
import { type ConnectionSettings, ConnectionSettingsError } from './connection.ts';

/** Settings of {@link inClusterSettings}. */
export interface InClusterOptions {
  readonly clock: Clock;
  readonly env: Environment;
  /** Where the service account is mounted. @default `/var/run/secrets/kubernetes.io/serviceaccount` */
  readonly directory?: string;
  /** Called when the token file cannot be read again; the last token stays in use. */
  readonly onStale?: (error: unknown) => void;
}

const MOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Returns how a pod reaches its own cluster (EN-1); token and CA are read again each minute and after a 401.
 *
 * @throws {ConnectionSettingsError} when a variable or a file of the service account is missing
 */
export async function inClusterSettings(options: InClusterOptions): Promise<ConnectionSettings> {
  const { clock, onStale, directory = MOUNT } = options;
  const server = serverOf(options.env);
  const caFile = join(directory, 'ca.crt');
  let ca = await readMounted(caFile);
  await readToken(join(directory, 'token'));
  const namespace = await namespaceIn(join(directory, 'namespace'));
  const read = async (): Promise<string> => {
    ca = await readMounted(caFile);
    return readToken(join(directory, 'token'));
  };
  const credentials = rereadCredentials(
    onStale === undefined ? { clock, read } : { clock, read, onStale },
  );
  const settings = { server, tls: () => ({ ca }), credentials };
  return namespace === '' ? settings : { ...settings, namespace };
}

function serverOf(env: Environment): URL {
  const host = variable(env, 'KUBERNETES_SERVICE_HOST');
  const port = variable(env, 'KUBERNETES_SERVICE_PORT');
  if (!/^\d{1,5}$/.test(port)) {
    throw new ConnectionSettingsError(
      `Cannot reach the cluster from inside as KUBERNETES_SERVICE_PORT must be a port number: current value is "${port}"`,
    );
  }
  return new URL(`https://${isIPv6(host) ? `[${host}]` : host}:${port}`);
}

function variable(env: Environment, name: string): string {
  const value = env[name];
  if (value !== undefined && value !== '') return value;
  throw new ConnectionSettingsError(
    `Cannot reach the cluster from inside as ${name} is not set, as it is in a pod`,
  );
}

async function readToken(path: string): Promise<string> {
  const token = (await readMounted(path)).trim();
  if (token !== '') return `Bearer ${token}`;
  throw new ConnectionSettingsError(
    `Cannot reach the cluster from inside as the service-account file "${path}" is empty`,
  );
}

async function readMounted(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const why = errorOf(cause).message;
    throw new ConnectionSettingsError(
      `Cannot reach the cluster from inside as the service-account file "${path}" cannot be read (${why}): check automountServiceAccountToken`,
      { cause },
    );
  }
}

/**
 * Reads the namespace of the pod. Older projections have no such file; the namespace is a convenience, the connection works
 * without it.
 */
async function namespaceIn(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch {
    return '';
  }
}
