import { type Instant, type Millis, minutes } from '#base/units.ts';
import {
  alternativeNames,
  authorityKeyIdentifier,
  basicConstraints,
  signingUsage,
  subjectKeyIdentifier,
  tlsUsage,
} from '#kubernetes/certificate/certificate-extensions.ts';
import {
  type DistinguishedName,
  newKeys,
  signCertificate,
} from '#kubernetes/certificate/sign-certificate.ts';
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

/** Serial numbers of the peer, 2022 and 1024. */
const serials = { ca: Uint8Array.of(0x07, 0xe6), leaf: Uint8Array.of(0x04, 0x00) };

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
  const issuer: DistinguishedName = [['O', organization]];
  const validity = {
    notBefore: new Date(now - Math.min(longestBackdate, expiration / 10)),
    notAfter: new Date(now + expiration),
  };
  const ca = signCertificate(
    {
      ...validity,
      serialNumber: serials.ca,
      issuer,
      subject: issuer,
      publicKey: authority.publicKey,
      extensions: [
        basicConstraints({ isAuthority: true }),
        signingUsage({ ofCertificates: true }),
        tlsUsage(),
        // During a rotation two CAs have one name: this tells them apart.
        subjectKeyIdentifier(authority.publicKey),
      ],
    },
    authority.privateKey,
  );
  const leaf = signCertificate(
    {
      ...validity,
      serialNumber: serials.leaf,
      issuer,
      subject: [['CN', 'rollout-operator'], ...issuer],
      publicKey: server.publicKey,
      extensions: [
        basicConstraints({ isAuthority: false }),
        signingUsage({ ofCertificates: false }),
        tlsUsage(),
        alternativeNames(dnsNames),
        authorityKeyIdentifier(authority.publicKey),
      ],
    },
    authority.privateKey,
  );
  return {
    ca: pemOf('CERTIFICATE', ca),
    cert: pemOf('CERTIFICATE', leaf),
    key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }),
  };
}
