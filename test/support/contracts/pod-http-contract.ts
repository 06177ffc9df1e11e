import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, seconds } from '#base/units.ts';
import type { PodAnswer, PodCall, PodHttp } from '#pod-http/pod-http.ts';
import { ManualClock } from '../clocks/manual-clock.ts';
import { PodFleet } from '../pods/pod-fleet.ts';

/** One {@link PodHttp} with a deadline of 5 s, whose calls end at `fleet`. */
export interface PodHttpUnderTest {
  readonly podHttp: PodHttp;
  /** Resolves when no connection is open. */
  readonly quiet: () => Promise<void>;
  readonly close: () => Promise<void>;
}

type Create = (fleet: PodFleet, clock: ManualClock) => Promise<PodHttpUnderTest>;

interface Bed extends PodHttpUnderTest {
  readonly fleet: PodFleet;
  readonly clock: ManualClock;
}

/** Returns a call of pod `ordinal` of `test/<set>`. */
export function podCall(set: string, ordinal: number, rest: Partial<PodCall> = {}): PodCall {
  const url = `http://${set}-${ordinal}.${set}.test.svc.cluster.local.:8080/prepare?x=1`;
  return { set: `test/${set}`, method: 'POST', url, ...rest };
}

function kinds(answers: readonly PodAnswer[]): readonly string[] {
  return answers.map(({ kind }) => kind);
}

const ordinals = (count: number): readonly number[] => [...Array(count).keys()];

/** Asserts what every {@link PodHttp} does (D-43). */
export function podHttpContract(name: string, create: Create): void {
  const facts: Record<string, (bed: Bed) => Promise<void>> = {
    'returns status and body, whatever the status': async ({ podHttp, fleet }) => {
      fleet.behave({ kind: 'answer', status: 200, body: '{"timestamp":1}' }, 'x-0');
      fleet.behave({ kind: 'answer', status: 503, body: 'busy' }, 'x-1');
      fleet.behave({ kind: 'answer', status: 204 }, 'x-2');
      assert.deepEqual(
        await Promise.all(ordinals(3).map((each) => podHttp.call(podCall('x', each)))),
        [
          { kind: 'answered', status: 200, body: '{"timestamp":1}' },
          { kind: 'answered', status: 503, body: 'busy' },
          { kind: 'answered', status: 204, body: '' },
        ],
      );
    },
    'sends the method, host, path, query and header that it was told, and no body': async ({
      podHttp,
      fleet,
    }) => {
      await podHttp.call(podCall('x', 4, { headers: { 'content-type': 'application/json' } }));
      await podHttp.call(podCall('x', 4, { method: 'DELETE' }));
      await podHttp.call(podCall('x', 4, { method: 'GET' }));
      assert.deepEqual(
        fleet.calls.map(({ method, host, path, body }) => ({ method, host, path, body })),
        ['POST', 'DELETE', 'GET'].map((method) => ({
          method,
          host: 'x-4.x.test.svc.cluster.local.:8080',
          path: '/prepare?x=1',
          body: '',
        })),
      );
      assert.deepEqual(
        fleet.calls.map(({ headers }) => [headers['x-cluster'], headers['content-type']]),
        [
          ['test', 'application/json'],
          ['test', undefined],
          ['test', undefined],
        ],
      );
    },
    'gives a silent pod up after the deadline, which counts for each call': async ({
      podHttp,
      fleet,
      clock,
    }) => {
      fleet.behave({ kind: 'never' });
      const first = podHttp.call(podCall('x', 0));
      await fleet.received(1);
      clock.advance(seconds(3));
      const second = podHttp.call(podCall('x', 1));
      await fleet.received(2);
      clock.advance(seconds(2));
      const answer = await first;
      assert.equal(answer.kind, 'timed-out');
      clock.advance(seconds(3));
      assert.equal((await second).kind, 'timed-out');
    },
    'waits for a late answer within the deadline': async ({ podHttp, fleet, clock }) => {
      fleet.behave({
        kind: 'late',
        after: millis(4_999),
        behaves: { kind: 'answer', status: 201 },
      });
      const call = podHttp.call(podCall('x', 0));
      await fleet.received(1);
      clock.advance(millis(4_999));
      assert.deepEqual(await call, { kind: 'answered', status: 201, body: '' });
    },
    'says "broken" when the connection ends without an answer': async ({ podHttp, fleet }) => {
      fleet.behave({ kind: 'reset' });
      const answer = await podHttp.call(podCall('x', 0));
      assert.equal(answer.kind, 'broken');
      assert.equal(answer.isSent, true);
    },
    'says "unreachable" for a URL that is none': async ({ podHttp, fleet }) => {
      const answer = await podHttp.call(podCall('x', 0, { url: 'pod/prepare' }));
      assert.equal(answer.kind, 'unreachable');
      assert.deepEqual(fleet.calls, []);
    },
    'has 32 calls of a set under way at most, and each ends after its deadline': async ({
      podHttp,
      fleet,
      clock,
    }) => {
      fleet.behave({ kind: 'never' });
      const calls = ordinals(100).map((each) => podHttp.call(podCall('x', each)));
      for (const reached of [32, 64, 96, 100]) {
        await fleet.received(reached);
        assert.equal(fleet.calls.length, reached);
        clock.advance(seconds(5));
      }
      const answers = await Promise.all(calls);
      assert.deepEqual(new Set(kinds(answers)), new Set(['timed-out']));
      assert.equal(fleet.mostOpen('test/x'), 32);
    },
    'lets silent pods of one set hold up no other set (D-24)': async ({ podHttp, fleet }) => {
      for (const each of ordinals(40)) fleet.behave({ kind: 'never' }, `x-${each}`);
      const silent = ordinals(40).map((each) => podHttp.call(podCall('x', each)));
      await fleet.received(32);
      assert.equal((await podHttp.call(podCall('y', 0))).kind, 'answered');
      assert.equal(fleet.calls.length, 33);
      await podHttp.close();
      assert.deepEqual(new Set(kinds(await Promise.all(silent))), new Set(['aborted']));
    },
    'gives the place of a call back that is given up, in its turn and before it': async ({
      podHttp,
      fleet,
    }) => {
      fleet.behave({ kind: 'never' });
      const giveUp = new AbortController();
      const { signal } = giveUp;
      const inside = ordinals(32).map((each) => podHttp.call(podCall('x', each, { signal })));
      const waiting = [32, 33].map((each) => podHttp.call(podCall('x', each, { signal })));
      await fleet.received(32);
      fleet.behave({ kind: 'answer', status: 200 });
      const last = podHttp.call(podCall('x', 34));
      giveUp.abort();
      const answers = await Promise.all([...inside, ...waiting]);
      assert.deepEqual(new Set(kinds(answers)), new Set(['aborted']));
      assert.deepEqual(
        answers.map((answer) => answer.kind !== 'answered' && answer.isSent),
        [...ordinals(32).map(() => true), false, false],
      );
      assert.equal((await last).kind, 'answered');
      assert.equal(fleet.calls.length, 33);
    },
    'tells of the end of a call before the next one of its set is sent': async ({
      podHttp,
      fleet,
    }) => {
      const giveUp = new AbortController();
      const { signal } = giveUp;
      fleet.behave({ kind: 'never' });
      fleet.behave({ kind: 'answer', status: 500 }, 'x-31');
      const ends: string[] = [];
      const onEnd = ({ kind }: PodAnswer): void => {
        ends.push(kind);
        giveUp.abort();
      };
      const inside = ordinals(31).map((each) => podHttp.call(podCall('x', each, { signal })));
      const telling = podHttp.call(podCall('x', 31, { onEnd }));
      const waiting = podHttp.call(podCall('x', 32, { signal }));
      assert.equal((await telling).kind, 'answered');
      assert.deepEqual(ends, ['answered']);
      assert.equal((await waiting).kind, 'aborted');
      await Promise.all(inside);
      assert.equal(fleet.story().includes('POST x-32'), false);
    },
    'does not send a call whose signal is aborted already': async ({ podHttp, fleet }) => {
      const signal = AbortSignal.abort();
      const answer = await podHttp.call(podCall('x', 0, { signal }));
      assert.deepEqual([answer.kind, fleet.calls.length], ['aborted', 0]);
    },
    'keeps neither a timer nor a connection after an answer': async ({ podHttp, clock, quiet }) => {
      await Promise.all(ordinals(50).map((each) => podHttp.call(podCall('x', each))));
      assert.equal(clock.pendingTimers, 0);
      await quiet();
    },
    'gives all calls up when it closes, and answers "aborted" from then on': async ({
      podHttp,
      fleet,
      quiet,
      clock,
    }) => {
      fleet.behave({ kind: 'never' });
      const calls = ordinals(3).map((each) => podHttp.call(podCall('x', each)));
      await fleet.received(3);
      await podHttp.close();
      assert.deepEqual(kinds(await Promise.all(calls)), ['aborted', 'aborted', 'aborted']);
      assert.equal((await podHttp.call(podCall('x', 9))).kind, 'aborted');
      assert.equal(clock.pendingTimers, 0);
      await quiet();
      assert.equal(fleet.open, 0);
    },
  };
  for (const [fact, check] of Object.entries(facts)) {
    test(`PodHttp (${name}) ${fact}`, async () => {
      const clock = new ManualClock();
      const fleet = new PodFleet(clock);
      const underTest = await create(fleet, clock);
      try {
        await check({ ...underTest, fleet, clock });
      } finally {
        await underTest.close();
      }
    });
  }
}
