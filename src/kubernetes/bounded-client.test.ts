import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Millis, minutes, seconds } from '#base/units.ts';
import { type FakeAnswer, FakeTransport, settled } from '#support/api-server/fake-transport.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { boundedClient } from './bounded-client.ts';
import type { Client } from './client.ts';
import { createClient } from './http-client.ts';
import { listPages } from './list-watch/list-pages.ts';
import { layeredTransport } from './middleware/api-transport.ts';
import { resourceTypes } from './resource-type.ts';

const { pods } = resourceTypes;
const key = { namespace: 'demo', name: 'ingester-0' };
const metadata = { ...key, uid: 'u1', resourceVersion: '7' };
const body = { apiVersion: 'v1', kind: 'Pod', metadata };
const listed = { metadata: { resourceVersion: '42' }, items: [] };

interface Setup {
  readonly plain: Client;
  readonly client: Client;
  readonly network: FakeTransport;
  readonly clock: ManualClock;
}

/** A client as the operator's passes have it, behind a limiter of one request a minute. */
function setup(
  timeout: Millis,
  answer: () => FakeAnswer | Promise<FakeAnswer> = () => ({ body }),
): Setup {
  const clock = new ManualClock();
  const network = new FakeTransport(answer);
  const transport = layeredTransport(network, {
    cluster: { cluster: 'demo' },
    limit: { clock, qps: 1 / 60, burst: 1, groupOf: () => 'core' },
    metrics: { clock, pathOf: (path) => path, observe: () => undefined },
  });
  const plain = createClient({ transport, clock, timeout, userAgent: 'test/1' });
  return { plain, client: boundedClient(plain, seconds(30)), network, clock };
}

const document = { kind: 'merge', document: {} } as const;
const calls: Record<string, (client: Client) => Promise<unknown>> = {
  get: (client) => client.get(pods, key),
  list: (client) => client.list(pods, { namespace: 'demo' }),
  create: (client) => client.create(pods, key, { body: {} }),
  replace: (client) => client.replace(pods, key, { body: {} }),
  patch: (client) => client.patch(pods, key, { body: document }),
  delete: (client) => client.delete(pods, key, { preconditions: { uid: 'u1' } }),
  raw: (client) => client.raw({ method: 'GET', path: '/version' }),
};

for (const [name, call] of Object.entries(calls)) {
  test(`boundedClient() ends a ${name}() after 30 s where the flag sets no deadline (D-53)`, async () => {
    const { client, network } = setup(seconds(0), () => ({
      body: name === 'list' ? listed : body,
    }));
    await call(client);
    assert.equal(network.last.timeout, 30_000);
    assert.match(network.last.path, /[?&]timeout=30s$/);
  });
}

const deadlines: Record<string, readonly [flag: Millis, waited: Millis, wanted: number]> = {
  'for 30 s where the flag says 5 minutes': [minutes(5), seconds(0), 30_000],
  'for 30 s from when the limiter let it go': [minutes(5), seconds(60), 30_000],
  'for 30 s from when the limiter let it go, without the flag': [seconds(0), seconds(60), 30_000],
  'for what the limiter left of the flag where that is less': [seconds(80), seconds(60), 20_000],
  'as long as the flag says where that is less': [seconds(10), seconds(0), 10_000],
};

for (const [how, [flag, waited, wanted]] of Object.entries(deadlines)) {
  test(`boundedClient() waits ${how}`, async () => {
    const { client, network, clock } = setup(flag);
    if (waited > 0) await client.get(pods, key);
    const answered = client.get(pods, key);
    await settled();
    clock.advance(waited);
    await answered;
    assert.equal(network.last.timeout, wanted);
  });
}

test('boundedClient() leaves watches, and the lists of informers, to the flag', async () => {
  const { client, network, clock } = setup(minutes(5), () => ({ body: listed }));
  await client.watch(pods, { namespace: 'demo' });
  assert.equal(network.last.timeout, 300_000);
  clock.advance(minutes(1));
  const paged = { client, clock, type: pods, scope: {}, onPage: () => undefined };
  await listPages(paged, new AbortController().signal);
  assert.equal(network.last.timeout, 300_000);
});

test('boundedClient() leaves the client that it is made of as it was', async () => {
  const { plain, network } = setup(minutes(5));
  await plain.get(pods, key);
  assert.equal(network.last.timeout, 300_000);
});

test('boundedClient() lets a throttling server be waited for no longer than is left of the 30 s', async () => {
  const answers: FakeAnswer[] = [
    { status: 429, headers: { 'retry-after': '20' } },
    { status: 429, headers: { 'retry-after': '10' } },
  ];
  const clock = new ManualClock();
  const network = new FakeTransport(() => answers.shift() ?? { body });
  const transport = layeredTransport(network, {
    cluster: { cluster: 'demo' },
    limit: { clock, qps: 0, burst: 0, groupOf: () => 'core' },
    metrics: { clock, pathOf: (path) => path, observe: () => undefined },
  });
  const client = createClient({ transport, clock, timeout: seconds(0), userAgent: 'test/1' });
  const refused = assert.rejects(boundedClient(client, seconds(30)).get(pods, key), /429/);
  await settled();
  clock.advance(seconds(20));
  await refused;
  assert.deepEqual(
    network.requests.map(({ timeout }) => timeout),
    [30_000, 10_000],
  );
});
