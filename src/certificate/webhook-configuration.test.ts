import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonValue } from '#base/json.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { projectConfiguration } from './webhook-configuration.ts';
import { certificateBlocks, pemOf } from './x509/pem.ts';

const [one, two] = [pemOf('CERTIFICATE', 'AAAA'), pemOf('CERTIFICATE', 'B'.repeat(80))];

function configuration(webhooks: JsonValue, inject = 'true'): KubernetesObject {
  const labels = { 'grafana.com/inject-rollout-operator-ca': inject, 'grafana.com/namespace': 'x' };
  return { metadata: { name: 'hooks', uid: 'u', resourceVersion: '7', labels }, webhooks };
}

function webhook(text: string | undefined): JsonValue {
  const bundle = text === undefined ? {} : { caBundle: Buffer.from(text).toString('base64') };
  return { name: 'a.b.c', failurePolicy: 'Ignore', clientConfig: { ...bundle } };
}

describe('projectConfiguration()', () => {
  test('[admission 96] wants a CA only where the label says exactly true', () => {
    assert.equal(projectConfiguration(configuration([])).wantsCa, true);
    for (const value of ['True', 'false', '']) {
      assert.equal(projectConfiguration(configuration([], value)).wantsCa, false);
    }
    const bare = { metadata: { name: 'hooks', uid: 'u', resourceVersion: '7' } };
    assert.equal(projectConfiguration(bare).wantsCa, false);
  });

  test('reads the certificates of each bundle', () => {
    const raw = configuration([webhook(one + two), webhook(undefined)]);
    const [first, second] = projectConfiguration(raw).webhooks;
    assert.deepEqual(first, {
      name: 'a.b.c',
      failurePolicy: 'Ignore',
      bundle: [
        { body: 'AAAA', pem: one },
        { body: 'B'.repeat(80), pem: two },
      ],
      hasForeignText: false,
    });
    assert.deepEqual(second?.bundle, []);
    assert.equal(second?.hasForeignText, false);
  });

  for (const text of ['garbage', `${one}garbage`, '-----BEGIN CERTIFICATE-----\n']) {
    test(`sees foreign text in a bundle of ${JSON.stringify(text.slice(-20))}`, () => {
      const [first] = projectConfiguration(configuration([webhook(text)])).webhooks;
      assert.equal(first?.hasForeignText, true);
    });
  }

  test('[found R-7] names the field managers of a CA bundle, and no other', () => {
    const owns = (member: string): JsonValue => ({
      'f:webhooks': { '.': {}, 'k:{"name":"a.b.c"}': { 'f:clientConfig': { [member]: {} } } },
    });
    const raw = configuration([webhook(one)]);
    const managedFields = [
      { manager: 'helm', operation: 'Update', fieldsV1: owns('f:service') },
      { manager: 'cainjector', operation: 'Update', fieldsV1: owns('f:caBundle') },
      { manager: 'odd', fieldsV1: { 'f:webhooks': 'x' } },
      null,
    ];
    const managed = { ...raw, metadata: { ...raw.metadata, managedFields } };
    assert.deepEqual(projectConfiguration(managed).bundleManagers, ['cainjector']);
    assert.deepEqual(projectConfiguration(raw).bundleManagers, []);
  });

  test('takes entries of any shape', () => {
    for (const webhooks of [null, 'x', {}, [null, 1, 'x', { clientConfig: 3 }]]) {
      assert.doesNotThrow(() => projectConfiguration(configuration(webhooks)));
    }
  });
});

describe('certificateBlocks()', () => {
  test('finds certificates between other text, whatever their line breaks', () => {
    const text = `subject=x\r\n${two.replaceAll('\n', '\r\n')}# end\n${one}`;
    assert.deepEqual(
      certificateBlocks(text).map(({ pem }) => pem),
      [two, one],
    );
  });

  test('finds none in keys, nor in what is cut off', () => {
    assert.deepEqual(certificateBlocks(pemOf('PRIVATE KEY', 'AAAA')), []);
    assert.deepEqual(certificateBlocks(two.slice(0, -20)), []);
    assert.deepEqual(certificateBlocks(''), []);
  });
});

describe('pemOf()', () => {
  test('breaks lines after 64 characters', () => {
    assert.equal(
      two,
      `-----BEGIN CERTIFICATE-----\n${'B'.repeat(64)}\n${'B'.repeat(16)}\n-----END CERTIFICATE-----\n`,
    );
  });
});
