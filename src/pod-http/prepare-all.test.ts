import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { FakePodHttp } from '#support/pods/fake-pod-http.ts';
import { PodFleet } from '#support/pods/pod-fleet.ts';
import type { PodCall } from './pod-http.ts';
import { cancelAll, type PrepareWork, prepareAll } from './prepare-all.ts';

function urlOf(ordinal: number): string {
  return `http://x-${ordinal}.x.test.svc.cluster.local.:80/prepare`;
}

/** Pods `from` down to 0 of `test/x`. */
function work(from: number): PrepareWork {
  const urlAt = (index: number): string => urlOf(from - index);
  const headers = { 'content-type': 'application/json' };
  return { set: 'test/x', count: from + 1, urlAt, headers };
}

interface Bed {
  readonly fleet: PodFleet;
  readonly podHttp: FakePodHttp;
  readonly clock: FakeClock;
}

function bed(): Bed {
  const clock = new FakeClock();
  const fleet = new PodFleet(clock);
  return { clock, fleet, podHttp: new FakePodHttp({ fleet, clock, timeout: seconds(5) }) };
}

const { signal: alive } = new AbortController();

test('prepareAll() calls each pod once, in order, with the header and without a body', async () => {
  const { fleet, podHttp } = bed();
  assert.equal(await prepareAll(podHttp, work(1), alive), undefined);
  assert.deepEqual(
    fleet.calls.map(({ method, pod, headers, body }) => [
      method,
      pod,
      headers['content-type'],
      headers['x-cluster'],
      body,
    ]),
    [
      ['POST', 'x-1', 'application/json', 'test', ''],
      ['POST', 'x-0', 'application/json', 'test', ''],
    ],
  );
});

test('prepareAll() takes any 2xx for success, whatever the body', async () => {
  const { fleet, podHttp } = bed();
  fleet.behave({ kind: 'answer', status: 204 });
  assert.equal(await prepareAll(podHttp, work(1), alive), undefined);
});

test('prepareAll() starts no call after the first failure, and gives up those under way', async () => {
  const { fleet, podHttp, clock } = bed();
  fleet.behave({ kind: 'never' });
  fleet.behave(
    { kind: 'late', after: seconds(1), behaves: { kind: 'answer', status: 500 } },
    'x-63',
  );
  const outcome = prepareAll(podHttp, work(63), alive);
  await clock.advance(seconds(1));
  assert.deepEqual(await outcome, {
    url: urlOf(63),
    message: `Cannot POST ${urlOf(63)}: the pod answered 500`,
  });
  assert.equal(fleet.calls.length, 32);
  assert.equal(fleet.open, 0);
});

test('prepareAll() fails after the deadline of a call when a pod is silent', async () => {
  const { fleet, podHttp, clock } = bed();
  fleet.behave({ kind: 'never' }, 'x-0');
  const outcome = prepareAll(podHttp, work(1), alive);
  await clock.advance(seconds(5));
  assert.equal((await outcome)?.url, urlOf(0));
});

test('prepareAll() fails when its signal aborts', async () => {
  const { fleet, podHttp, clock } = bed();
  fleet.behave({ kind: 'never' });
  const review = new AbortController();
  const outcome = prepareAll(podHttp, work(0), review.signal);
  await clock.settle();
  review.abort();
  assert.equal((await outcome)?.url, urlOf(0));
});

test('cancelAll() calls every pod once, 32 at a time, whatever fails', async () => {
  const { fleet, podHttp, clock } = bed();
  fleet.behave({ kind: 'late', after: seconds(1), behaves: { kind: 'application' } });
  fleet.behave({ kind: 'never' }, 'x-63');
  fleet.behave({ kind: 'answer', status: 500 }, 'x-0');
  const outcome = cancelAll(podHttp, work(63), alive);
  await clock.advance(seconds(5));
  const { count, first } = await outcome;
  assert.deepEqual([count, first.map(({ url }) => url)], [2, [urlOf(63), urlOf(0)]]);
  assert.equal(fleet.calls.length, 64);
  assert.deepEqual(new Set(fleet.calls.map(({ method }) => method)), new Set(['DELETE']));
  assert.equal(fleet.mostOpen('test/x'), 32);
});

test('cancelAll() counts all failures, and tells of the first three in the order of the pods', async () => {
  const { fleet, podHttp, clock } = bed();
  fleet.behave({ kind: 'answer', status: 503 });
  const late = { kind: 'late', after: seconds(1), behaves: { kind: 'reset' } } as const;
  fleet.behave(late, 'x-998');
  const outcome = cancelAll(podHttp, work(999), alive);
  await clock.advance(seconds(1));
  assert.deepEqual(await outcome, {
    count: 1_000,
    first: [
      { url: urlOf(999), message: `Cannot DELETE ${urlOf(999)}: the pod answered 503` },
      { url: urlOf(998), message: `Cannot DELETE ${urlOf(998)}: broken` },
      { url: urlOf(997), message: `Cannot DELETE ${urlOf(997)}: the pod answered 503` },
    ],
  });
});

for (const [what, all] of Object.entries({ prepareAll, cancelAll })) {
  test(`${what}() has 32 calls of 1,000 pods before it, and makes a URL when its turn has come`, async () => {
    const { fleet, podHttp, clock } = bed();
    fleet.behave({ kind: 'never' });
    const given: string[] = [];
    const counting = {
      call: (call: PodCall) => {
        given.push(call.url);
        return podHttp.call(call);
      },
      close: () => podHttp.close(),
    };
    const giveUp = new AbortController();
    const outcome = all(counting, work(999), giveUp.signal);
    await clock.settle();
    assert.deepEqual([given.length, fleet.open], [32, 32]);
    giveUp.abort();
    await outcome;
  });
}

test('cancelAll() names no password', async () => {
  const { podHttp } = bed();
  const urlAt = (): string => 'http://ann:secret@/';
  const { first } = await cancelAll(podHttp, { set: 'test/x', count: 1, urlAt }, alive);
  assert.deepEqual(first, [{ url: 'http:///', message: 'Cannot DELETE http:///: unreachable' }]);
});
