// The certificate library asks for this polyfill to be loaded before it.
// oxlint-disable-next-line import/no-unassigned-import -- a polyfill is imported for its effect
import 'reflect-metadata';

import { webcrypto } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { type Instant, type Millis, minutes } from '#base/units.ts';
import type { KeyPair } from './certificate-source.ts';
import { pemOf } from './pem.ts';

/** What a new certificate is to say. */
export interface Issuance {
  readonly dnsNames: readonly string[];
  readonly organization: string;
  /** Time from now until it expires. */
  readonly expiration: Millis;
  readonly now: Instant;
}

/** A new certificate with its key, and the CA that vouches for it and for nothing else. */
export interface IssuedPair extends KeyPair {
  readonly ca: string;
}

/** Makes a new pair; {@link issueSelfSigned}, or a stand-in. */
export type Issue = (issuance: Issuance) => Promise<IssuedPair>;

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** Serial numbers of the peer, 2022 and 1024, in hexadecimal. */
const serials = { ca: '07e6', leaf: '0400' };

/** An API server whose clock is behind ours must not find the first certificate "not yet valid". */
const longestBackdate = minutes(5);

/**
 * Makes a throw-away CA and one leaf, with P-256 keys (D-28). The key of the CA is not kept.
 *
 * Valid from up to five minutes before `now`: never more than a tenth of `expiration`.
 */
export async function issueSelfSigned(issuance: Issuance): Promise<IssuedPair> {
  const [authority, server] = await Promise.all([newKeys(), newKeys()]);
  const { organization, now, expiration, dnsNames } = issuance;
  const name = [{ O: [organization] }];
  const validity = {
    notBefore: new Date(now - Math.min(longestBackdate, expiration / 10)),
    notAfter: new Date(now + expiration),
  };
  const usage = new ExtendedKeyUsageExtension([
    ExtendedKeyUsage.clientAuth,
    ExtendedKeyUsage.serverAuth,
  ]);
  const caUsage = KeyUsageFlags.digitalSignature | KeyUsageFlags.keyCertSign;
  const ca = await X509CertificateGenerator.createSelfSigned({
    ...validity,
    serialNumber: serials.ca,
    name,
    keys: authority,
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- flags are joined as numbers
      new KeyUsagesExtension(caUsage, true),
      usage,
      // During a rotation two CAs have one name: this tells them apart.
      await SubjectKeyIdentifierExtension.create(authority.publicKey),
    ],
  });
  const leaf = await X509CertificateGenerator.create({
    ...validity,
    serialNumber: serials.leaf,
    subject: [{ CN: ['rollout-operator'] }, { O: [organization] }],
    issuer: name,
    publicKey: server.publicKey,
    signingKey: authority.privateKey,
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      usage,
      new SubjectAlternativeNameExtension(dnsNames.map((value) => ({ type: 'dns', value }))),
      await AuthorityKeyIdentifierExtension.create(authority.publicKey),
    ],
  });
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', server.privateKey));
  return {
    ca: pemOf('CERTIFICATE', Buffer.from(ca.rawData).toString('base64')),
    cert: pemOf('CERTIFICATE', Buffer.from(leaf.rawData).toString('base64')),
    key: pemOf('PRIVATE KEY', key.toString('base64')),
  };
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}
