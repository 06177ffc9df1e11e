import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import { instant, minutes, seconds } from '#base/units.ts';
import { issueSelfSigned } from './issue.ts';

const now = instant(Date.UTC(2026, 0, 2, 3, 4, 5));
const year = minutes(365 * 24 * 60);
const dnsNames = ['rollout-operator.test.svc'];
const issuance = { now, expiration: year, organization: 'Grafana Labs', dnsNames };

describe('issueSelfSigned()', () => {
  test('[admission 83] makes a leaf with one name that its CA vouches for', async () => {
    const { ca, cert, key } = await issueSelfSigned(issuance);
    const authority = new X509Certificate(ca);
    const leaf = new X509Certificate(cert);
    assert.equal(authority.subject, 'O=Grafana Labs');
    assert.equal(authority.issuer, 'O=Grafana Labs');
    assert.equal(authority.ca, true);
    assert.equal(authority.serialNumber, '07E6');
    assert.equal(authority.verify(authority.publicKey), true);
    assert.equal(leaf.subject, 'CN=rollout-operator\nO=Grafana Labs');
    assert.equal(leaf.issuer, 'O=Grafana Labs');
    assert.equal(leaf.ca, false);
    assert.equal(leaf.serialNumber, '0400');
    assert.equal(leaf.subjectAltName, 'DNS:rollout-operator.test.svc');
    assert.equal(leaf.verify(authority.publicKey), true);
    assert.equal(leaf.checkIssued(authority), true);
    assert.equal(leaf.checkPrivateKey(createPrivateKey(key)), true);
  });

  test('is valid from five minutes before now until the expiration', async () => {
    const { ca, cert } = await issueSelfSigned(issuance);
    for (const each of [new X509Certificate(ca), new X509Certificate(cert)]) {
      assert.equal(each.validFrom, 'Jan  2 02:59:05 2026 GMT');
      assert.equal(each.validTo, 'Jan  2 03:04:05 2027 GMT');
    }
  });

  test('is valid from at most a tenth of the life before now', async () => {
    const { cert } = await issueSelfSigned({ ...issuance, expiration: seconds(100) });
    assert.equal(new X509Certificate(cert).validFrom, 'Jan  2 03:03:55 2026 GMT');
  });

  test('uses P-256 keys and the usages that the peer sets', async () => {
    const { ca, cert, key } = await issueSelfSigned(issuance);
    assert.equal(createPrivateKey(key).asymmetricKeyDetails?.namedCurve, 'prime256v1');
    // Client and server authentication.
    const extended = ['1.3.6.1.5.5.7.3.2', '1.3.6.1.5.5.7.3.1'];
    assert.deepEqual(new X509Certificate(ca).keyUsage, extended);
    assert.deepEqual(new X509Certificate(cert).keyUsage, extended);
    // Bit 0 is digitalSignature, bit 5 keyCertSign: the first byte is 0x84 and 0x80.
    assert.equal(usageBits(ca), '03020284');
    assert.equal(usageBits(cert), '03020780');
  });

  test('keeps an organization with commas and umlauts whole', async () => {
    const { ca, cert } = await issueSelfSigned({ ...issuance, organization: 'Bär, Söhne + Co' });
    assert.ok(new X509Certificate(ca).raw.includes(Buffer.from('Bär, Söhne + Co', 'utf8')));
    assert.equal(new X509Certificate(cert).checkIssued(new X509Certificate(ca)), true);
  });

  test('carries each of several names', async () => {
    const { cert } = await issueSelfSigned({ ...issuance, dnsNames: ['a.test.svc', 'b.test.svc'] });
    assert.equal(new X509Certificate(cert).subjectAltName, 'DNS:a.test.svc, DNS:b.test.svc');
  });

  test('lets neither of two CAs of one name vouch for the leaf of the other', async () => {
    const [first, second] = await Promise.all([
      issueSelfSigned(issuance),
      issueSelfSigned(issuance),
    ]);
    assert.notEqual(first.ca, second.ca);
    assert.equal(
      new X509Certificate(first.cert).checkIssued(new X509Certificate(second.ca)),
      false,
    );
  });
});

/** The critical extension 2.5.29.15: its octet string in hexadecimal. */
function usageBits(pem: string): string {
  const hex = new X509Certificate(pem).raw.toString('hex');
  return /0603551d0f0101ff0404([0-9a-f]{8})/.exec(hex)?.[1] ?? '';
}
