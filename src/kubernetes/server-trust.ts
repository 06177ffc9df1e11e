import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import type { TlsSettings } from './undici-transport.ts';

/** Whom a question believes to be the server it asks. */
export interface ServerTrust {
  /** Accepts any certificate. @default false */
  readonly isInsecure?: boolean;
  /** Certificates of the only authorities that vouch for the server, in PEM. @default those of this host */
  readonly authorities?: string;
}

/** Made at first use: reading the authorities of the host takes some 50 ms. */
let ofHost: SecureContext | undefined;

/** Returns how connections to such a server are made; the certificates are read once for all of them. */
export function tlsOf({ isInsecure, authorities }: ServerTrust): () => TlsSettings {
  if (isInsecure === true) return () => ({ isInsecure });
  let context: SecureContext | undefined;
  return () => {
    context ??=
      authorities === undefined ? trustOfHost() : createSecureContext({ ca: authorities });
    return { secureContext: context };
  };
}

/** The peer trusts what the system's store holds; where there is none, what Node brings along. */
function trustOfHost(): SecureContext {
  if (ofHost !== undefined) return ofHost;
  const system = getCACertificates('system');
  const ca = system.length > 0 ? [...system, ...getCACertificates('extra')] : getCACertificates();
  ofHost = createSecureContext({ ca });
  return ofHost;
}
