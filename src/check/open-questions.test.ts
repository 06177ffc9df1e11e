import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import type { Finding } from './answer.ts';
import { OpenQuestions } from './open-questions.ts';

const passes: Finding = {
  verdict: 'passes',
  warnings: [],
  because: { reason: 'AsWanted', message: 'the query found 1 series' },
};
const key = { subject: 'web/B/3', id: 'q' };

/** Questions whose answers the test gives by hand. */
class Bench {
  readonly clock = new FakeClock();
  readonly woken: string[] = [];
  readonly asked: { readonly signal: AbortSignal; readonly answer: (finding: Finding) => void }[] =
    [];
  readonly questions = new OpenQuestions({
    clock: this.clock,
    onAnswer: (owner) => this.woken.push(owner),
  });

  readonly ask = (signal: AbortSignal): Promise<Finding> => {
    const { promise, resolve } = Promise.withResolvers<Finding>();
    this.asked.push({ signal, answer: resolve });
    return promise;
  };

  /** Answers the question that was asked as number `at`, from 0 on. */
  async answer(at: number, finding: Finding = passes): Promise<void> {
    this.asked[at]?.answer(finding);
    await this.clock.settle();
  }
}

test('OpenQuestions wakes the owner of an answer, and says when its question was asked', async () => {
  const bench = new Bench();
  await bench.clock.advance(seconds(2));
  bench.questions.ask('ns/web', key, bench.ask);
  assert.equal(bench.questions.isAsked('ns/web', key), true);
  assert.equal(bench.questions.answerFor('ns/web'), undefined);
  await bench.clock.advance(seconds(3));
  await bench.answer(0);
  assert.deepEqual(bench.woken, ['ns/web']);
  await bench.clock.advance(seconds(4));
  assert.equal(bench.questions.isAsked('ns/web', key), false);
  assert.deepEqual(bench.questions.answerFor('ns/web'), {
    ...passes,
    question: key,
    askedAt: 2_000,
  });
});

test('OpenQuestions keeps an answer until it is dropped', async () => {
  const bench = new Bench();
  bench.questions.ask('ns/web', key, bench.ask);
  bench.questions.drop('ns/web');
  assert.equal(bench.questions.isAsked('ns/web', key), true);
  await bench.answer(0);
  assert.equal(bench.questions.answerFor('ns/web')?.verdict, 'passes');
  assert.equal(bench.questions.answerFor('ns/web')?.verdict, 'passes');
  bench.questions.drop('ns/web');
  assert.equal(bench.questions.answerFor('ns/web'), undefined);
});

test('OpenQuestions asks the same only once at a time', () => {
  const bench = new Bench();
  bench.questions.ask('ns/web', key, bench.ask);
  bench.questions.ask('ns/web', { ...key }, bench.ask);
  bench.questions.ask('ns/db', key, bench.ask);
  assert.equal(bench.asked.length, 2);
});

test('OpenQuestions gives up what was asked for another revision, and never tells its answer', async () => {
  const bench = new Bench();
  const revised = { ...key, subject: 'web/C/3' };
  bench.questions.ask('ns/web', key, bench.ask);
  bench.questions.ask('ns/web', revised, bench.ask);
  assert.equal(bench.asked[0]?.signal.aborted, true);
  assert.equal(bench.questions.isAsked('ns/web', key), false);
  await bench.answer(0);
  assert.deepEqual(bench.woken, []);
  assert.equal(bench.questions.answerFor('ns/web'), undefined);
  await bench.answer(1);
  assert.deepEqual(bench.questions.answerFor('ns/web')?.question, revised);
});

test('OpenQuestions takes the turn of a question for when it was asked', async () => {
  const bench = new Bench();
  bench.questions.ask('ns/web', key, async (_, sent) => {
    await bench.clock.sleep(seconds(100));
    sent();
    await bench.clock.sleep(seconds(5));
    sent();
    return passes;
  });
  await bench.clock.advance(seconds(106));
  assert.equal(bench.questions.answerFor('ns/web')?.askedAt, 100_000);
});

test('OpenQuestions takes a question that breaks for one without an answer', async () => {
  const bench = new Bench();
  bench.questions.ask('ns/web', key, () => Promise.reject(new Error('a bug')));
  await bench.clock.settle();
  assert.deepEqual(bench.woken, ['ns/web']);
  const { verdict, because } = bench.questions.answerFor('ns/web') ?? {};
  assert.deepEqual([verdict, because?.message], ['unknown', 'a bug']);
});

test('OpenQuestions gives up everything when it is closed, and waits for the end', async () => {
  const bench = new Bench();
  bench.questions.ask('ns/web', key, bench.ask);
  bench.questions.ask('ns/db', key, bench.ask);
  let isClosed = false;
  const closed = bench.questions.close().then(() => {
    isClosed = true;
  });
  assert.deepEqual(
    bench.asked.map(({ signal }) => signal.aborted),
    [true, true],
  );
  await bench.answer(0);
  assert.equal(isClosed, false);
  await bench.answer(1);
  await closed;
  assert.deepEqual(bench.woken, []);
});
