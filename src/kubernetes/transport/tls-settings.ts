import type { ConnectionOptions, SecureContext, SecureContextOptions } from 'node:tls';

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
  'ca' | 'cert' | 'key' | 'secureContext' | 'servername' | 'rejectUnauthorized'
>;

/** Returns `tls` in Node's terms. */
export function connectOptions(tls: TlsSettings): ConnectSettings {
  const { serverName, isInsecure, ...context } = tls;
  return {
    ...context,
    ...(serverName !== undefined && { servername: serverName }),
    rejectUnauthorized: isInsecure !== true,
  };
}
