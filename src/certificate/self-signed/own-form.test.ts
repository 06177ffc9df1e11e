import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instant, minutes } from '#base/units.ts';
import { parseAuthorities } from '../read-pair.ts';
import { issueSelfSigned } from '../x509/issue.ts';
import { certificateBlocks, type PemBlock, pemOf } from '../x509/pem.ts';
import { ofOurForm } from './own-form.ts';

const T0 = instant(1_767_225_600_000);
const issued = await issueSelfSigned({
  dnsNames: ['a.test.svc'],
  organization: 'Grafana Labs',
  expiration: minutes(60),
  now: T0,
});

/** A CA whose name is a PrintableString, as former versions made it, and as Go makes it. */
const printable = [
  'MIIBgTCCASegAwIBAgICB+YwCgYIKoZIzj0EAwIwFzEVMBMGA1UEChMMR3JhZmFu',
  'YSBMYWJzMCAXDTI2MDEwMjAyNTkwNVoYDzIxMjYwMTAzMDMwNDA1WjAXMRUwEwYD',
  'VQQKEwxHcmFmYW5hIExhYnMwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARgSozO',
  'c2QAcnRnghrXS1X2mTSohFG7avnsAVZRgHrMWBixvgvTZldNvuDUQaCYjFrduNuo',
  '/MH+NKhVYNtQ53b6o2EwXzAPBgNVHRMBAf8EBTADAQH/MA4GA1UdDwEB/wQEAwIC',
  'hDAdBgNVHSUEFjAUBggrBgEFBQcDAgYIKwYBBQUHAwEwHQYDVR0OBBYEFNnFOcS0',
  '7nSISEm4LxNblOm4FQ85MAoGCCqGSM49BAMCA0gAMEUCIQC3xZ+2nCirZ6svlk8J',
  'HcMrEMDW9Dl4lTZDIb9s9yIK9gIgWaDD8VMaSWQR09ItRb5bfLEIt4y2JKyThNAz',
  'PJDro2c=',
].join('');

function blockIn(text: string): PemBlock {
  const [block] = certificateBlocks(text);
  assert.ok(block);
  return block;
}

test('ofOurForm() reads a CA of ours, with its expiry', () => {
  const { body, pem } = blockIn(issued.ca);
  assert.deepEqual(ofOurForm({ body, pem }), [{ id: body, pem, notAfter: T0 + 3_600_000 }]);
});

test('ofOurForm() reads a CA with its name in the other form of text beside one of ours', () => {
  const text = `${pemOf('CERTIFICATE', printable)}${issued.ca}`;
  const read = certificateBlocks(text).flatMap(ofOurForm);
  assert.deepEqual(
    read.map(({ notAfter }) => notAfter),
    [Date.UTC(2126, 0, 3, 3, 4, 5), T0 + 3_600_000],
  );
  const authorities = parseAuthorities(text, 'ca');
  assert.deepEqual(authorities, { kind: 'valid', value: read });
});

test('ofOurForm() takes no certificate that is not a CA', () => {
  assert.deepEqual(ofOurForm(blockIn(issued.cert)), []);
});

test('ofOurForm() takes no text in the form of a certificate', () => {
  assert.deepEqual(ofOurForm(blockIn(pemOf('CERTIFICATE', 'AAAA'))), []);
});
