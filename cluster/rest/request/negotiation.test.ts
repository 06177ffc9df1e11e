import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnswerForm, negotiate } from './negotiation.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const OLD_TABLE = 'application/json;as=Table;v=v1beta1;g=meta.k8s.io';

interface Case {
  readonly accept: string | undefined;
  readonly isList?: boolean;
  readonly form: AnswerForm;
}

const cases: Readonly<Record<string, Case>> = {
  'answers objects where nothing is asked for': { accept: undefined, form: { kind: 'object' } },
  'answers JSON to any type': { accept: '*/*', form: { kind: 'object' } },
  'skips protobuf while JSON is present': {
    accept: 'application/vnd.kubernetes.protobuf,application/json',
    form: { kind: 'object' },
  },
  'takes the first Table of what kubectl get sends': {
    accept: `${TABLE},${OLD_TABLE},application/json`,
    isList: true,
    form: { kind: 'table', version: 'v1' },
  },
  'takes the older Table where only that is asked for': {
    accept: OLD_TABLE,
    form: { kind: 'table', version: 'v1beta1' },
  },
  'falls back to objects after a form that does not exist': {
    accept: 'application/json;as=Chart;v=v1;g=meta.k8s.io,application/json',
    form: { kind: 'object' },
  },
  'answers a list as partial metadata': {
    accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
    isList: true,
    form: { kind: 'metadata' },
  },
  'answers an object as partial metadata': {
    accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
    form: { kind: 'metadata' },
  },
};

for (const [name, { accept, isList = false, form }] of Object.entries(cases)) {
  test(`negotiate() ${name}`, () => {
    assert.deepEqual(negotiate(accept, isList), form);
  });
}

test('negotiate() refuses what has no form that is served with 406', () => {
  const only = 'application/vnd.kubernetes.protobuf';
  assert.throws(() => negotiate(only, false), /only the following media types are accepted/);
  const wrong = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
  assert.throws(() => negotiate(wrong, true), /PartialObjectMetadataList/);
});
