import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { seconds } from '#base/units.ts';
import type { SharedTexts } from '#kubernetes/shared-config-map.ts';
import { TransportError } from '#kubernetes/transport/transport.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { refusal } from '#support/rollouts/group-world.ts';
import { StoredMap } from '#support/rollouts/stored-map.ts';
import { BatchedSwaps, type Swap } from './batched-swaps.ts';

/** Tickets of a counter with `room`: who gets one is written down under its name. */
class Counter {
  readonly clock: FakeClock;
  readonly stored: StoredMap;
  room = 2;
  readonly rounds: (readonly string[])[] = [];
  /** What the next decision throws. */
  fault: Error | undefined;
  readonly swaps: BatchedSwaps<string, string>;

  constructor(stored = new StoredMap(), clock = new FakeClock()) {
    this.clock = clock;
    this.stored = stored;
    this.swaps = new BatchedSwaps({
      clock,
      map: stored,
      patience: seconds(5),
      freshFor: () => seconds(10),
      decide: (asked, shared) => this.#decide(asked, shared),
    });
  }

  async ask(name: string, signal = new AbortController().signal): Promise<string> {
    return this.swaps.ask(name, signal);
  }

  /** Asks for all at once, and lets time pass until all are answered. */
  async all(...names: readonly string[]): Promise<readonly string[]> {
    const answers = Promise.all(names.map((name) => this.ask(name)));
    await this.clock.advance(10_000);
    return answers;
  }

  #decide(asked: readonly string[], { texts }: SharedTexts): Swap<string> {
    const { fault } = this;
    this.fault = undefined;
    if (fault !== undefined) throw fault;
    this.rounds.push(asked);
    const changes = new Map<string, string>();
    const answers = asked.map((name) => {
      if (texts.has(name) || changes.has(name)) return 'granted';
      if (texts.size + changes.size >= this.room) return 'denied';
      changes.set(name, 'yes');
      return 'granted';
    });
    return { changes, answers };
  }
}

test('BatchedSwaps answer all that ask at one instant by one read and one write', async () => {
  const counter = new Counter();
  assert.deepEqual(await counter.all('a', 'b', 'c'), ['granted', 'granted', 'denied']);
  assert.deepEqual(counter.stored.calls, ['read', 'write a=yes,b=yes']);
});

test('BatchedSwaps decide together on all that ask while a write is under way', async () => {
  const counter = new Counter();
  counter.room = 10;
  const gate = Promise.withResolvers<void>();
  counter.stored.after = (call) => (call === 'write a=yes' ? gate.promise : undefined);
  const first = counter.ask('a');
  await counter.clock.settle();
  const others = ['b', 'c', 'd'].map((name) => counter.ask(name));
  await counter.clock.settle();
  gate.resolve();
  await Promise.all([first, ...others]);
  assert.deepEqual(counter.stored.calls, ['read', 'write a=yes', 'write b=yes,c=yes,d=yes']);
});

test('BatchedSwaps give no answer that rests on a change before that is stored', async () => {
  const counter = new Counter();
  const gate = Promise.withResolvers<void>();
  counter.stored.before = (call) => (call === 'read' ? undefined : gate.promise);
  let answer: string | undefined;
  const asked = counter.ask('a').then((given) => {
    answer = given;
  });
  await counter.clock.advance(4_000);
  assert.equal(answer, undefined);
  gate.resolve();
  await asked;
  assert.equal(answer, 'granted');
  assert.equal(counter.stored.texts.get('a'), 'yes');
});

test('BatchedSwaps answer without a call what changes nothing', async () => {
  const counter = new Counter();
  await counter.all('a', 'b');
  counter.stored.calls.length = 0;
  const denied = await Promise.all(Array.from({ length: 50 }, (_, at) => counter.ask(`x-${at}`)));
  assert.deepEqual(new Set(denied), new Set(['denied']));
  assert.equal(await counter.ask('a'), 'granted');
  assert.deepEqual(counter.stored.calls, []);
});

test('BatchedSwaps hear who asks again in the very moment of the answer', async () => {
  const { swaps, clock } = new Counter();
  const { signal } = new AbortController();
  const answers: string[] = [];
  const asking = async (): Promise<void> => {
    answers.push(await swaps.ask('a', signal));
    answers.push(await swaps.ask('a', signal));
  };
  void asking();
  await clock.advance(1_000);
  assert.deepEqual(answers, ['granted', 'granted']);
});

test('BatchedSwaps look again at texts that are older than 10 s', async () => {
  const counter = new Counter();
  await counter.all('a', 'b');
  counter.stored.texts = new Map([['a', 'yes']]);
  counter.stored.version += 1;
  assert.equal(await counter.ask('c'), 'denied');
  await counter.clock.advance(10_001);
  assert.equal(await counter.ask('c'), 'granted');
});

test('BatchedSwaps decide again on what another process wrote in between', async () => {
  const counter = new Counter();
  await counter.all('a');
  counter.stored.change('other', 'yes');
  assert.deepEqual(await counter.all('b'), ['denied']);
  assert.deepEqual(counter.stored.calls, ['read', 'write a=yes', 'write b=yes', 'read']);
});

const lostAnswers = {
  'an answer that never came': new TransportError('no answer', 'timeout'),
  'a broken connection': new TransportError('broken', 'connection'),
  'a 500': refusal(500),
  'a 503': refusal(503),
};
for (const [what, error] of Object.entries(lostAnswers)) {
  test(`BatchedSwaps find out what became of a write after ${what}, and grant nothing twice`, async () => {
    const counter = new Counter();
    counter.room = 1;
    let failures = 1;
    counter.stored.after = (call) => {
      if (call === 'read' || failures === 0) return;
      failures -= 1;
      throw error;
    };
    assert.deepEqual(await counter.all('a', 'b'), ['granted', 'denied']);
    assert.deepEqual(counter.stored.calls, ['read', 'write a=yes', 'read']);
  });
}

test('BatchedSwaps tell a failure that does not pass to all that wait, and start again for who asks later', async () => {
  const counter = new Counter();
  counter.stored.before = () => {
    throw refusal(503);
  };
  const asked = ['a', 'b'].map((name) => assert.rejects(counter.ask(name), { status: 503 }));
  await counter.clock.advance(5_000);
  await Promise.all(asked);
  assert.deepEqual(counter.stored.calls, ['read', 'read', 'read', 'read']);
  counter.stored.before = () => undefined;
  assert.deepEqual(await counter.all('c'), ['granted']);
});

test('BatchedSwaps tell a refusal at once', async () => {
  const counter = new Counter();
  counter.stored.before = () => {
    throw refusal(403);
  };
  await assert.rejects(counter.ask('a'), { status: 403 });
  assert.deepEqual(counter.stored.calls, ['read']);
});

test('BatchedSwaps try on while others are faster, ever more rarely', async () => {
  const counter = new Counter();
  counter.room = 1_000;
  counter.stored.before = (call) => {
    if (call !== 'read' && counter.stored.version < 15) counter.stored.change('other', 'yes');
  };
  assert.deepEqual(await counter.all('a'), ['granted']);
  assert.equal(counter.stored.calls.length, 32);
  assert.ok(counter.clock.monotonic() >= 5_000);
});

test('BatchedSwaps do not send what would be decided differently by then', async () => {
  const counter = new Counter();
  counter.room = 1;
  counter.stored.atSend = () => {
    counter.room = 0;
  };
  assert.deepEqual(await counter.all('a'), ['denied']);
  assert.deepEqual(counter.stored.calls, ['read']);
});

test('BatchedSwaps do not store what nothing waits for any more', async () => {
  const counter = new Counter();
  const leaving = new AbortController();
  counter.stored.atSend = () => leaving.abort(new Error('too late'));
  const left = assert.rejects(counter.ask('a', leaving.signal), /too late/);
  assert.deepEqual(await counter.all('b'), ['granted']);
  await left;
  assert.deepEqual(counter.stored.calls, ['read', 'write b=yes']);
});

test('BatchedSwaps answer no caller whose time is over, and every other', async () => {
  const counter = new Counter();
  const gate = Promise.withResolvers<void>();
  counter.stored.before = (call) => (call === 'read' ? gate.promise : undefined);
  const leaving = new AbortController();
  const left = assert.rejects(counter.ask('a', leaving.signal), /too late/);
  const stays = counter.ask('b');
  await counter.clock.settle();
  leaving.abort(new Error('too late'));
  await left;
  gate.resolve();
  assert.equal(await stays, 'granted');
  assert.deepEqual(counter.rounds.at(-1), ['b']);
  await assert.rejects(counter.ask('c', leaving.signal), /too late/);
});

test('BatchedSwaps pass a fault of the decision on to who asked, and go on', async () => {
  const counter = new Counter();
  counter.fault = new TypeError('a fault');
  await assert.rejects(counter.ask('a'), /a fault/);
  assert.deepEqual(await counter.all('a'), ['granted']);
});

test('BatchedSwaps of two processes grant what there is room for, however their calls and answers interleave', async () => {
  const asks = fc.array(fc.record({ who: fc.nat(1), name: fc.constantFrom('a', 'b', 'c', 'd') }), {
    minLength: 1,
    maxLength: 12,
  });
  const failures = fc.array(fc.constantFrom('ok', 'ok', 'before', 'after'), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(asks, failures, fc.scheduler(), async (wanted, fates, scheduler) => {
      const clock = new FakeClock();
      const stored = new StoredMap();
      const counters = [new Counter(stored, clock), new Counter(stored, clock)];
      const fateOf = new Map<number, string>(fates.entries());
      const broken = new TransportError('broken', 'connection');
      stored.before = async (call) => {
        await scheduler.schedule(Promise.resolve(), `${call} arrives`);
        if (fateOf.get(stored.calls.length) === 'before') throw broken;
      };
      stored.after = async (call) => {
        const fate = fateOf.get(stored.calls.length);
        await scheduler.schedule(Promise.resolve(), `${call} is answered`);
        if (fate === 'after') throw broken;
      };
      const granted = new Set<string>();
      const open = new Set<Promise<void>>();
      for (const { who, name } of wanted) {
        const counter = counters[who] ?? new Counter(stored, clock);
        const answered = counter.ask(name).then(
          (answer) => void (answer === 'granted' && granted.add(name)),
          () => undefined,
        );
        open.add(answered);
        void answered.then(() => open.delete(answered));
      }
      while (open.size > 0) {
        if (scheduler.count() > 0) await scheduler.waitOne();
        else await clock.advance(1_000);
      }
      assert.ok(stored.texts.size <= 2, `${[...stored.texts.keys()].join()} are stored`);
      for (const name of granted) assert.ok(stored.texts.has(name), `${name} is not stored`);
    }),
    { numRuns: 300 },
  );
});

test('a caller gets an error when another client writes each time, and is not raced for ever', async () => {
  const counter = new Counter();
  counter.stored.before = (call) => {
    if (call !== 'read') counter.stored.change('another', String(counter.stored.version));
  };
  const asked = assert.rejects(counter.ask('one'), { status: 409 });
  await counter.clock.advance(60_000);
  await asked;
  assert.ok(counter.stored.calls.filter((call) => call !== 'read').length <= 16);
});
