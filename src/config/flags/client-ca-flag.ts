import { stringKind } from './flag-kind.ts';
import type { Flag, FlagSet } from './go-flags.ts';

/** Adds to `set` the flag that has only clients answered that present a certificate. */
export function clientCaFlag(set: FlagSet): Flag<string> {
  return set.add('server-tls.client-ca', stringKind, {
    default: '',
    help:
      'Path of the CAs, in PEM, of which a client of the webhooks must present a certificate, as an API server can be ' +
      'configured to do. When empty: every client that reaches the port is answered.',
  });
}
