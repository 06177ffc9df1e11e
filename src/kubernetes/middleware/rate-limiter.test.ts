import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, seconds } from '#base/units.ts';
import { FakeTransport, settled } from '#support/api-server/fake-transport.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { failure } from '#support/contracts/transport-contract.ts';
import type { Transport } from '../transport/transport.ts';
import { withRateLimit } from './rate-limiter.ts';

const APPS = '/apis/apps/v1/namespaces/demo/statefulsets?limit=1';
const CORE = '/api/v1/namespaces/demo/pods';

interface Setup {
  readonly transport: Transport;
  readonly inner: FakeTransport;
  readonly clock: ManualClock;
  readonly limited: string[];
}

function setup(qps: number, burst: number): Setup {
  const clock = new ManualClock();
  const inner = new FakeTransport(() => ({}));
  const limited: string[] = [];
  const transport = withRateLimit(inner, {
    clock,
    qps,
    burst,
    groupOf: (path) => (path.startsWith('/api/') ? 'core' : (path.split('/')[2] ?? '')),
    onLimited: (group) => void limited.push(group),
  });
  return { transport, inner, clock, limited };
}

function get(path: string, more: object = {}): Parameters<Transport['request']>[0] {
  return { method: 'GET', path, ...more };
}

test('withRateLimit() sends a full burst at once', async () => {
  const { transport, inner } = setup(1, 10);
  for (let n = 0; n < 10; n++) await transport.request(get(APPS));
  assert.equal(inner.requests.length, 10);
});

test('withRateLimit() [scenario 76] fails unsent when the deadline comes before the token', async () => {
  const { transport, inner, limited } = setup(1, 1);
  await transport.request(get(APPS));
  await assert.rejects(transport.request(get(APPS, { timeout: millis(50) })), (error) => {
    assert.ok(error instanceof Error);
    assert.match(error.message, /client-side rate limiter of API group "apps"/);
    assert.match(error.message, /wait of 1000 ms would exceed the deadline of 50 ms/);
    return failure('not-sent')(error);
  });
  assert.equal(inner.requests.length, 1);
  assert.deepEqual(limited, ['apps']);
});

test('withRateLimit() [scenario 76] has a bucket for each API group', async () => {
  const { transport, inner } = setup(1, 1);
  await transport.request(get(APPS));
  await transport.request(get(CORE, { timeout: millis(50) }));
  assert.equal(inner.requests.length, 2);
});

test('withRateLimit() [scenario 76] shares no bucket between two clients', async () => {
  const { transport, inner, clock } = setup(1, 1);
  const options = { clock, qps: 1, burst: 1, groupOf: () => 'apps' };
  const other = withRateLimit(inner, options);
  await transport.request(get(APPS));
  await other.request(get(APPS, { timeout: millis(50) }));
  assert.equal(inner.requests.length, 2);
});

for (const [qps, burst] of [
  [0, 0],
  [0, 10],
  [-1, 10],
  [5, 0],
] as const) {
  test(`withRateLimit() [scenario 76] limits nothing and looks at no signal for qps ${qps} and burst ${burst}`, () => {
    const { transport, inner } = setup(qps, burst);
    assert.equal(transport, inner);
  });
}

test('withRateLimit() waits for a token and counts nothing', async () => {
  const { transport, inner, clock, limited } = setup(2, 1);
  await transport.request(get(APPS));
  const second = transport.request(get(APPS));
  await settled();
  assert.equal(inner.requests.length, 1);
  clock.advance(millis(500));
  await second;
  assert.deepEqual(limited, []);
});

test('withRateLimit() passes on what the wait left of the deadline', async () => {
  const { transport, inner, clock } = setup(2, 1);
  await transport.request(get(APPS));
  const second = transport.request(get(APPS, { timeout: seconds(2) }));
  clock.advance(millis(500));
  await second;
  assert.equal(inner.last.timeout, 1_500);
});

test('withRateLimit() [scenario 76] fails unsent when the token comes too late', async () => {
  const { transport, inner, clock } = setup(2, 1);
  await transport.request(get(APPS));
  const second = transport.request(get(APPS, { timeout: millis(500) }));
  const refused = assert.rejects(second, failure('not-sent'));
  clock.advance(millis(500));
  await refused;
  assert.equal(inner.requests.length, 1);
});

test('withRateLimit() lets requests through in the order in which they came', async () => {
  const { transport, inner, clock } = setup(1, 1);
  const sent = ['a', 'b', 'c'].map((name) => transport.request(get(`/apis/apps/${name}`)));
  await settled();
  clock.advance(seconds(2));
  await Promise.all(sent);
  assert.deepEqual(
    inner.requests.map((each) => each.path),
    ['/apis/apps/a', '/apis/apps/b', '/apis/apps/c'],
  );
});

test('withRateLimit() gives the place of a cancelled request to the next', async () => {
  const { transport, inner, clock, limited } = setup(1, 1);
  await transport.request(get(APPS));
  const leave = new AbortController();
  const cause = new Error('shutting down');
  const second = transport.request(get(APPS, { signal: leave.signal }));
  const third = transport.request(get(`${APPS}&third`));
  const refused = assert.rejects(second, (error) => {
    assert.ok(error instanceof Error);
    assert.equal(error.cause, cause);
    return failure('not-sent')(error);
  });
  await settled();
  leave.abort(cause);
  await refused;
  clock.advance(seconds(1));
  await settled();
  assert.equal(inner.requests.length, 2);
  await third;
  assert.deepEqual(limited, ['apps']);
});

test('withRateLimit() lets beforeSend decide after the wait, not before (D-3)', async () => {
  const { transport, clock } = setup(1, 1);
  await transport.request(get(APPS));
  const askedAt: number[] = [];
  const beforeSend = (): void => void askedAt.push(clock.monotonic());
  const waiting = transport.request(get(APPS, { beforeSend }));
  await settled();
  clock.advance(seconds(1));
  await waiting;
  assert.deepEqual(askedAt, [1_000]);
});

test('withRateLimit() never saves up more than a burst', async () => {
  const { transport, inner, clock } = setup(1, 2);
  clock.advance(seconds(3_600));
  const calls = [1, 2, 3].map(() => transport.request(get(APPS)));
  await settled();
  assert.equal(inner.requests.length, 2);
  clock.advance(seconds(1));
  await Promise.all(calls);
});

test('withRateLimit() limits streams as well', async () => {
  const { transport } = setup(1, 1);
  await transport.stream(get(APPS));
  const second = transport.stream(get(APPS, { timeout: millis(1) }));
  await assert.rejects(second, failure('not-sent'));
});

test('close() refuses those who wait', async () => {
  const { transport, inner } = setup(1, 1);
  await transport.request(get(APPS));
  const refused = assert.rejects(transport.request(get(APPS)), failure('not-sent'));
  await settled();
  await transport.close();
  await refused;
  assert.equal(inner.isClosed, true);
});
