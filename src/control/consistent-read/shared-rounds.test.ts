import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { type Round, SharedRounds } from './shared-rounds.ts';

class Bench {
  readonly clock = new FakeClock();
  readonly rounds = new SharedRounds(this.clock);
  /** What happened, in its order. */
  readonly history: string[] = [];
  readonly #waiting: { readonly sent: () => void; readonly end: PromiseWithResolvers<void> }[] = [];

  readonly #round: Round = (signal, sent) => {
    const end = Promise.withResolvers<void>();
    const number = this.#waiting.push({ sent, end });
    this.history.push(`begin ${number}`);
    signal.addEventListener('abort', () => {
      this.history.push(`unwanted ${number}`);
      end.reject(new Error('aborted'));
    });
    return end.promise;
  };

  /** Asks, and notes when it is answered. */
  ask(name: string, { key = 'one', signal = new AbortController().signal } = {}): Promise<void> {
    return this.rounds.join(key, this.#round, signal).then(
      () => void this.history.push(`${name} answered`),
      (error: unknown) => void this.history.push(`${name} failed: ${String(error)}`),
    );
  }

  async sent(number: number): Promise<void> {
    this.#waiting[number - 1]?.sent();
    await this.clock.settle();
  }

  async end(number: number, error?: Error): Promise<void> {
    const end = this.#waiting[number - 1]?.end;
    if (error === undefined) end?.resolve();
    else end?.reject(error);
    await this.clock.settle();
  }

  taken(): readonly string[] {
    return this.history.splice(0);
  }
}

test('SharedRounds answer all who ask before a round is sent by that round', async () => {
  const bench = new Bench();
  void bench.ask('a');
  void bench.ask('b');
  await bench.sent(1);
  await bench.end(1);
  assert.deepEqual(bench.taken(), ['begin 1', 'a answered', 'b answered']);
});

test('SharedRounds answer who asks while a round is under way by the next, which begins when that has ended', async () => {
  const bench = new Bench();
  void bench.ask('a');
  await bench.sent(1);
  void bench.ask('b');
  void bench.ask('c');
  await bench.clock.settle();
  assert.deepEqual(bench.taken(), ['begin 1']);
  await bench.end(1);
  assert.deepEqual(bench.taken(), ['begin 2', 'a answered']);
  await bench.end(2);
  assert.deepEqual(bench.taken(), ['b answered', 'c answered']);
});

test('SharedRounds wait a second for a round that hangs, then begin the next beside it', async () => {
  const bench = new Bench();
  void bench.ask('a');
  await bench.sent(1);
  void bench.ask('b');
  await bench.clock.advance(999);
  assert.deepEqual(bench.taken(), ['begin 1']);
  await bench.clock.advance(1);
  await bench.end(2);
  await bench.end(1);
  assert.deepEqual(bench.taken(), ['begin 2', 'b answered', 'a answered']);
  assert.deepEqual(bench.clock.pending(), []);
});

test('SharedRounds tell each who waits what a round failed with, and do the next as if nothing were', async () => {
  const bench = new Bench();
  void bench.ask('a');
  void bench.ask('b');
  await bench.end(1, new Error('no'));
  void bench.ask('c');
  await bench.end(2);
  assert.deepEqual(bench.taken(), [
    'begin 1',
    'a failed: Error: no',
    'b failed: Error: no',
    'begin 2',
    'c answered',
  ]);
});

test('SharedRounds go on for the others where one leaves, and end when the last one has left', async () => {
  const bench = new Bench();
  const [one, other] = [new AbortController(), new AbortController()];
  void bench.ask('a', one);
  void bench.ask('b', other);
  one.abort('a has left');
  await bench.clock.settle();
  assert.deepEqual(bench.taken(), ['begin 1', 'a failed: a has left']);
  other.abort('b has left');
  await bench.clock.settle();
  assert.deepEqual(bench.taken(), ['unwanted 1', 'b failed: b has left']);
});

test('SharedRounds answer no caller by a round that all had left before it was sent', async () => {
  const bench = new Bench();
  const one = new AbortController();
  void bench.ask('a', one);
  one.abort('a has left');
  void bench.ask('b');
  await bench.clock.settle();
  await bench.end(2);
  assert.deepEqual(bench.taken(), [
    'begin 1',
    'unwanted 1',
    'begin 2',
    'a failed: a has left',
    'b answered',
  ]);
});

test('SharedRounds begin none that nothing waits for any more', async () => {
  const bench = new Bench();
  const one = new AbortController();
  void bench.ask('a');
  await bench.sent(1);
  void bench.ask('b', one);
  one.abort('b has left');
  await bench.end(1);
  assert.deepEqual(bench.taken(), ['begin 1', 'b failed: b has left', 'a answered']);
});

test('SharedRounds of different keys have nothing to do with each other', async () => {
  const bench = new Bench();
  void bench.ask('a');
  await bench.sent(1);
  void bench.ask('b', { key: 'two' });
  await bench.end(2);
  assert.deepEqual(bench.taken(), ['begin 1', 'begin 2', 'b answered']);
});

test('SharedRounds ask nothing for one who has left before', async () => {
  const bench = new Bench();
  await bench.ask('a', { signal: AbortSignal.abort('a has left') });
  assert.deepEqual(bench.taken(), ['a failed: a has left']);
});
