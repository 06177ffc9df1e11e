import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { instant } from '#base/units.ts';
import {
  type CallbackIdentity,
  type CallbackReport,
  callbackBody,
  callbackSignature,
  idempotencyKey,
} from './callback-body.ts';

const uid = '0f4e7d5c-1b2a-4c3d-8e9f-001122334455';
const stageId = '2V6U3YXVO8OGtjQFEO9GJpQk1Xy';

const report: CallbackReport = {
  stageId,
  result: 'success',
  reasonCode: 'RolloutDone',
  reason: '50 of 100 pods are new – "ok" 🚀',
  rolloutIdentity: 'id-1',
  attempt: 2,
  percentRequested: 50,
  percentDeployed: 50,
  resource: { cluster: 'c1', namespace: 'ns', name: 'web', uid, generation: 7 },
  statefulset: { name: 'web', targetRevision: 'web-6d4f', version: 'v1.custom-1700000000' },
  replicas: {
    total: 1000,
    target: 500,
    updated: 500,
    ready: 1000,
    readyServiceDiscovery: 1000,
    leaked: 0,
  },
  buildMetadata: {
    branch: 'main',
    commitSha: 'abc123',
    origin: 'git@example.com:a/b.git',
    version: 'v1.custom-1700000000',
  },
  startedAt: instant(1_700_000_000_000),
  finishedAt: instant(1_700_000_600_000),
};

/** Written by Python's json module from a dictionary in the order of E-4. */
const written = String.raw`{"schema":"bedrock.operator.slack.com/callback.v1","stageId":"2V6U3YXVO8OGtjQFEO9GJpQk1Xy","result":"success","phase":"RolloutDone","reasonCode":"RolloutDone","reason":"50 of 100 pods are new – \"ok\" 🚀","rolloutIdentity":"id-1","attempt":2,"percentRequested":50,"percentDeployed":50,"resource":{"cluster":"c1","namespace":"ns","name":"web","uid":"0f4e7d5c-1b2a-4c3d-8e9f-001122334455","generation":7},"statefulset":{"name":"web","targetRevision":"web-6d4f","version":"v1.custom-1700000000"},"replicas":{"total":1000,"target":500,"updated":500,"ready":1000,"readyServiceDiscovery":1000,"leaked":0},"buildMetadata":{"branch":"main","commitSha":"abc123","origin":"git@example.com:a/b.git","version":"v1.custom-1700000000"},"startedAt":"2023-11-14T22:13:20Z","finishedAt":"2023-11-14T22:23:20Z"}`;

describe('callbackBody()', () => {
  test('callbackBody() has the members of E-4 in their order (E-4)', () => {
    assert.equal(callbackBody(report), written);
  });

  test('callbackBody() has the same order and no other member whatever the report looks like (E-4)', () => {
    const { leaked, ...counts } = report.replicas;
    const { name, ...place } = report.resource;
    const shuffled = { ...report, replicas: { leaked, ...counts }, resource: { name, ...place } };
    const longer = { secret: 'x', ...shuffled };
    assert.equal(callbackBody(longer), written);
  });

  test('callbackBody() calls a failure by both of its words (E-4)', () => {
    const body = callbackBody({ ...report, result: 'failure' });
    assert.match(body, /"result":"failure","phase":"RolloutFailed","reasonCode"/);
  });

  test('callbackBody() says null of what is unknown (E-4)', () => {
    const body = callbackBody({
      ...report,
      statefulset: { name: 'web', targetRevision: undefined, version: undefined },
      replicas: { ...report.replicas, readyServiceDiscovery: undefined },
      buildMetadata: {
        branch: undefined,
        commitSha: undefined,
        origin: undefined,
        version: undefined,
      },
    });
    assert.match(body, /"statefulset":\{"name":"web","targetRevision":null,"version":null\}/);
    assert.match(body, /"ready":1000,"readyServiceDiscovery":null,"leaked":0\}/);
    assert.match(body, /\{"branch":null,"commitSha":null,"origin":null,"version":null\}/);
  });
});

describe('idempotencyKey()', () => {
  const identity: CallbackIdentity = { uid, key: '9b1c', stageId, result: 'success' };
  /** Computed by `openssl dgst -sha256` and by Python's hashlib. */
  const cases: Record<string, { given: CallbackIdentity; want: string }> = {
    'of a success': {
      given: identity,
      want: '6bf32b61222530dac7614a9dcd292fc7bffb2d6885698a34cc873ef4292dad3a',
    },
    'of the failure of the same rollout': {
      given: { ...identity, result: 'failure' },
      want: '483e94f11df2e2e8c9ca17787962b4888695b40a34d41fa55141befc78cc3767',
    },
  };
  for (const [fact, { given, want }] of Object.entries(cases)) {
    test(`idempotencyKey() is the hash ${fact} (E-5)`, () => {
      assert.equal(idempotencyKey(given), want);
    });
  }
});

describe('callbackSignature()', () => {
  interface Case {
    readonly key: string | Uint8Array;
    readonly timestamp: number;
    readonly body: string;
    readonly want: string;
  }
  /** Computed by `openssl dgst -hmac` and by Python's hmac. */
  const cases: Record<string, Case> = {
    'of a whole body': {
      key: 's3cret',
      timestamp: 1_700_000_600,
      body: written,
      want: 'v1=5f8c857cf814a4f00d90e7b85bde68e06fb711c09c5315dba23ac99358633056',
    },
    'by a key of bytes that are no text': {
      key: Uint8Array.of(0, 255, 254, 10),
      timestamp: 1,
      body: '{}',
      want: 'v1=72a778edc2661e1339cc0a164264266048bcc0c7c49baea14cac90a6e47f03be',
    },
    'by a key that is longer than a block': {
      key: Buffer.concat([Uint8Array.of(0, 255, 254, 10), Buffer.alloc(100, 'x')]),
      timestamp: 1_700_000_600,
      body: written,
      want: 'v1=f7191f5f6ee1f9ddd0ac1766e408fb94ed9dfc3b363f13a741316f427607bacd',
    },
    'of text and key in UTF-8': {
      key: 'schlüssel',
      timestamp: 1,
      body: 'é',
      want: 'v1=08c5f5f459773c26dbed97284eb412666005b9f063f362d53978ad13f2d8964d',
    },
  };
  for (const [fact, { key, want, ...signed }] of Object.entries(cases)) {
    test(`callbackSignature() is the HMAC ${fact} (E-6)`, () => {
      assert.equal(callbackSignature(key, signed), want);
    });
  }
});
