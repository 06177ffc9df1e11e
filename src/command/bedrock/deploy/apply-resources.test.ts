import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import { createClient } from '#kubernetes/http-client.ts';
import type { TransportRequest } from '#kubernetes/transport/transport.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { applyPhase } from './apply-resources.ts';

const budget = { kind: 'PodDisruptionBudget', metadata: { name: 'kv', namespace: 'a' } };
const rollout = { kind: 'StatefulsetRollout', metadata: { name: 'kv', namespace: 'a' } };
const path = '/apis/bedrock.operator.slack.com/v1/namespaces/a/statefulsetrollouts/kv';

/** Has a phase applied to a server whose rollout has that spec. @returns what it was sent */
async function applied(spec: JsonObject): Promise<readonly TransportRequest[]> {
  const sent: TransportRequest[] = [];
  const stored = { metadata: { name: 'kv', uid: 'u', resourceVersion: '1' }, spec };
  const transport = {
    request: (request: TransportRequest) => {
      sent.push(request);
      return Promise.resolve({
        status: 200,
        headers: {},
        body: Buffer.from(JSON.stringify(stored)),
      });
    },
    stream: () => Promise.reject(new Error('no stream')),
    close: () => Promise.resolve(),
  };
  const client = createClient({
    transport,
    clock: new FakeClock(),
    timeout: millis(0),
    userAgent: 'test',
  });
  await applyPhase([budget, rollout], { client, call: {} });
  return sent;
}

test('applyPhase() applies on the side of the server, the budget first, by its name, and takes fields from others', async () => {
  const sent = (await applied({})).filter(({ method }) => method !== 'GET');
  const query = '?fieldManager=rollout-operator-bedrock&force=true';
  assert.deepEqual(
    sent.map(({ method, path, headers, body }) => [method, path, headers?.['content-type'], body]),
    [
      [
        'PATCH',
        `/apis/policy/v1/namespaces/a/poddisruptionbudgets/kv${query}`,
        'application/apply-patch+yaml',
        JSON.stringify(budget),
      ],
      ['PATCH', `${path}${query}`, 'application/apply-patch+yaml', JSON.stringify(rollout)],
    ],
  );
});

test('applyPhase() takes the stage of an earlier deploy away first, where this one has none', async () => {
  const sent = await applied({ bapi: { bapiUrl: 'https://b.example', stageId: 'a' } });
  const withdrawn = sent.find(({ body }) => body === '{"spec":{"bapi":null}}');
  assert.deepEqual([withdrawn?.method, withdrawn?.path.split('?')[0]], ['PATCH', path]);
  const [last] = sent.slice(-1);
  assert.equal(last?.body, JSON.stringify(rollout));
});

const taken = {
  'another that writes them': ['conflict with "kubectl" using policy/v1', 1],
  'this program, which has patched them since': [
    'conflict with "rollout-operator-bedrock" using policy/v1',
    2,
  ],
} as const;

for (const [whose, [message, requests]] of Object.entries(taken)) {
  test(`applyPhase() takes the fields of ${whose} ${requests === 1 ? 'from nobody' : 'from itself'}, where it may take its own alone [found X-7]`, async () => {
    const sent: string[] = [];
    const transport = {
      request: ({ method, path }: TransportRequest) => {
        sent.push(`${method} ${path.split('?')[1] ?? ''}`);
        const isConflict = sent.length === 1;
        const causes = [{ reason: 'FieldManagerConflict', message, field: '.spec.minAvailable' }];
        const status = {
          kind: 'Status',
          code: 409,
          reason: 'Conflict',
          message,
          details: { causes },
        };
        const stored = { metadata: { name: 'kv', uid: 'u', resourceVersion: '1' }, spec: {} };
        return Promise.resolve({
          status: isConflict ? 409 : 200,
          headers: {},
          body: Buffer.from(JSON.stringify(isConflict ? status : stored)),
        });
      },
      stream: () => Promise.reject(new Error('no stream')),
      close: () => Promise.resolve(),
    };
    const timeout = millis(0);
    const client = createClient({ transport, clock: new FakeClock(), timeout, userAgent: 'test' });
    const applying = applyPhase([budget, rollout], { client, call: {}, takes: 'own-fields' });
    if (requests === 1) {
      await assert.rejects(applying, {
        name: 'ForeignFieldsError',
        message:
          /^PodDisruptionBudget "a\/kv" has fields of "kubectl", which are not taken from it: /,
      });
      assert.deepEqual(sent, ['PATCH fieldManager=rollout-operator-bedrock']);
    } else {
      await applying;
      assert.deepEqual(sent.slice(0, 2), [
        'PATCH fieldManager=rollout-operator-bedrock',
        'PATCH fieldManager=rollout-operator-bedrock&force=true',
      ]);
    }
  });
}
