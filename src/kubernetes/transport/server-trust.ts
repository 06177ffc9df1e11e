import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import type { TlsSettings } from './tls-settings.ts';

/** Whom a question believes to be the server it asks. */
export interface ServerTrust {
  /** Accepts any certificate. @default false */
  readonly isInsecure?: boolean;
  /** Certificates of the only authorities that vouch for the server, in PEM. @default those of this host */
  readonly authorities?: string;
  /** Certificates of authorities that vouch for the server besides those of this host, in PEM; not beside `authorities`. */
  readonly besides?: string;
}

/** Made at first use: reading the authorities of the host takes some 50 ms. */
let ofHost: SecureContext | undefined;

/** Returns how connections to such a server are made; the certificates are read once for all of them. */
export function tlsOf({ isInsecure, authorities, besides }: ServerTrust): () => TlsSettings {
  if (isInsecure === true) return () => ({ isInsecure });
  let context: SecureContext | undefined;
  return () => {
    context ??=
      authorities === undefined ? trustOfHost(besides) : createSecureContext({ ca: authorities });
    return { secureContext: context };
  };
}

/** Returns the peer trusts what the system's store holds; where there is none, what Node brings along. */
function trustOfHost(besides?: string): SecureContext {
  if (besides !== undefined) return createSecureContext({ ca: [...authoritiesOfHost(), besides] });
  ofHost ??= createSecureContext({ ca: authoritiesOfHost() });
  return ofHost;
}

function authoritiesOfHost(): string[] {
  const system = getCACertificates('system');
  return system.length > 0 ? [...system, ...getCACertificates('extra')] : getCACertificates();
}
