import type { Clock } from '#base/clock.ts';
import { type Environment, proxyFor } from '../transport/proxy.ts';
import type { Transport } from '../transport/transport.ts';
import {
  type ByteTransport,
  createUndiciTransport,
  type TlsSettings,
  type UndiciTransportOptions,
} from '../transport/undici-transport.ts';
import { type Credentials, withCredentials } from './bearer-token.ts';

/** How to reach an API server, and with which credentials. */
export interface ConnectionSettings {
  readonly server: URL;
  /** The certificates as they are now; they are renewed together with the credentials. */
  readonly tls: () => TlsSettings;
  readonly credentials: Credentials;
  /** The namespace that the source of these settings names. */
  readonly namespace?: string;
  /** Proxy that the source itself names; goes before the environment. */
  readonly proxy?: string;
}

/** Why there are no {@link ConnectionSettings}: one sentence for the person who starts the program. */
export class ConnectionSettingsError extends Error {
  override readonly name = 'ConnectionSettingsError';
}

/** Returns the authorised transport to the server of `settings`; proxy variables of `env` are honoured (EN-2). */
export async function connect(
  settings: ConnectionSettings,
  context: { readonly clock: Clock; readonly env: Environment },
): Promise<Transport> {
  return withCredentials(await openTransport(settings, context), settings.credentials);
}

/** Where {@link openTransport} leads, and how. */
export interface ServerSettings
  extends Pick<ConnectionSettings, 'server' | 'tls' | 'proxy'>,
    Pick<UndiciTransportOptions, 'connections' | 'lookup'> {}

/**
 * Returns the transport to any HTTP server, without credentials; proxy variables of `env` are honoured.
 *
 * @throws {Error} when there is a proxy, and its URL is none
 */
export async function openTransport(
  { proxy, ...settings }: ServerSettings,
  { clock, env }: { readonly clock: Clock; readonly env: Environment },
): Promise<ByteTransport> {
  const through = await proxied(proxy ?? proxyFor(settings.server, env));
  return createUndiciTransport({ ...settings, ...through, clock });
}

async function proxied(
  proxy: string | undefined,
): Promise<Pick<UndiciTransportOptions, 'dispatcherOf'>> {
  if (proxy === undefined) return {};
  // Loaded here only: it brings all of undici with it, half of what loading the client costs.
  const { throughProxy } = await import('../transport/proxy-dispatcher.ts');
  return { dispatcherOf: throughProxy(proxy) };
}
