import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis, seconds } from '#base/units.ts';
import { FakeTransport } from '#support/api-server/fake-transport.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { createClient } from '../http-client.ts';
import { ScrapeAccess } from './scrape-access.ts';

const clock = new ManualClock();

interface Rig {
  readonly access: ScrapeAccess;
  readonly transport: FakeTransport;
}

/** An API server that knows one token, and answers the other question with `allowed`. */
function rig(allowed: boolean, authenticated = true): Rig {
  const user = { username: 'prometheus', uid: '1', groups: ['g'], extra: { a: ['b'] } };
  const transport = new FakeTransport(({ path }) => ({
    status: 201,
    body: { status: path.includes('tokenreviews') ? { authenticated, user } : { allowed } },
  }));
  const client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
  return { access: new ScrapeAccess(client, clock), transport };
}

function bodies({ transport }: Rig): readonly JsonObject[] {
  return transport.requests.map(({ body }) => JSON.parse(String(body)) as JsonObject);
}

test('ScrapeAccess asks who has the token, and whether that account may get /metrics', async () => {
  const server = rig(true);
  assert.deepEqual(await server.access.ask('Bearer secret'), { kind: 'allowed' });
  assert.deepEqual(bodies(server), [
    { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'secret' } },
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user: 'prometheus',
        uid: '1',
        groups: ['g'],
        extra: { a: ['b'] },
        nonResourceAttributes: { path: '/metrics', verb: 'get' },
      },
    },
  ]);
});

test('ScrapeAccess forbids whom the API server does not let', async () => {
  const { access } = rig(false);
  assert.deepEqual(await access.ask('Bearer secret'), { kind: 'forbidden', user: 'prometheus' });
});

test('ScrapeAccess asks nothing more of an unknown token', async () => {
  const server = rig(true, false);
  assert.deepEqual(await server.access.ask('Bearer secret'), { kind: 'unauthenticated' });
  assert.equal(server.transport.requests.length, 1);
});

for (const header of ['', 'Bearer ', 'Basic dTpw', 'Bearer a b', `Bearer ${'x'.repeat(16_385)}`]) {
  test(`ScrapeAccess asks nothing of ${JSON.stringify(header.slice(0, 20))}`, async () => {
    const { access, transport } = rig(true);
    assert.deepEqual(await access.ask(header), { kind: 'unauthenticated' });
    assert.equal(transport.requests.length, 0);
  });
}

test('ScrapeAccess asks again for a token after half a minute, and not before', async () => {
  const { access, transport } = rig(true);
  await access.ask('Bearer secret');
  await Promise.all([access.ask('Bearer secret'), access.ask('bearer secret')]);
  assert.equal(transport.requests.length, 2);
  clock.advance(seconds(30));
  await access.ask('Bearer secret');
  assert.equal(transport.requests.length, 4);
});

test('ScrapeAccess does not remember what could not be found out', async () => {
  let status = 503;
  const transport = new FakeTransport(() => ({
    status,
    body: { status: { authenticated: false } },
  }));
  const client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
  const access = new ScrapeAccess(client, clock);
  assert.equal((await access.ask('Bearer secret')).kind, 'unknown');
  status = 201;
  assert.deepEqual(await access.ask('Bearer secret'), { kind: 'unauthenticated' });
});
