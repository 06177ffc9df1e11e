import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import type { CallPod } from '#control/decision/decision.ts';
import { setRef } from '#control/decision/refs.ts';
import type { PodHttp } from '#pod-http/pod-http.ts';
import type { StatefulSetView } from '#statefulset/view.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { statefulSetView, T0 } from '#support/objects/views.ts';
import { FakePodHttp } from '#support/pods/fake-pod-http.ts';
import { PodFleet } from '#support/pods/pod-fleet.ts';
import { DelayedDownscaleBed } from '#support/rollouts/delayed-downscale-bed.ts';
import { createLogger, unbuffered } from '#telemetry/log/line-logger.ts';
import type { PreparationUse } from './plan-delay.ts';
import { PodPreparations } from './prepare-pods.ts';

const url = 'http://ann:secret@pod:8080/prepare';
const set: StatefulSetView = statefulSetView({ name: 'x', spec: { replicas: 5 } });

/** Calls of pods `x-0` and so on: a method an ordinal. */
function work(calls: Readonly<Record<number, 'POST' | 'DELETE'>>): readonly CallPod[] {
  return Object.entries(calls).map(([ordinal, method]) => ({
    kind: 'call-pod',
    set: setRef(set),
    ordinal: Number(ordinal),
    podUid: `uid-${ordinal}`,
    isPodReady: true,
    method,
    url,
    because: { reason: 'PodPreparing', message: 'a test wants it' },
  }));
}

interface Parts {
  readonly clock: FakeClock;
  readonly fleet: PodFleet;
  readonly preparations: PodPreparations;
  readonly log: readonly string[];
  readonly woken: () => number;
  /** Calls that were handed over to be made. */
  readonly made: () => number;
}

function parts(): Parts {
  const clock = new FakeClock(T0);
  const fleet = new PodFleet(clock);
  const log: string[] = [];
  const woken: string[] = [];
  let made = 0;
  const podHttp = new FakePodHttp({ fleet, clock, timeout: seconds(5) });
  const counted: PodHttp = {
    call: (call) => {
      made += 1;
      return podHttp.call(call);
    },
    close: () => podHttp.close(),
  };
  const preparations = new PodPreparations({
    podHttp: counted,
    clock,
    log: createLogger({
      format: 'logfmt',
      level: 'debug',
      clock,
      sink: unbuffered((line) => void log.push(line)),
    }),
    clusterDomain: 'cluster.local.',
    wake: ({ name }) => void woken.push(name),
  });
  return { clock, fleet, preparations, log, woken: () => woken.length, made: () => made };
}

const { signal: alive } = new AbortController();

test('PodPreparations.start() returns at once, and shows the calls as under way', async () => {
  const { preparations, clock } = parts();
  preparations.start(set, work({ 0: 'DELETE', 4: 'POST' }), alive);
  const shown = preparations.of(set.uid)?.[0]?.slots ?? [];
  assert.deepEqual(
    [...shown].map(([ordinal, { calling }]) => [ordinal, calling]),
    [
      [0, 'DELETE'],
      [4, 'POST'],
    ],
  );
  await clock.settle();
  const { calling, state } = preparations.of(set.uid)?.[0]?.slots.get(4) ?? {};
  const heard = { answeredAt: T0, elapsedThen: 0 };
  assert.deepEqual(
    { calling, state },
    { calling: undefined, state: { kind: 'prepared', uid: 'uid-4', since: T0, ...heard } },
  );
});

test('PodPreparations.start() makes no second call of a pod whose first one is under way', async () => {
  const { preparations, clock, fleet } = parts();
  preparations.start(set, work({ 0: 'POST' }), alive);
  preparations.start(set, work({ 0: 'DELETE' }), alive);
  await clock.settle();
  assert.deepEqual(fleet.story(), ['POST x-0']);
});

test('PodPreparations wakes the set once all POSTs have ended, whatever the DELETEs do', async () => {
  const { preparations, clock, fleet, woken } = parts();
  fleet.behave({ kind: 'never' }, 'x-0');
  preparations.start(set, work({ 0: 'DELETE', 3: 'POST', 4: 'POST' }), alive);
  await clock.settle();
  assert.equal(woken(), 1);
  await clock.advance(seconds(5));
  assert.equal(woken(), 2);
});

test('PodPreparations gives calls up without a word when the lease is lost, and knows nothing of those pods', async () => {
  const { preparations, clock, fleet, woken, log } = parts();
  const lease = new AbortController();
  fleet.behave({ kind: 'never' });
  preparations.start(set, work({ 0: 'DELETE', 4: 'POST' }), lease.signal);
  await clock.settle();
  lease.abort();
  await clock.settle();
  assert.deepEqual([woken(), log], [0, []]);
  assert.deepEqual(
    [...(preparations.of(set.uid)?.[0]?.slots.values() ?? [])].map(({ calling, state }) => [
      calling,
      state.kind,
    ]),
    [
      [undefined, 'unknown'],
      [undefined, 'unknown'],
    ],
  );
});

test('PodPreparations.forget() gives the calls of that set up', async () => {
  const { preparations, clock, fleet, woken } = parts();
  fleet.behave({ kind: 'never' });
  preparations.start(set, work({ 0: 'DELETE' }), alive);
  await clock.settle();
  preparations.forget(set.uid);
  assert.deepEqual([fleet.open, woken(), preparations.of(set.uid)], [0, 0, undefined]);
});

/** Five slots that are called at `at`. */
function use(at: string | undefined): PreparationUse {
  return { uid: set.uid, urls: at === undefined ? [] : [at], start: 0, end: 5 };
}

for (const [fact, at] of [
  ['at another URL', 'http://pod/other'],
  ['of a set that calls none any more', undefined],
] as const) {
  test(`PodPreparations.retain() forgets pods that were called ${fact}, and gives their calls up`, async () => {
    const { preparations, clock, fleet, woken } = parts();
    fleet.behave({ kind: 'never' }, 'x-1');
    preparations.start(set, work({ 0: 'DELETE', 1: 'POST' }), alive);
    await clock.settle();
    preparations.retain([use(url)]);
    assert.equal(preparations.of(set.uid)?.[0]?.slots.size, 2);
    const before = woken();
    preparations.retain([use(at)]);
    assert.deepEqual([fleet.open, woken(), preparations.of(set.uid)], [0, before, undefined]);
  });
}

test('PodPreparations.retain() forgets slots that the set has no more', async () => {
  const bed = new DelayedDownscaleBed({ wanted: 4 }).prepared({ 4: 70 });
  await bed.run();
  const known = bed.preparations.of(bed.set.uid)?.[0];
  assert.deepEqual([...(known?.slots.keys() ?? [])], [0, 1, 2, 3]);
});

test('PodPreparations.of() gives data that does not change any more', async () => {
  const { preparations, clock } = parts();
  preparations.start(set, work({ 0: 'DELETE' }), alive);
  const before = preparations.of(set.uid)?.[0];
  await clock.settle();
  assert.equal(before?.slots.get(0)?.calling, 'DELETE');
  assert.equal(preparations.of(set.uid)?.[0]?.slots.get(0)?.calling, undefined);
});

test('PodPreparations logs each call as the peer does, and no password (LG table)', async () => {
  const { preparations, clock, fleet, log } = parts();
  fleet.prepare('x-4', T0 / 1_000 - 90);
  fleet.behave({ kind: 'answer', status: 409, body: 'locked' }, 'x-1');
  fleet.behave({ kind: 'answer', status: 500, body: 'no' }, 'x-2');
  preparations.start(set, work({ 0: 'DELETE', 1: 'DELETE', 2: 'DELETE', 4: 'POST' }), alive);
  await clock.settle();
  const at = (ordinal: number): string =>
    `pod=x-${ordinal} url=http://x-${ordinal}.x.test.svc.cluster.local.:8080/prepare`;
  assert.deepEqual(
    log.map((line) => line.trim().replace(/ts=\S+ /, '')),
    [
      `level=debug msg="pod is not prepared any more" ${at(0)} method=DELETE duration=0s`,
      `level=info msg="pod keeps its state" ${at(1)} method=DELETE status=409 response_body=locked`,
      `level=error msg="call of a pod failed" ${at(2)} method=DELETE err="Pod \\"x-2\\" answered 500: \\"no\\""`,
      `level=debug msg="pod is prepared" ${at(4)} method=POST timestamp=1767225510 elapsed=1m30s`,
    ],
  );
});

test('PodPreparations has 32 calls of 100 silent pods under way at most, each for its deadline [scenario 71]', async () => {
  const { preparations, clock, fleet, woken } = parts();
  fleet.behave({ kind: 'never' });
  const ordinals = Array.from({ length: 100 }, (_, ordinal) => [ordinal, 'POST'] as const);
  preparations.start(set, work(Object.fromEntries(ordinals)), alive);
  await clock.advance(seconds(15));
  assert.deepEqual([fleet.mostOpen(), fleet.calls.length, woken()], [32, 100, 0]);
  await clock.advance(seconds(5));
  assert.deepEqual([fleet.open, woken()], [0, 1]);
  const states = [...(preparations.of(set.uid)?.[0]?.slots ?? [])];
  assert.equal(states.filter(([, { state }]) => state.kind === 'failed').length, 100);
});

test('PodPreparations hands over 32 calls of 1,000 pods, the next when one has ended, and none for those that are given up', async () => {
  const { preparations, clock, fleet, made, woken } = parts();
  fleet.behave({ kind: 'never' });
  fleet.behave({ kind: 'answer', status: 204 }, 'x-0');
  const ordinals = Array.from({ length: 1_000 }, (_, ordinal) => [ordinal, 'DELETE'] as const);
  preparations.start(set, work(Object.fromEntries(ordinals)), alive);
  await clock.settle();
  assert.deepEqual([made(), fleet.open], [33, 32]);
  preparations.forget(set.uid);
  await clock.settle();
  assert.deepEqual([fleet.calls.length, fleet.open, woken()], [33, 0, 0]);
});

test('PodPreparations makes calls that are asked for while others are under way', async () => {
  const { preparations, clock, fleet, woken } = parts();
  fleet.behave({ kind: 'never' }, 'x-0');
  preparations.start(set, work({ 0: 'DELETE' }), alive);
  await clock.settle();
  preparations.start(set, work({ 1: 'DELETE', 2: 'POST' }), alive);
  await clock.settle();
  assert.deepEqual(fleet.story(), ['DELETE x-0', 'DELETE x-1', 'POST x-2']);
  await clock.advance(seconds(5));
  preparations.start(set, work({ 3: 'DELETE' }), alive);
  await clock.settle();
  assert.equal(fleet.story().at(-1), 'DELETE x-3');
  assert.equal(woken(), 3);
});
