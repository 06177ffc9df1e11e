import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { type FakeAnswer, FakeTransport, settled } from '#support/api-server/fake-transport.ts';
import { ManualClock } from '#support/clocks/manual-clock.ts';
import { failure } from '#support/contracts/transport-contract.ts';
import { withServerThrottle } from './server-throttle.ts';

function throttled(after?: string): FakeAnswer {
  return after === undefined ? { status: 429 } : { status: 429, headers: { 'retry-after': after } };
}

function answering(...answers: readonly FakeAnswer[]): FakeTransport {
  const left = [...answers];
  return new FakeTransport(() => left.shift() ?? {});
}

test('withServerThrottle() sends a GET again after the time that the server asks for', async () => {
  const clock = new ManualClock();
  const inner = answering(throttled('2'));
  const call = withServerThrottle(inner, clock).request({ method: 'GET', path: '/a' });
  await settled();
  assert.equal(inner.requests.length, 1);
  clock.advance(seconds(2));
  assert.equal((await call).status, 200);
});

test('withServerThrottle() passes on what is left of the deadline', async () => {
  const clock = new ManualClock();
  const inner = answering(throttled('2'));
  const request = { method: 'GET', path: '/a', timeout: seconds(10) } as const;
  const call = withServerThrottle(inner, clock).request(request);
  await settled();
  clock.advance(seconds(2));
  await call;
  assert.equal(inner.last.timeout, 8_000);
});

const once: Record<string, { readonly answer: FakeAnswer; readonly timeout: number }> = {
  'the server names no time': { answer: throttled(), timeout: 60 },
  'the wait would exceed the deadline': { answer: throttled('20'), timeout: 10 },
  'the wait would exceed 30 s': { answer: throttled('31'), timeout: 60 },
  'the status is another': {
    answer: { status: 500, headers: { 'retry-after': '1' } },
    timeout: 60,
  },
};

for (const [when, { answer, timeout }] of Object.entries(once)) {
  test(`withServerThrottle() returns the answer when ${when}`, async () => {
    const inner = answering(answer);
    const request = { method: 'GET', path: '/a', timeout: seconds(timeout) } as const;
    const { status } = await withServerThrottle(inner, new ManualClock()).request(request);
    assert.notEqual(status, 200);
    assert.equal(inner.requests.length, 1);
  });
}

for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
  test(`withServerThrottle() never repeats a ${method}`, async () => {
    const inner = answering(throttled('0'));
    const clock = new ManualClock();
    const answer = withServerThrottle(inner, clock).request({ method, path: '/a' });
    await settled();
    assert.equal(clock.pendingTimers, 0);
    assert.equal((await answer).status, 429);
    assert.equal(inner.requests.length, 1);
  });
}

test('withServerThrottle() gives up after three repetitions', async () => {
  const clock = new ManualClock();
  const inner = new FakeTransport(() => throttled('1'));
  const call = withServerThrottle(inner, clock).request({ method: 'GET', path: '/a' });
  for (let n = 0; n < 3; n++) {
    await settled();
    clock.advance(seconds(1));
  }
  assert.equal((await call).status, 429);
  assert.equal(inner.requests.length, 4);
});

test('withServerThrottle() stops waiting when the call is aborted', async () => {
  const leave = new AbortController();
  const inner = answering(throttled('5'));
  const transport = withServerThrottle(inner, new ManualClock());
  const call = transport.request({ method: 'GET', path: '/a', signal: leave.signal });
  const refused = assert.rejects(call, failure('aborted'));
  await settled();
  leave.abort();
  await refused;
  assert.equal(inner.requests.length, 1);
});
