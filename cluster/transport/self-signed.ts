import { randomBytes } from 'node:crypto';
import { after, type Instant, minutes } from '#base/units.ts';
import {
  alternativeNames,
  basicConstraints,
} from '#kubernetes/certificate/certificate-extensions.ts';
import {
  type DistinguishedName,
  newKeys,
  signCertificate,
} from '#kubernetes/certificate/sign-certificate.ts';

/** A key and the certificate that vouches for itself, as PEM. */
export interface KeyAndCertificate {
  readonly key: string;
  readonly cert: string;
}

const name: DistinguishedName = [['CN', 'rollout-operator embedded cluster']];
const day = 24 * 60;

/**
 * Returns a new P-256 key and a certificate for 127.0.0.1, localhost and `names`, valid from a day before `now` for 30 days.
 * It is its own CA: its only use is to be trusted by the kubeconfig, or the webhook, that carries it.
 */
export async function selfSigned(
  now: Instant,
  names: readonly string[] = [],
): Promise<KeyAndCertificate> {
  const { publicKey, privateKey } = await newKeys();
  const certificate = signCertificate(
    {
      serialNumber: Uint8Array.of(1, ...randomBytes(15)),
      issuer: name,
      subject: name,
      notBefore: new Date(after(now, minutes(-day))),
      notAfter: new Date(after(now, minutes(30 * day))),
      publicKey,
      extensions: [
        basicConstraints({ isAuthority: true }),
        alternativeNames(['localhost', ...names], ['127.0.0.1']),
      ],
    },
    privateKey,
  );
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    cert: pemOf(certificate),
  };
}

function pemOf(certificate: string): string {
  const lines = certificate.match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
