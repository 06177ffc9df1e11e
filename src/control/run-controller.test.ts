import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, instant, millis, seconds } from '#base/units.ts';
import { createWorkQueue } from '#kubernetes/queue/rate-limited-queue.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { T0 } from '#support/objects/views.ts';
import { type PassResult, runController } from './run-controller.ts';

const done: PassResult = { kind: 'ended', requeue: { kind: 'await-change' } };

class FatalError extends Error {}

class Bench {
  readonly clock = new FakeClock(T0);
  readonly queue = createWorkQueue({ clock: this.clock, name: 'test', maxDelay: seconds(30) });
  readonly stopping = new AbortController();
  /** When each pass began, from the start, in milliseconds. */
  readonly passes: number[] = [];
  readonly reported: unknown[] = [];
  reconcile: (key: string, signal: AbortSignal) => Promise<PassResult> = async () => done;

  run(workers = 2): Promise<void> {
    const { queue, clock, reported } = this;
    return runController(
      {
        queue,
        clock,
        workers,
        reconcile: (key, signal) => {
          this.passes.push(clock.now() - T0);
          return this.reconcile(key, signal);
        },
        report: (key, error) => reported.push([key, error]),
        isFatal: (error) => error instanceof FatalError,
      },
      this.stopping.signal,
    );
  }

  async stop(running: Promise<void>): Promise<void> {
    this.stopping.abort();
    await running;
  }
}

test('runController() never works on one key twice at a time, and looks again afterwards', async () => {
  const bench = new Bench();
  const first = Promise.withResolvers<PassResult>();
  bench.reconcile = () => first.promise;
  const running = bench.run();
  bench.queue.add('a');
  await bench.clock.settle();
  bench.queue.add('a');
  bench.queue.add('a');
  await bench.clock.settle();
  assert.equal(bench.passes.length, 1);
  bench.reconcile = async () => done;
  first.resolve(done);
  await bench.clock.settle();
  assert.equal(bench.passes.length, 2);
  await bench.stop(running);
});

test('runController() works on other keys meanwhile', async () => {
  const bench = new Bench();
  const slow = Promise.withResolvers<PassResult>();
  const keys: string[] = [];
  bench.reconcile = (key) => {
    keys.push(key);
    return key === 'slow' ? slow.promise : Promise.resolve(done);
  };
  const running = bench.run();
  for (const key of ['slow', 'b', 'c']) bench.queue.add(key);
  await bench.clock.settle();
  assert.deepEqual(keys, ['slow', 'b', 'c']);
  slow.resolve(done);
  await bench.stop(running);
});

interface Repetition {
  readonly result: () => Promise<PassResult>;
  readonly passes: readonly number[];
}

const repetitions: Record<string, Repetition> = {
  'not at all when nothing is due': { result: async () => done, passes: [0] },
  'at the time that the pass asked for': {
    result: async () => ({ kind: 'ended', requeue: { kind: 'at', at: after(T0, seconds(2)) } }),
    passes: [0, 2_000],
  },
  'after what the server asked for': {
    result: async () => ({ kind: 'retry', retryAfter: seconds(3) }),
    passes: [0, 3_000],
  },
  'after ever longer backoffs when the server asked for nothing': {
    result: async () => ({ kind: 'retry', retryAfter: undefined }),
    passes: [0, 5, 15, 35, 75, 155, 315, 635, 1_275, 2_555],
  },
  'after ever longer backoffs when the server asked for 0 s': {
    result: async () => ({ kind: 'retry', retryAfter: millis(0) }),
    passes: [0, 5, 15, 35, 75, 155, 315, 635, 1_275, 2_555],
  },
  'after ever longer backoffs when the pass threw': {
    result: () => Promise.reject(new Error('a bug')),
    passes: [0, 5, 15, 35, 75, 155, 315, 635, 1_275, 2_555],
  },
};

for (const [when, { result, passes }] of Object.entries(repetitions)) {
  test(`[scenario 40] runController() looks at a key again ${when}, without further events`, async () => {
    const bench = new Bench();
    let count = 0;
    bench.reconcile = () => {
      count += 1;
      return count < 30 ? result() : Promise.resolve(done);
    };
    const running = bench.run();
    bench.queue.add('a');
    if (when.startsWith('at the time')) {
      await bench.clock.settle();
      bench.reconcile = async () => done;
    }
    await bench.clock.advance(4_000);
    assert.deepEqual(bench.passes, passes);
    await bench.stop(running);
  });
}

test('[scenario 40] runController() begins with the shortest backoff again after a pass that succeeded', async () => {
  const bench = new Bench();
  const retry: PassResult = { kind: 'retry', retryAfter: undefined };
  const results = [retry, retry, done, retry, done];
  bench.reconcile = async () => results.shift() ?? done;
  const running = bench.run();
  bench.queue.add('a');
  await bench.clock.advance(1_000);
  bench.queue.add('a');
  await bench.clock.advance(1_000);
  assert.deepEqual(bench.passes, [0, 5, 15, 1_000, 1_005]);
  await bench.stop(running);
});

test('runController() looks at once at a key whose time has passed, and not again', async () => {
  const bench = new Bench();
  let at = instant(T0 - 5_000);
  bench.reconcile = async () => {
    const requeue = { kind: 'at', at } as const;
    at = after(T0, seconds(60));
    return { kind: 'ended', requeue };
  };
  const running = bench.run();
  bench.queue.add('a');
  await bench.clock.advance(1_000);
  assert.deepEqual(bench.passes, [0, 0]);
  await bench.stop(running);
});

test('runController() reports what a pass throws', async () => {
  const bench = new Bench();
  const error = new Error('a bug');
  bench.reconcile = () => {
    bench.reconcile = async () => done;
    return Promise.reject(error);
  };
  const running = bench.run();
  bench.queue.add('a');
  await bench.clock.advance(10);
  assert.deepEqual(bench.reported, [['a', error]]);
  assert.equal(bench.passes.length, 2);
  await bench.stop(running);
});

test('runController() ends when its signal aborts and the passes under way have ended', async () => {
  const bench = new Bench();
  const slow = Promise.withResolvers<PassResult>();
  bench.reconcile = () => slow.promise;
  let hasEnded = false;
  const running = bench.run().then(() => {
    hasEnded = true;
  });
  bench.queue.add('a');
  await bench.clock.settle();
  bench.stopping.abort();
  await bench.clock.settle();
  assert.equal(hasEnded, false);
  slow.reject(new Error('aborted'));
  await running;
  assert.deepEqual(bench.reported, []);
});

test('runController() ends at once where its signal has aborted before', async () => {
  const bench = new Bench();
  bench.stopping.abort();
  await bench.run();
  assert.deepEqual(bench.passes, []);
});

test('runController() aborts all passes and throws when an error is fatal (D-6)', async () => {
  const bench = new Bench();
  const fatal = new FatalError('the caches cannot be trusted');
  let wasAborted = false;
  bench.reconcile = async (key, signal) => {
    if (key === 'bad') throw fatal;
    const { promise, resolve } = Promise.withResolvers<PassResult>();
    signal.addEventListener('abort', () => {
      wasAborted = true;
      resolve(done);
    });
    return promise;
  };
  const running = bench.run();
  bench.queue.add('good');
  bench.queue.add('bad');
  await assert.rejects(running, fatal);
  assert.equal(wasAborted, true);
});
