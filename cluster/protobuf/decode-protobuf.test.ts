import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { decodeProtobuf } from './decode-protobuf.ts';

/** A field with a length: its tag, its length, its bytes. */
function field(number: number, content: Buffer | string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from([number * 8 + 2, bytes.length]), bytes]);
}

function varint(number: number, ...bytes: readonly number[]): Buffer {
  return Buffer.from([number * 8, ...bytes]);
}

function wrapped(apiVersion: string, kind: string, ...raw: readonly Buffer[]): Buffer {
  const typeMeta = Buffer.concat([field(1, apiVersion), field(2, kind)]);
  return Buffer.concat([
    Buffer.from('k8s\0'),
    field(1, typeMeta),
    field(2, Buffer.concat(raw)),
    field(3, ''),
    field(4, ''),
  ]);
}

const named = field(1, field(1, 'x'));

const cases: Readonly<Record<string, readonly [bytes: Buffer, object: JsonObject]>> = {
  'what kubectl create namespace sends': [
    Buffer.from(
      '6b3873000a0f0a02763112094e616d65737061636512190a110a017812001a0022002a0032003800420012001a020a001a002200',
      'hex',
    ),
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: 'x',
        generateName: '',
        namespace: '',
        uid: '',
        resourceVersion: '',
        generation: 0,
      },
      spec: {},
      status: { phase: '' },
    },
  ],
  'what kubectl create configmap sends': [
    Buffer.from(
      '6b3873000a0f0a0276311209436f6e6669674d6170121b0a110a016312001a0022002a0032003800420012060a01611201621a002200',
      'hex',
    ),
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'c',
        generateName: '',
        namespace: '',
        uid: '',
        resourceVersion: '',
        generation: 0,
      },
      data: { a: 'b' },
    },
  ],
  'bytes as base64, and a map with several keys': [
    wrapped(
      'v1',
      'Secret',
      named,
      field(2, Buffer.concat([field(1, 'a'), field(2, Buffer.from([0xff]))])),
      field(2, Buffer.concat([field(1, 'b'), field(2, '')])),
    ),
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' }, data: { a: '/w==', b: '' } },
  ],
  'times with microseconds, and numbers of more than a byte': [
    wrapped(
      'coordination.k8s.io/v1',
      'Lease',
      named,
      field(
        2,
        Buffer.concat([
          varint(2, 0xac, 0x02),
          field(
            4,
            Buffer.concat([varint(1, 0x80, 0xf2, 0xd6, 0xca, 0x06), varint(2, 0x80, 0x89, 0x7a)]),
          ),
        ]),
      ),
    ),
    {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'x' },
      spec: { leaseDurationSeconds: 300, renewTime: '2026-01-01T00:00:00.002000Z' },
    },
  ],
  'a percentage and a count': [
    wrapped(
      'policy/v1',
      'PodDisruptionBudget',
      field(
        2,
        Buffer.concat([
          field(1, Buffer.concat([varint(1, 0), varint(2, 2), field(3, '')])),
          field(3, Buffer.concat([varint(1, 1), varint(2, 0), field(3, '50%')])),
        ]),
      ),
    ),
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      spec: { minAvailable: 2, maxUnavailable: '50%' },
    },
  ],
  'lists of texts and options of any version': [
    wrapped('v1', 'DeleteOptions', varint(1, 0), field(5, 'All')),
    { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, dryRun: ['All'] },
  ],
};

for (const [name, [bytes, object]] of Object.entries(cases)) {
  test(`decodeProtobuf() reads ${name}`, () => {
    assert.deepEqual(decodeProtobuf(bytes), object);
  });
}

test('decodeProtobuf() does not know a kind without a table', () => {
  assert.equal(decodeProtobuf(wrapped('v1', 'Pod', named)), undefined);
});

const broken: Readonly<Record<string, readonly [bytes: Buffer, why: RegExp]>> = {
  'bytes without the magic': [Buffer.from('{}'), /does not begin with/],
  'a field that it does not know': [
    wrapped('v1', 'ConfigMap', field(9, 'x')),
    /field 9 is not known/,
  ],
  'a field that is cut short': [
    wrapped('v1', 'ConfigMap', Buffer.from([0x0a, 9])),
    /ends within a field/,
  ],
  'a number that is cut short': [
    wrapped('v1', 'ConfigMap', Buffer.from([0x20, 0x80])),
    /ends within a number/,
  ],
  'bytes where a number belongs': [
    wrapped('v1', 'ConfigMap', field(4, 'x')),
    /bytes stand where a number belongs/,
  ],
};

for (const [name, [bytes, why]] of Object.entries(broken)) {
  test(`decodeProtobuf() refuses ${name}`, () => {
    assert.throws(() => decodeProtobuf(bytes), why);
  });
}
