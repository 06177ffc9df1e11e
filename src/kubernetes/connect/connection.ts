import type { Clock } from '#base/clock.ts';
import {
  type ByteTransport,
  createHttpTransport,
  type HttpTransportOptions,
} from '../transport/http-transport.ts';
import { type Environment, proxyFor } from '../transport/proxy.ts';
import type { TlsSettings } from '../transport/tls-settings.ts';
import type { Transport } from '../transport/transport.ts';
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

/**
 * Returns the authorised transport to the server of `settings`; proxy variables of `env` are honoured (EN-2).
 *
 * @throws {Error} when there is a proxy that cannot be used
 */
export function connect(
  settings: ConnectionSettings,
  context: { readonly clock: Clock; readonly env: Environment },
): Transport {
  return withCredentials(openTransport(settings, context), settings.credentials);
}

/** Where {@link openTransport} leads, and how. */
export interface ServerSettings
  extends Pick<ConnectionSettings, 'server' | 'tls' | 'proxy'>,
    Pick<HttpTransportOptions, 'connections' | 'lookup'> {}

/**
 * Returns the transport to any HTTP server, without credentials; proxy variables of `env` are honoured.
 *
 * @throws {Error} when there is a proxy that cannot be used
 */
export function openTransport(
  { proxy, ...settings }: ServerSettings,
  { clock, env }: { readonly clock: Clock; readonly env: Environment },
): ByteTransport {
  const through = proxy ?? proxyFor(settings.server, env);
  return createHttpTransport({
    ...settings,
    ...(through !== undefined && { proxy: through }),
    clock,
  });
}
