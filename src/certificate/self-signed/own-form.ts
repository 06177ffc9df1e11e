import { X509Certificate } from 'node:crypto';
import { instant } from '#base/units.ts';
import type { Authority } from '../api.ts';
import type { PemBlock } from '../x509/pem.ts';

/** Returns the certificate as one that vouches for others, whoever made it. */
export function ofAnyForm({ body, pem }: PemBlock): readonly Authority[] {
  try {
    const { validToDate } = new X509Certificate(pem);
    return [{ id: body, pem, notAfter: instant(validToDate.getTime()) }];
  } catch {
    return [];
  }
}

/** Returns the certificate as an authority, where it has the form of our CAs and of the peer's; it may still be a stranger's. */
export function ofOurForm({ body, pem }: PemBlock): readonly Authority[] {
  try {
    const certificate = new X509Certificate(pem);
    const { ca, subject, issuer, serialNumber, validToDate } = certificate;
    const isOurs =
      ca && subject === issuer && subject.startsWith('O=') && /^0*7E6$/i.test(serialNumber);
    return isOurs ? [{ id: body, pem, notAfter: instant(validToDate.getTime()) }] : [];
  } catch {
    // A foreign text in the form of a certificate is not ours to keep.
    return [];
  }
}
