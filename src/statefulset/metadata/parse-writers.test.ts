import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { writersIn } from './parse-writers.ts';

function entry(manager: string, spec: JsonObject): JsonObject {
  return { manager, operation: 'Update', fieldsType: 'FieldsV1', fieldsV1: { 'f:spec': spec } };
}

const type = { 'f:updateStrategy': { 'f:type': {} } };
const partition = { 'f:updateStrategy': { 'f:rollingUpdate': { 'f:partition': {} } } };

const cases: Readonly<Record<string, readonly [managedFields: unknown, want: unknown]>> = {
  'nothing where there are none': [undefined, undefined],
  'nothing where they cannot be read': ['text', undefined],
  'nobody where no entry has the fields': [[entry('a', { 'f:template': {} }), 7, {}], {}],
  'who has each field': [
    [entry('helm', type), entry('kubectl-scale', { 'f:replicas': {} }), entry('edit', partition)],
    { strategy: 'helm', replicas: 'kubectl-scale', partition: 'edit' },
  ],
  'who wrote last, but for the status, where nobody has a field': [
    [
      { ...entry('helm', {}), time: '2026-03-01T10:00:00Z' },
      { ...entry('edit', {}), time: '2026-03-01T10:00:05Z' },
      { ...entry('controller', {}), time: '2026-03-01T10:00:09Z', subresource: 'status' },
    ],
    { newest: 'edit' },
  ],
  'all that applied the same value': [
    [entry('helm', partition), entry('flux', partition)],
    { partition: 'helm and flux' },
  ],
  'who wrote what is wanted, which is this operator': [
    [
      {
        manager: 'rollout-operator',
        fieldsV1: {
          'f:metadata': { 'f:annotations': { 'f:bedrock.operator.slack.com/applied-hash': {} } },
        },
      },
    ],
    { applied: 'rollout-operator' },
  ],
  'nobody for a field that is not as the API server writes it': [
    [entry('a', { 'f:updateStrategy': 'x', 'f:replicas': null })],
    {},
  ],
};

describe('[found S-8] writersIn()', () => {
  for (const [what, [managedFields, want]] of Object.entries(cases)) {
    test(`returns ${what}`, () => {
      assert.deepEqual(writersIn({ managedFields } as JsonObject).writers, want);
    });
  }
});
