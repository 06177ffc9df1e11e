import { createPrivateKey, X509Certificate } from 'node:crypto';
import { errorOf } from '#base/error-of.ts';
import { invalid, type Parsed, valid } from '#base/parsed.ts';
import { type Instant, instant } from '#base/units.ts';
import { type Authority, type Leaf, mostAuthorities } from './api.ts';
import type { KeyPair } from './x509/certificate-source.ts';
import { certificateBlocks, type PemBlock } from './x509/pem.ts';

/** Most certificates in the chain of a Secret: each is checked against each CA, at every change. */
const longestChain = 8;

/** A certificate and its key that belong together. */
export interface CheckedPair extends KeyPair {
  /** The chain as parsed, the served certificate first. */
  readonly chain: readonly X509Certificate[];
  /** Earliest expiry in the chain. */
  readonly notAfter: Instant;
}

/** Where a certificate and its key are, for messages. */
export interface PairPaths {
  readonly cert: string;
  readonly key: string;
}

/** Returns `pair`, if both parse and the key is that of the first certificate. @param paths name both in the problem */
export function checkPair(pair: KeyPair, paths: PairPaths): Parsed<CheckedPair> {
  const parsed = parseCertificates(pair.cert, paths.cert);
  if (parsed.kind === 'invalid') return parsed;
  const chain = parsed.value.map(({ certificate }) => certificate);
  const [first] = chain;
  if (first === undefined) return invalid(paths.cert, 'must hold a PEM certificate: found none');
  try {
    if (!first.checkPrivateKey(createPrivateKey(pair.key))) {
      return invalid(
        paths.key,
        `must be the key of the certificate in ${paths.cert}: it is another`,
      );
    }
  } catch (error) {
    return invalid(paths.key, `must be a PEM private key: ${errorOf(error).message}`);
  }
  return valid({ cert: pair.cert, key: pair.key, chain, notAfter: earliestExpiry(chain) });
}

/** Returns the CAs in `text`, in order, each once; 1 to 8. @param path where it is, for the problem */
export function parseAuthorities(text: string, path: string): Parsed<readonly Authority[]> {
  const byId = new Map(certificateBlocks(text).map((block) => [block.body, block]));
  const blocks = [...byId.values()];
  if (blocks.length > mostAuthorities) {
    return invalid(path, `must hold at most ${mostAuthorities} CAs: found ${blocks.length}`);
  }
  const parsed = parseBlocks(blocks, path);
  if (parsed.kind === 'invalid') return parsed;
  if (parsed.value.length === 0) return invalid(path, 'must hold a PEM certificate: found none');
  return valid(parsed.value.map(authorityOf));
}

/** Returns `pair` as something to serve, if it is whole, of at most 8 certificates, and one of `authorities` vouches for it. */
export function parseLeaf(
  pair: KeyPair,
  paths: PairPaths & { readonly ca: string },
  authorities: readonly Authority[],
): Parsed<Leaf> {
  const length = certificateBlocks(pair.cert).length;
  if (length > longestChain) {
    return invalid(
      paths.cert,
      `must hold a chain of at most ${longestChain} certificates: found ${length}`,
    );
  }
  const checked = checkPair(pair, paths);
  if (checked.kind === 'invalid') return checked;
  const { chain, cert, key, notAfter } = checked.value;
  const [first] = chain;
  if (first !== undefined && first.validToDate <= first.validFromDate) {
    const { validFrom, validTo } = first;
    return invalid(
      paths.cert,
      `must end after it begins: it begins on ${validFrom} and ends on ${validTo}`,
    );
  }
  const authority = authorities.find(({ pem }) => isSignedBy(chain, new X509Certificate(pem)));
  if (authority === undefined || first === undefined) {
    return invalid(
      paths.ca,
      `must hold the CA of the certificate in ${paths.cert}: none of its ${authorities.length} signed it`,
    );
  }
  return valid({
    id: first.raw.toString('base64'),
    cert,
    key,
    notBefore: latestBegin([...chain, new X509Certificate(authority.pem)]),
    notAfter: instant(Math.min(notAfter, authority.notAfter)),
    dnsNames: dnsNamesOf(first),
    authority,
  });
}

interface FoundCertificate {
  readonly block: PemBlock;
  readonly certificate: X509Certificate;
}

function parseCertificates(text: string, path: string): Parsed<readonly FoundCertificate[]> {
  return parseBlocks(certificateBlocks(text), path);
}

function parseBlocks(
  blocks: readonly PemBlock[],
  path: string,
): Parsed<readonly FoundCertificate[]> {
  try {
    return valid(blocks.map((block) => ({ block, certificate: new X509Certificate(block.pem) })));
  } catch (error) {
    return invalid(path, `must hold PEM certificates: ${errorOf(error).message}`);
  }
}

function authorityOf({ block, certificate }: FoundCertificate): Authority {
  return {
    id: block.body,
    pem: block.pem,
    notAfter: instant(certificate.validToDate.getTime()),
  };
}

/** Reports whether one signed the other. The names come first: a signature costs a thousand times as much to check. */
function isSignedBy(chain: readonly X509Certificate[], authority: X509Certificate): boolean {
  return chain.some(
    (certificate) =>
      certificate.issuer === authority.subject && certificate.verify(authority.publicKey),
  );
}

function latestBegin(certificates: readonly X509Certificate[]): Instant {
  return instant(Math.max(...certificates.map(({ validFromDate }) => validFromDate.getTime())));
}

function earliestExpiry(chain: readonly X509Certificate[]): Instant {
  return instant(Math.min(...chain.map(({ validToDate }) => validToDate.getTime())));
}

function dnsNamesOf({ subjectAltName = '' }: X509Certificate): readonly string[] {
  return [...subjectAltName.matchAll(/DNS:([^,\s"]+)/g)].map(([, name = '']) => name);
}
