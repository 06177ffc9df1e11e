import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { instant } from '#base/units.ts';
import { selfSigned } from './self-signed.ts';

test('selfSigned() is a certificate of 127.0.0.1 and localhost that its own key signed', async () => {
  const { key, cert } = await selfSigned(instant(Date.UTC(2026, 0, 2, 3, 4, 5)));
  const certificate = new X509Certificate(cert);
  assert.equal(certificate.subject, 'CN=rollout-operator embedded cluster');
  assert.equal(certificate.issuer, 'CN=rollout-operator embedded cluster');
  assert.equal(certificate.subjectAltName, 'DNS:localhost, IP Address:127.0.0.1');
  assert.equal(certificate.ca, true);
  assert.equal(certificate.validFrom, 'Jan  1 03:04:05 2026 GMT');
  assert.equal(certificate.validTo, 'Feb  1 03:04:05 2026 GMT');
  assert.equal(certificate.checkPrivateKey(createPrivateKey(key)), true);
  assert.equal(certificate.verify(certificate.publicKey), true);
});

test('selfSigned() gives each certificate another serial number', async () => {
  const made = await Promise.all(Array.from({ length: 20 }, () => selfSigned(instant(0))));
  const serials = made.map(({ cert }) => new X509Certificate(cert).serialNumber);
  assert.equal(new Set(serials).size, 20);
});
