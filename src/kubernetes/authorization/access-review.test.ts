import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { type FakeAnswer, FakeTransport } from '#support/api-server/fake-transport.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { createClient } from '../http-client.ts';
import { resourceTypes } from '../resource-type.ts';
import { TransportError } from '../transport/transport.ts';
import { type Access, type AccessAnswer, canI, canList } from './access-review.ts';

const access: Access = {
  verb: 'patch',
  group: 'apps',
  resource: 'statefulsets',
  subresource: 'status',
  namespace: 'demo',
};

async function ask(answer: FakeAnswer): Promise<readonly [AccessAnswer, FakeTransport]> {
  const transport = new FakeTransport(() => answer);
  const clock = new ManualClock();
  const client = createClient({ transport, clock, timeout: seconds(0), userAgent: 'test/1' });
  return [await canI(client, access), transport];
}

test('canI() asks one review about verb, resource and namespace', async () => {
  const [, transport] = await ask({ status: 201, body: { status: { allowed: true } } });
  assert.equal(transport.last.path, '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews');
  assert.deepEqual(JSON.parse(transport.last.body ?? ''), {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: access },
  });
});

const answers: Record<string, { readonly answer: FakeAnswer; readonly want: AccessAnswer }> = {
  'is allowed when the server says so': {
    answer: { status: 201, body: { status: { allowed: true } } },
    want: { kind: 'allowed' },
  },
  'is denied with the reason': {
    answer: { status: 201, body: { status: { allowed: false, reason: 'RBAC: x' } } },
    want: { kind: 'denied', reason: 'RBAC: x' },
  },
  'is denied where no reason is given': {
    answer: { status: 201, body: { status: { allowed: false } } },
    want: { kind: 'denied', reason: 'no rule allows it' },
  },
  'is unknown when an authoriser failed': {
    answer: { status: 201, body: { status: { allowed: false, evaluationError: 'webhook down' } } },
    want: { kind: 'unknown', reason: 'webhook down' },
  },
  'is unknown when the answer has no status': {
    answer: { status: 201, body: {} },
    want: { kind: 'unknown', reason: 'the review was answered without status.allowed' },
  },
  'is unknown when the review is refused': {
    answer: { status: 403, body: { message: 'no', reason: 'Forbidden' } },
    want: {
      kind: 'unknown',
      reason:
        'Cannot post /apis/authorization.k8s.io/v1/selfsubjectaccessreviews: no (403 Forbidden)',
    },
  },
  'is unknown when there is no answer': {
    answer: new TransportError('connection reset', 'connection'),
    want: { kind: 'unknown', reason: 'connection reset' },
  },
};

for (const [fact, { answer, want }] of Object.entries(answers)) {
  test(`canI() ${fact}`, async () => {
    assert.deepEqual((await ask(answer))[0], want);
  });
}

const forbidden: FakeAnswer = { status: 403, body: { message: 'no rule allows it' } };
const lists: Record<string, { readonly list: FakeAnswer; readonly want: AccessAnswer['kind'] }> = {
  'may list what it has listed': {
    list: { body: { metadata: { resourceVersion: '42' }, items: [] } },
    want: 'allowed',
  },
  'may list a type that is not there': { list: { status: 404, body: {} }, want: 'allowed' },
  'may not list what is refused': { list: forbidden, want: 'denied' },
  'does not know after an error of the server': { list: { status: 500 }, want: 'unknown' },
};

for (const [title, { list, want }] of Object.entries(lists)) {
  test(`canList(), where no review is answered, ${title}`, async () => {
    const transport = new FakeTransport(({ method }) => (method === 'GET' ? list : forbidden));
    const clock = new ManualClock();
    const client = createClient({ transport, clock, timeout: seconds(0), userAgent: 'test/1' });
    const type = resourceTypes.phasedRollouts;
    assert.equal((await canList(client, { type, namespace: 'demo' })).kind, want);
    assert.equal(
      transport.last.path,
      '/apis/sts.plus/v1alpha1/namespaces/demo/phasedrollouts?limit=1',
    );
  });
}

test('canList() lists nothing where a review is answered', async () => {
  const transport = new FakeTransport(() => ({ body: { status: { allowed: false } } }));
  const clock = new ManualClock();
  const client = createClient({ transport, clock, timeout: seconds(0), userAgent: 'test/1' });
  const listing = { type: resourceTypes.phasedRollouts, namespace: '' };
  assert.equal((await canList(client, listing)).kind, 'denied');
  assert.equal(transport.last.method, 'POST');
});
