import { generateKeyPair, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { AsnConvert } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  Certificate,
  type Extension,
  Extensions,
  Name,
  RelativeDistinguishedName,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509';

/** A P-256 key and its public half. */
export interface Keys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

/** A name, as its attributes in order. */
export type DistinguishedName = readonly (readonly [attribute: 'CN' | 'O', value: string])[];

/** What a certificate says. */
export interface Contents {
  /** In big-endian order; the first byte is from 1 to 127. */
  readonly serialNumber: Uint8Array;
  readonly issuer: DistinguishedName;
  readonly subject: DistinguishedName;
  /** Whole seconds count. */
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Extension[];
}

const attributeTypes = { CN: '2.5.4.3', O: '2.5.4.10' } as const;

const ecdsaWithSha256 = '1.2.840.10045.4.3.2';

/** Returns a new pair of P-256 keys. */
export function newKeys(): Promise<Keys> {
  return promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
}

/** Returns the certificate with `contents` that the P-256 key `issuerKey` signs, as base64 of its DER form. */
export function signCertificate(contents: Contents, issuerKey: KeyObject): string {
  const signatureAlgorithm = new AlgorithmIdentifier({ algorithm: ecdsaWithSha256 });
  const { issuer, subject, publicKey, extensions } = contents;
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: Uint8Array.from(contents.serialNumber).buffer,
    signature: signatureAlgorithm,
    issuer: nameOf(issuer),
    validity: new Validity(contents),
    subject: nameOf(subject),
    subjectPublicKeyInfo: publicKeyInfo(publicKey),
    extensions: new Extensions([...extensions]),
  });
  const signature = sign('sha256', Buffer.from(AsnConvert.serialize(tbsCertificate)), issuerKey);
  const certificate = new Certificate({
    tbsCertificate,
    signatureAlgorithm,
    signatureValue: Uint8Array.from(signature).buffer,
  });
  return Buffer.from(AsnConvert.serialize(certificate)).toString('base64');
}

/** Returns `key` in the form in which certificates have it. */
export function publicKeyInfo(key: KeyObject): SubjectPublicKeyInfo {
  return AsnConvert.parse(key.export({ type: 'spki', format: 'der' }), SubjectPublicKeyInfo);
}

function nameOf(name: DistinguishedName): Name {
  return new Name(
    name.map(([attribute, utf8String]) => {
      const value = new AttributeValue({ utf8String });
      const type = attributeTypes[attribute];
      return new RelativeDistinguishedName([new AttributeTypeAndValue({ type, value })]);
    }),
  );
}
