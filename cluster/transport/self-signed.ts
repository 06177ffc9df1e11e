// The certificate library asks for this polyfill to be loaded before it.
// oxlint-disable-next-line import/no-unassigned-import -- a polyfill is imported for its effect
import 'reflect-metadata';

import { webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { after, type Instant, minutes } from '#base/units.ts';

/** A key and the certificate that vouches for itself, as PEM. */
export interface KeyAndCertificate {
  readonly key: string;
  readonly cert: string;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const day = 24 * 60;

/**
 * Returns a new P-256 key and a certificate for 127.0.0.1, localhost and `names`, valid from a day before `now` for 30 days.
 * It is its own CA: its only use is to be trusted by the kubeconfig, or the webhook, that carries it.
 */
export async function selfSigned(
  now: Instant,
  names: readonly string[] = [],
): Promise<KeyAndCertificate> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=rollout-operator embedded cluster',
    notBefore: new Date(after(now, minutes(-day))),
    notAfter: new Date(after(now, minutes(30 * day))),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new SubjectAlternativeNameExtension([
        ...['localhost', ...names].map((value) => ({ type: 'dns', value }) as const),
        { type: 'ip', value: '127.0.0.1' },
      ]),
    ],
  });
  return { key: await pemOf(keys.privateKey), cert: certificate.toString('pem') };
}

async function pemOf(key: webcrypto.CryptoKey): Promise<string> {
  const bytes = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key));
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----', ''].join('\n');
}
