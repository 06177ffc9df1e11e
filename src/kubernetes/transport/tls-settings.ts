import {
  type ConnectionOptions,
  createSecureContext,
  type SecureContext,
  type SecureContextOptions,
} from 'node:tls';

/** How an HTTPS connection is made; PEM texts, not paths. */
export interface TlsSettings extends Pick<SecureContextOptions, 'ca' | 'cert' | 'key'> {
  /** Name that the server's certificate must carry. @default the host of the URL */
  readonly serverName?: string;
  /** Accepts any certificate. @default false */
  readonly isInsecure?: boolean;
  /** Made once for many connections, in place of the PEM texts. @default each connection makes its own */
  readonly secureContext?: SecureContext;
}

/** {@link TlsSettings} in Node's terms. */
export type ConnectSettings = Pick<
  ConnectionOptions,
  'secureContext' | 'servername' | 'rejectUnauthorized'
>;

/**
 * Returns `tls` in Node's terms.
 *
 * @throws {Error} when a certificate or a key is none, as in the middle of its renewal: here, and not where nothing can catch it,
 * when a proxy has built its tunnel
 */
export function connectOptions(tls: TlsSettings): ConnectSettings {
  const { serverName, isInsecure, secureContext, ...pem } = tls;
  return {
    secureContext: secureContext ?? createSecureContext(pem),
    ...(serverName !== undefined && { servername: serverName }),
    rejectUnauthorized: isInsecure !== true,
  };
}
