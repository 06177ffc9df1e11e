import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { millis } from '#base/units.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { createWorkQueue } from './rate-limited-queue.ts';
import type { WorkQueue } from './work-queue.ts';

function queueOn(clock: FakeClock): WorkQueue {
  return createWorkQueue({ clock, name: 'test' });
}

/** What `get` answers without waiting for time; `'none'` while it waits. The waiting `get` stays. */
async function taken(clock: FakeClock, queue: WorkQueue): Promise<string | undefined> {
  const get = queue.get();
  return Promise.race([get, clock.settle().then(() => 'none')]);
}

test('get() gives keys in the order in which they became ready', async () => {
  const queue = queueOn(new FakeClock());
  queue.add('a');
  queue.add('b');
  queue.add('a');
  assert.equal(queue.depth, 2);
  assert.equal(await queue.get(), 'a');
  assert.equal(await queue.get(), 'b');
  assert.equal(queue.depth, 0);
});

test('get() waits for a key, and the caller that asked first gets it first', async () => {
  const queue = queueOn(new FakeClock());
  const [first, second] = [queue.get(), queue.get()];
  queue.add('a');
  queue.add('b');
  assert.deepEqual(await Promise.all([first, second]), ['a', 'b']);
  assert.equal(queue.depth, 0);
});

test('add() of a key that is worked on makes it ready again after done()', async () => {
  const clock = new FakeClock();
  const queue = queueOn(clock);
  queue.add('a');
  await queue.get();
  queue.add('a');
  queue.add('a');
  assert.equal(queue.depth, 0);
  queue.done('a');
  assert.equal(queue.depth, 1);
  assert.equal(await queue.get(), 'a');
  queue.done('a');
  assert.equal(await taken(clock, queue), 'none');
});

test('add() drops the addAfter() of its key', async () => {
  const clock = new FakeClock();
  const queue = queueOn(clock);
  queue.addAfter('a', millis(50));
  queue.add('a');
  assert.deepEqual(clock.pending(), []);
  assert.equal(await queue.get(), 'a');
});

const deadlines: Record<string, { delays: readonly number[]; readyAt: number }> = {
  'the first deadline when it is earlier': { delays: [50, 80], readyAt: 50 },
  'the second deadline when it is earlier': { delays: [80, 50], readyAt: 50 },
  'now when a delay is zero': { delays: [80, 0], readyAt: 0 },
  'now when a delay is negative': { delays: [-5], readyAt: 0 },
};
for (const [fact, { delays, readyAt }] of Object.entries(deadlines)) {
  test(`addAfter() keeps ${fact}`, async () => {
    const clock = new FakeClock();
    const queue = queueOn(clock);
    for (const delay of delays) queue.addAfter('a', millis(delay));
    if (readyAt > 0) {
      await clock.advance(readyAt - 1);
      assert.equal(queue.depth, 0);
      await clock.advance(1);
    }
    assert.equal(queue.depth, 1);
    assert.deepEqual(clock.pending(), []);
  });
}

test('addAfter() of a key that is ready anyway changes nothing', () => {
  const clock = new FakeClock();
  const queue = queueOn(clock);
  queue.add('a');
  queue.addAfter('a', millis(50));
  assert.deepEqual(clock.pending(), []);
});

test('addAfter() that comes due while the key is worked on waits for done()', async () => {
  const clock = new FakeClock();
  const queue = queueOn(clock);
  queue.add('a');
  await queue.get();
  queue.addAfter('a', millis(50));
  await clock.advance(50);
  assert.equal(queue.depth, 0);
  queue.done('a');
  assert.equal(queue.depth, 1);
});

test('addRateLimited() doubles from 5 ms to 1000 s, until forget()', async () => {
  const clock = new FakeClock();
  const queue = queueOn(clock);
  const seen: number[] = [];
  for (let failure = 0; failure < 20; failure += 1) {
    queue.addRateLimited('a');
    seen.push(clock.pending()[0] ?? 0);
    queue.add('a');
    await queue.get();
    queue.done('a');
  }
  assert.deepEqual(seen.slice(0, 5), [5, 10, 20, 40, 80]);
  assert.deepEqual(seen.slice(-3), [655_360, 1_000_000, 1_000_000]);
  assert.equal(queue.failures('a'), 20);
  queue.forget('a');
  assert.equal(queue.failures('a'), 0);
  queue.addRateLimited('a');
  assert.deepEqual(clock.pending(), [5]);
});

test('addRateLimited() counts each key apart', () => {
  const clock = new FakeClock();
  const queue = queueOn(clock);
  queue.addRateLimited('a');
  queue.addRateLimited('a');
  queue.addRateLimited('b');
  assert.equal(queue.failures('a'), 2);
  assert.equal(queue.failures('b'), 1);
});

test('shutDown() answers undefined to all, drops what waits and takes nothing more', async () => {
  const clock = new FakeClock();
  const queue = queueOn(clock);
  const waiting = queue.get();
  queue.addAfter('a', millis(50));
  queue.shutDown();
  queue.add('b');
  queue.addAfter('c', millis(5));
  queue.addRateLimited('d');
  assert.equal(await waiting, undefined);
  assert.equal(await queue.get(), undefined);
  assert.equal(queue.depth, 0);
  assert.deepEqual(clock.pending(), []);
});

type Step =
  | { readonly kind: 'add' | 'get' | 'done' | 'fail'; readonly key: string }
  | { readonly kind: 'after'; readonly key: string; readonly delay: number }
  | { readonly kind: 'advance'; readonly span: number };

const key = fc.constantFrom('a', 'b', 'c');
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('add', 'get', 'done', 'fail'), key }),
  fc.record({ kind: fc.constant('after'), key, delay: fc.integer({ min: -5, max: 60 }) }),
  fc.record({ kind: fc.constant('advance'), span: fc.nat(40) }),
);

/** What the queue promises of one key: when it must be ready next, and whether a worker has it. */
class KeyModel {
  wanted: number | undefined;
  isTaken = false;
  failures = 0;

  want(due: number): void {
    this.wanted = Math.min(this.wanted ?? Number.POSITIVE_INFINITY, due);
  }
}

/** Drives a queue and a model of it alike, and compares after each step. */
class QueueRun {
  readonly clock = new FakeClock();
  readonly queue = queueOn(this.clock);
  readonly models = new Map(['a', 'b', 'c'].map((name) => [name, new KeyModel()]));
  #isWaiting = false;

  model(name: string): KeyModel {
    const model = this.models.get(name);
    assert.ok(model);
    return model;
  }

  async step(step: Step): Promise<void> {
    const now = this.clock.monotonic();
    if (step.kind === 'advance') await this.clock.advance(step.span);
    else if (step.kind === 'get') this.#take();
    else if (step.kind === 'done') this.done(step.key);
    else this.#want(step, now);
    await this.clock.settle();
    this.check();
  }

  #want(step: Exclude<Step, { kind: 'advance' }>, now: number): void {
    const model = this.model(step.key);
    if (step.kind === 'add') {
      this.queue.add(step.key);
      model.want(now);
    } else if (step.kind === 'after') {
      this.queue.addAfter(step.key, millis(step.delay));
      model.want(now + Math.max(0, step.delay));
    } else {
      this.queue.addRateLimited(step.key);
      model.want(now + 5 * 2 ** model.failures);
      model.failures += 1;
    }
  }

  done(name: string): void {
    if (!this.model(name).isTaken) return;
    this.model(name).isTaken = false;
    this.queue.done(name);
  }

  #take(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    void this.queue.get().then((name) => this.#taken(name));
  }

  #taken(name: string | undefined): void {
    assert.ok(name !== undefined);
    const model = this.model(name);
    assert.equal(model.isTaken, false, `${name} is with two workers`);
    assert.ok(model.wanted !== undefined, `${name} was taken and nobody wanted it`);
    assert.ok(model.wanted <= this.clock.monotonic(), `${name} was taken too early`);
    model.isTaken = true;
    model.wanted = undefined;
    this.#isWaiting = false;
  }

  check(): void {
    const models = [...this.models.values()];
    const now = this.clock.monotonic();
    const due = models.filter((m) => !m.isTaken && m.wanted !== undefined && m.wanted <= now);
    assert.equal(this.queue.depth, due.length, 'ready keys');
    const waits = models.filter((m) => m.wanted !== undefined && m.wanted > now);
    assert.equal(this.clock.pending().length, waits.length, 'one wait a key');
  }

  /** Lets all work end: whatever was wanted is taken, so nothing was lost. */
  async drain(): Promise<void> {
    await this.clock.advance(10_000_000);
    for (let round = 0; round < 10; round += 1) {
      for (const name of this.models.keys()) this.done(name);
      this.#take();
      await this.clock.settle();
    }
    for (const [name, model] of this.models) {
      assert.equal(model.wanted, undefined, `an add of ${name} was lost`);
    }
  }
}

test('a queue never loses an add, never gives a key to two workers and keeps one wait a key', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 60, size: 'max' }), async (steps) => {
      const run = new QueueRun();
      for (const step of steps) await run.step(step);
      await run.drain();
    }),
    { numRuns: 150 },
  );
});
