import { createHash, type KeyObject } from 'node:crypto';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AuthorityKeyIdentifier,
  BasicConstraints,
  ExtendedKeyUsage,
  Extension,
  GeneralName,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_clientAuth,
  id_kp_serverAuth,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
} from '@peculiar/asn1-x509';
import { publicKeyInfo } from './sign-certificate.ts';

/** Returns whether the certificate may sign others; critical. */
export function basicConstraints({ isAuthority }: { readonly isAuthority: boolean }): Extension {
  return extension(id_ce_basicConstraints, new BasicConstraints({ cA: isAuthority }), {
    isCritical: true,
  });
}

/** Returns that the key signs what is exchanged, and certificates where that is said; critical. */
export function signingUsage({ ofCertificates }: { readonly ofCertificates: boolean }): Extension {
  const { digitalSignature, keyCertSign } = KeyUsageFlags;
  const flags = ofCertificates ? digitalSignature | keyCertSign : digitalSignature;
  return extension(id_ce_keyUsage, new KeyUsage(flags), { isCritical: true });
}

/** Returns that clients and servers of TLS may prove themselves with the certificate. */
export function tlsUsage(): Extension {
  return extension(id_ce_extKeyUsage, new ExtendedKeyUsage([id_kp_clientAuth, id_kp_serverAuth]));
}

/** Returns the names and IPv4 addresses that the certificate is valid for; an IPv6 address that ends as one of IPv4 would be written as another. */
export function alternativeNames(
  dnsNames: readonly string[],
  addresses: readonly string[] = [],
): Extension {
  const names = [
    ...dnsNames.map((dNSName) => new GeneralName({ dNSName })),
    ...addresses.map((iPAddress) => new GeneralName({ iPAddress })),
  ];
  return extension(id_ce_subjectAltName, new SubjectAlternativeName(names));
}

/** Returns by what a CA with the key `key` is told apart from another one of its name. */
export function subjectKeyIdentifier(key: KeyObject): Extension {
  return extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(identifierOf(key)));
}

/** Returns which of the CAs of one name has signed: that with the key `key`. */
export function authorityKeyIdentifier(key: KeyObject): Extension {
  const keyIdentifier = new KeyIdentifier(identifierOf(key));
  return extension(id_ce_authorityKeyIdentifier, new AuthorityKeyIdentifier({ keyIdentifier }));
}

/** @see https://www.rfc-editor.org/rfc/rfc5280#section-4.2.1.2 (1) */
function identifierOf(key: KeyObject): Buffer {
  const { subjectPublicKey } = publicKeyInfo(key);
  return createHash('sha1').update(Buffer.from(subjectPublicKey)).digest();
}

function extension(
  extnID: string,
  value: object,
  { isCritical = false }: { readonly isCritical?: boolean } = {},
): Extension {
  const extnValue = new OctetString(AsnConvert.serialize(value));
  return new Extension({ extnID, critical: isCritical, extnValue });
}
