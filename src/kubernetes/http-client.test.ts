import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { type FakeAnswer, FakeTransport } from '#support/api-server/fake-transport.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import type { Client } from './client.ts';
import { createClient } from './http-client.ts';
import { resourceTypes } from './resource-type.ts';
import { ApiError, MalformedAnswerError } from './transport/api-error.ts';
import type { TransportRequest } from './transport/transport.ts';

const { pods, nodes, statefulSets, namespaces } = resourceTypes;
const key = { namespace: 'demo', name: 'ingester-0' };
const metadata = { name: 'ingester-0', namespace: 'demo', uid: 'u1', resourceVersion: '7' };
const pod = { apiVersion: 'v1', kind: 'Pod', metadata };
const list = { kind: 'PodList', metadata: { resourceVersion: '42' }, items: [{ metadata }] };

function setup(
  answer: FakeAnswer,
  timeout = minutes(0),
): { readonly client: Client; readonly transport: FakeTransport } {
  const transport = new FakeTransport(() => answer);
  const client = createClient({
    transport,
    clock: new ManualClock(),
    timeout,
    userAgent: 'test/1',
  });
  return { client, transport };
}

type Case = {
  readonly call: (client: Client) => Promise<unknown>;
  readonly answer?: FakeAnswer;
  readonly want: Partial<TransportRequest>;
};

const calls: Record<string, Case> = {
  'get() reads an object of a namespace': {
    call: (client) => client.get(pods, key),
    want: { method: 'GET', path: '/api/v1/namespaces/demo/pods/ingester-0' },
  },
  'get() reads an object of the cluster': {
    call: (client) => client.get(nodes, { name: 'n1' }),
    want: { method: 'GET', path: '/api/v1/nodes/n1' },
  },
  'get() escapes a name that would lead elsewhere': {
    call: (client) => client.get(pods, { namespace: 'demo', name: 'a/../b?x' }),
    want: { path: '/api/v1/namespaces/demo/pods/a%2F..%2Fb%3Fx' },
  },
  'list() asks for one page by selector': {
    call: (client) =>
      client.list(statefulSets, {
        namespace: 'demo',
        labelSelector: 'rollout-group',
        limit: 500,
        continue: 'abc=',
      }),
    answer: { body: list },
    want: {
      method: 'GET',
      path: '/apis/apps/v1/namespaces/demo/statefulsets?labelSelector=rollout-group&limit=500&continue=abc%3D',
    },
  },
  'list() asks for all namespaces when none is named': {
    call: (client) => client.list(pods, { resourceVersion: '0', fieldSelector: 'a=b' }),
    answer: { body: list },
    want: { path: '/api/v1/pods?fieldSelector=a%3Db&resourceVersion=0' },
  },
  'watch() asks for bookmarks and initial events': {
    call: (client) =>
      client.watch(pods, {
        namespace: 'demo',
        allowWatchBookmarks: true,
        sendInitialEvents: true,
        timeoutSeconds: 300,
      }),
    want: {
      method: 'GET',
      path: '/api/v1/namespaces/demo/pods?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=300',
    },
  },
  'create() posts to the collection': {
    call: (client) => client.create(pods, key, { body: { a: 1 } }),
    answer: { status: 201, body: pod },
    want: { method: 'POST', path: '/api/v1/namespaces/demo/pods', body: '{"a":1}' },
  },
  'create() posts an eviction to the pod': {
    call: (client) => client.create(pods, key, { body: {}, subresource: 'eviction' }),
    answer: { status: 201, body: { kind: 'Status', apiVersion: 'v1', status: 'Success' } },
    want: { method: 'POST', path: '/api/v1/namespaces/demo/pods/ingester-0/eviction', body: '{}' },
  },
  'replace() puts the status': {
    call: (client) => client.replace(statefulSets, key, { body: { b: 2 }, subresource: 'status' }),
    want: {
      method: 'PUT',
      path: '/apis/apps/v1/namespaces/demo/statefulsets/ingester-0/status',
      body: '{"b":2}',
    },
  },
  'delete() sends preconditions and options': {
    call: (client) =>
      client.delete(pods, key, {
        preconditions: { uid: 'u1', resourceVersion: '7' },
        propagationPolicy: 'Background',
      }),
    want: {
      method: 'DELETE',
      path: '/api/v1/namespaces/demo/pods/ingester-0',
      body: '{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u1","resourceVersion":"7"},"propagationPolicy":"Background"}',
    },
  },
  'raw() posts a body to any path': {
    call: (client) => client.raw({ method: 'POST', path: '/apis/x', body: { c: 3 } }),
    want: { method: 'POST', path: '/apis/x', body: '{"c":3}' },
  },
};

for (const [fact, { call, answer = { body: pod }, want }] of Object.entries(calls)) {
  test(`createClient() ${fact}`, async () => {
    const { client, transport } = setup(answer);
    await call(client);
    assert.partialDeepStrictEqual(transport.last, want);
  });
}

const patches = {
  json: { patch: { kind: 'json', operations: [{ op: 'test' }] }, type: 'json-patch' },
  merge: { patch: { kind: 'merge', document: { a: null } }, type: 'merge-patch' },
  strategic: { patch: { kind: 'strategic', document: {} }, type: 'strategic-merge-patch' },
} as const;

for (const [kind, { patch, type }] of Object.entries(patches)) {
  test(`patch() names the content type of a ${kind} patch`, async () => {
    const { client, transport } = setup({ body: pod });
    await client.patch(pods, key, { body: patch });
    assert.equal(transport.last.method, 'PATCH');
    assert.equal(transport.last.headers?.['content-type'], `application/${type}+json`);
  });
}

test('createClient() tells the server the deadline as a Go duration (FL-15)', async () => {
  const { client, transport } = setup({ body: pod }, minutes(5));
  await client.get(pods, key);
  assert.equal(transport.last.path, '/api/v1/namespaces/demo/pods/ingester-0?timeout=5m0s');
  assert.equal(transport.last.timeout, 300_000);
});

test("createClient() prefers a call's own deadline", async () => {
  const { client, transport } = setup({ body: pod }, minutes(5));
  await client.get(pods, key, { timeout: seconds(10) });
  assert.match(transport.last.path, /\?timeout=10s$/);
  assert.equal(transport.last.timeout, 10_000);
});

test('watch() lets the server end it after the deadline (FL-15)', async () => {
  const { client, transport } = setup({ body: '' }, minutes(5));
  await client.watch(pods, {});
  assert.match(transport.last.path, /timeoutSeconds=300&timeout=5m0s$/);
});

test('createClient() identifies the product (K8-26)', async () => {
  const { client, transport } = setup({ body: pod });
  await client.get(pods, key);
  assert.equal(transport.last.headers?.['user-agent'], 'test/1');
});

test('createClient() passes signal and beforeSend on', async () => {
  const { client, transport } = setup({ body: pod });
  const signal = new AbortController().signal;
  let sent = 0;
  await client.get(pods, key, { signal, beforeSend: () => void (sent += 1) });
  assert.equal(transport.last.signal, signal);
  assert.equal(sent, 1);
});

test('list() returns revision, items and the token of the next page', async () => {
  const page = { ...list, metadata: { resourceVersion: '42', continue: 'next' } };
  const { client } = setup({ body: page });
  assert.deepEqual(await client.list(pods, {}), {
    resourceVersion: '42',
    items: [{ metadata }],
    continue: 'next',
  });
});

test('list() has no token on the last page', async () => {
  const page = { ...list, metadata: { resourceVersion: '42', continue: '' } };
  const { client } = setup({ body: page });
  assert.equal('continue' in (await client.list(pods, {})), false);
});

const failedStatus = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 500 };
const failedWith200: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
  'delete()': (client) => client.delete(pods, key, { preconditions: { uid: 'u1' } }),
  'create() of an eviction': (client) =>
    client.create(pods, key, { body: {}, subresource: 'eviction' }),
  'create() of a dry run': (client) => client.create(pods, key, { body: {}, isDryRun: true }),
  'get()': (client) => client.get(pods, key),
};
for (const [call, send] of Object.entries(failedWith200)) {
  test(`${call} takes a failure that comes with status 200 for no answer, never for a success [found R-5]`, async () => {
    const { client } = setup({ body: failedStatus });
    await assert.rejects(send(client), MalformedAnswerError);
  });
}

test('delete() returns undefined for a bare Status', async () => {
  const { client } = setup({ body: { kind: 'Status', apiVersion: 'v1', status: 'Success' } });
  assert.equal(await client.delete(pods, key, { preconditions: { uid: 'u1' } }), undefined);
});

test('delete() returns the last state of the object', async () => {
  const { client } = setup({ body: pod });
  assert.deepEqual(await client.delete(pods, key, { preconditions: { uid: 'u1' } }), pod);
});

const malformed: Record<string, { readonly body: unknown; readonly seen: RegExp }> = {
  'an empty answer': { body: '', seen: /it is empty/ },
  'an answer cut off': { body: '{"metadata":{"na', seen: /its 16 bytes are cut off or no JSON/ },
  'an answer that is HTML': { body: '<html>', seen: /no JSON: <html>/ },
  'an array': { body: '[]', seen: /it is \[\]/ },
  null: { body: 'null', seen: /it is null/ },
  'an object without metadata': { body: { kind: 'Pod' }, seen: /its metadata is absent/ },
  'an object without a uid': {
    body: { metadata: { name: 'a', resourceVersion: '1' } },
    seen: /its metadata\.uid is absent/,
  },
  'an object whose resourceVersion is a number': {
    body: { metadata: { name: 'a', uid: 'u', resourceVersion: 1 } },
    seen: /its metadata\.resourceVersion is 1/,
  },
};

for (const [what, { body, seen }] of Object.entries(malformed)) {
  test(`get() throws a MalformedAnswerError for ${what}`, async () => {
    const { client } = setup({ body });
    await assert.rejects(client.get(pods, key), (error) => {
      assert.ok(error instanceof MalformedAnswerError);
      assert.match(error.message, seen);
      assert.match(error.message, /^Cannot get Pod "demo\/ingester-0": /);
      assert.equal(error.retry, 'backoff');
      return true;
    });
  });
}

const malformedLists: Record<string, { readonly body: unknown; readonly seen: RegExp }> = {
  'items that are null': { body: { ...list, items: null }, seen: /its items are null/ },
  'no items': { body: { metadata: list.metadata }, seen: /its items are absent/ },
  'no revision': { body: { items: [], metadata: {} }, seen: /its metadata is \{\}/ },
  'an item without metadata': {
    body: { ...list, items: [{ metadata }, {}] },
    seen: /of items\[1\] its metadata is absent/,
  },
};

for (const [what, { body, seen }] of Object.entries(malformedLists)) {
  test(`list() throws a MalformedAnswerError for ${what}`, async () => {
    const { client } = setup({ body });
    await assert.rejects(client.list(pods, { namespace: 'demo' }), seen);
  });
}

test('createClient() throws what the Status of a refusal says', async () => {
  const body = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    message: 'pods "ingester-0" not found',
    reason: 'NotFound',
    details: { name: 'ingester-0', kind: 'pods' },
    code: 404,
  };
  const { client } = setup({ status: 404, body });
  await assert.rejects(client.get(pods, key), (error) => {
    assert.ok(error instanceof ApiError);
    assert.equal(
      error.message,
      'Cannot get Pod "demo/ingester-0": pods "ingester-0" not found (404 NotFound)',
    );
    assert.equal(error.status, 404);
    assert.equal(error.reason, 'NotFound');
    assert.deepEqual(error.details, { name: 'ingester-0', kind: 'pods' });
    return true;
  });
});

test('[found R-9] create() calls an eviction that is refused an eviction', async () => {
  const body = { kind: 'Status', status: 'Failure', message: 'not now', reason: 'TooManyRequests' };
  const { client } = setup({ status: 429, body });
  const write = { body: {}, subresource: 'eviction' } as const;
  await assert.rejects(client.create(pods, key, write), {
    message: 'Cannot evict Pod "demo/ingester-0": not now (429 TooManyRequests)',
  });
});

test('createClient() throws what a refusal in plain text says', async () => {
  const { client } = setup({ status: 503, body: 'apiserver not\n ready' });
  await assert.rejects(client.get(namespaces, { name: 'demo' }), {
    message: 'Cannot get Namespace "demo": apiserver not ready (503)',
  });
});

test('createClient() carries how long a throttled server asks to wait', async () => {
  const { client } = setup({ status: 429, headers: { 'retry-after': '7' }, body: '' });
  await assert.rejects(client.get(pods, key), { retryAfter: 7_000, retry: 'backoff' });
});

test('createClient() reads the wait from the details where there is no header', async () => {
  const { client } = setup({ status: 504, body: { details: { retryAfterSeconds: 1 } } });
  await assert.rejects(client.get(pods, key), { retryAfter: 1_000 });
});

test('watch() throws for any answer but 200', async () => {
  const body = { kind: 'Status', message: 'too old resource version', reason: 'Expired' };
  const { client } = setup({ status: 410, body });
  await assert.rejects(client.watch(pods, { namespace: 'demo' }), {
    message: 'Cannot watch Pod in namespace "demo": too old resource version (410 Expired)',
    retry: 'immediate',
  });
});

test('watch() reads a refusal no further than any Status is long', async () => {
  const pieces = { read: 0 };
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (; ; pieces.read += 1) yield Buffer.alloc(65_536, 'x');
  }
  const stream = { status: 500, headers: {}, chunks: endless() };
  const transport = new FakeTransport(() => ({}));
  transport.stream = () => Promise.resolve(stream);
  const settings = { clock: new ManualClock(), timeout: minutes(0), userAgent: 'test/1' };
  const client = createClient({ ...settings, transport });
  await assert.rejects(client.watch(pods, {}), { status: 500 });
  assert.equal(pieces.read, 4);
});
