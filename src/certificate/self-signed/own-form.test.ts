import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instant, minutes } from '#base/units.ts';
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

function blockIn(text: string): PemBlock {
  const [block] = certificateBlocks(text);
  assert.ok(block);
  return block;
}

test('ofOurForm() reads a CA of ours, with its expiry', () => {
  const { body, pem } = blockIn(issued.ca);
  assert.deepEqual(ofOurForm({ body, pem }), [{ id: body, pem, notAfter: T0 + 3_600_000 }]);
});

test('ofOurForm() takes no certificate that is not a CA', () => {
  assert.deepEqual(ofOurForm(blockIn(issued.cert)), []);
});

test('ofOurForm() takes no text in the form of a certificate', () => {
  assert.deepEqual(ofOurForm(blockIn(pemOf('CERTIFICATE', 'AAAA'))), []);
});
