import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { type Instant, after as later, millis } from '#base/units.ts';

/** A key and the certificate that vouches for itself, as PEM. */
export interface KeyAndCertificate {
  readonly key: string;
  readonly cert: string;
}

const days = 86_400_000;

/**
 * A new P-256 key and a self-signed certificate for 127.0.0.1 and localhost, valid from a day before `now` for 30 days:
 * kubectl sends no token over plain HTTP, and Node has nothing that issues certificates.
 *
 * @see https://www.rfc-editor.org/rfc/rfc5280#section-4.1
 */
export function selfSigned(now: Instant): KeyAndCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(set(sequence(oid(0x55, 0x04, 0x03), der(0x0c, text('rollout-operator')))));
  const tbs = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(randomBytes(16)),
    ecdsaWithSha256(),
    name,
    sequence(time(later(now, millis(-days))), time(later(now, millis(30 * days)))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(basicConstraints(), alternativeNames())),
  );
  const cert = sequence(tbs, ecdsaWithSha256(), bits(sign('sha256', tbs, privateKey)));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    cert: `-----BEGIN CERTIFICATE-----\n${wrapped(cert)}\n-----END CERTIFICATE-----\n`,
  };
}

function wrapped(bytes: Buffer): string {
  return bytes.toString('base64').replace(/.{64}(?=.)/g, '$&\n');
}

function ecdsaWithSha256(): Buffer {
  return sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
}

/** Critical, CA: its only use is to be trusted by the kubeconfig that carries it. */
function basicConstraints(): Buffer {
  const isTrue = der(0x01, Buffer.from([0xff]));
  return sequence(oid(0x55, 0x1d, 0x13), isTrue, der(0x04, sequence(isTrue)));
}

function alternativeNames(): Buffer {
  const address = der(0x87, Buffer.from([127, 0, 0, 1]));
  return sequence(
    oid(0x55, 0x1d, 0x11),
    der(0x04, sequence(der(0x82, text('localhost')), address)),
  );
}

/** One element of DER: tag, length, content. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80
      ? [length]
      : length < 0x1_00
        ? [0x81, length]
        : [0x82, Math.floor(length / 0x1_00), length % 0x1_00];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts);
}

function set(...parts: readonly Buffer[]): Buffer {
  return der(0x31, ...parts);
}

function oid(...bytes: readonly number[]): Buffer {
  return der(0x06, Buffer.from(bytes));
}

function text(value: string): Buffer {
  return Buffer.from(value, 'utf8');
}

/** A positive number, most significant byte first: in as few bytes as it needs, and none that looks negative. */
function integer(bytes: Buffer): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const needed = first < 0 ? Buffer.from([0]) : bytes.subarray(first);
  const isNegative = (needed[0] ?? 0) >= 0x80;
  return der(0x02, ...(isNegative ? [Buffer.from([0])] : []), needed);
}

function bits(bytes: Buffer): Buffer {
  return der(0x03, Buffer.from([0]), bytes);
}

/** UTCTime, as RFC 5280 asks for until 2049. */
function time(at: Instant): Buffer {
  const digits = new Date(at).toISOString().replace(/[-:T]|\..*$/g, '');
  return der(0x17, text(`${digits.slice(2)}Z`));
}
