/** What holds of a check whatever is answered, and whenever (GATE-1). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { millis, seconds } from '#base/units.ts';
import { CheckPlay } from '#support/rollouts/check-play.ts';
import type { CheckVerdict } from './answer.ts';
import { stateFor } from './check-state.ts';
import type { CheckSettings } from './plan-check.ts';

const verdicts = fc.constantFrom<CheckVerdict>('passes', 'passes', 'passes', 'fails', 'unknown');

type Step =
  | { readonly kind: 'ask' | 'restart' }
  /** An answer to what is asked; or a question with its answer. */
  | { readonly kind: 'answer' | 'exchange'; readonly verdict: CheckVerdict }
  | { readonly kind: 'pass' | 'set-wall-clock'; readonly span: number }
  | { readonly kind: 'revision' | 'query'; readonly name: string };

const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constant<Step>({ kind: 'ask' }) },
    { weight: 3, arbitrary: verdicts.map((verdict): Step => ({ kind: 'answer', verdict })) },
    { weight: 6, arbitrary: verdicts.map((verdict): Step => ({ kind: 'exchange', verdict })) },
    {
      weight: 3,
      arbitrary: fc.nat(40_000).map((span): Step => ({ kind: 'pass', span })),
    },
    {
      weight: 1,
      arbitrary: fc
        .integer({ min: -4_000_000, max: 4_000_000 })
        .map((span): Step => ({ kind: 'set-wall-clock', span })),
    },
    { weight: 1, arbitrary: fc.constant<Step>({ kind: 'restart' }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('B', 'C').map((name): Step => ({ kind: 'revision', name })),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom('q', 'r').map((name): Step => ({ kind: 'query', name })),
    },
  ),
  { maxLength: 60 },
);

const settings = fc.record({
  initialDelay: fc.nat(20_000).map(millis),
  period: fc.nat(20_000).map(millis),
  passesNeeded: fc.integer({ min: 1, max: 4 }),
  onError: fc.constantFrom('ignored', 'resets', 'fails'),
  retry: fc.constantFrom(
    { first: seconds(30), longest: seconds(30) },
    { first: seconds(5), longest: seconds(60) },
  ),
});

/** What was answered, as somebody saw it who knows of no state: newest last. */
interface Entry {
  readonly subject: string;
  readonly query: string;
  readonly askedAt: number;
  readonly age: number;
  readonly verdict: CheckVerdict;
  /** What was asked at the time of the answer. */
  readonly wanted: string;
}

/** A {@link CheckPlay} with a log of its own. */
class Logged {
  readonly play: CheckPlay;
  began = 0;
  #entries: Entry[] = [];
  #asked: Pick<Entry, 'subject' | 'query' | 'askedAt'> | undefined;
  #query = 'query';

  constructor(chosen: Partial<CheckSettings>) {
    this.play = new CheckPlay(chosen);
  }

  run(step: Step): void {
    const { play } = this;
    switch (step.kind) {
      case 'pass':
        play.pass(step.span);
        return;
      case 'set-wall-clock':
        play.wall += step.span;
        return;
      case 'restart':
        play.restart();
        this.#asked = undefined;
        return;
      case 'revision':
        this.#revise(step.name);
        return;
      case 'query':
        this.#query = step.name;
        play.editQuery(step.name);
        return;
      case 'ask':
        this.#ask();
        return;
      case 'exchange':
        this.#ask();
        play.pass(100);
        this.#answer(step.verdict);
        return;
      case 'answer':
        this.#answer(step.verdict);
    }
  }

  /** Passing answers in a row that were asked for the state, since it began, and not too long ago when they came. */
  streak(onError: CheckSettings['onError']): number {
    const { subject } = this.play.state;
    const relevant = this.#entries.filter(
      (entry) =>
        entry.subject === subject &&
        entry.query === entry.wanted &&
        entry.askedAt >= this.began &&
        entry.age <= 60_000 &&
        (entry.verdict !== 'unknown' || onError !== 'ignored'),
    );
    return relevant.length - 1 - relevant.findLastIndex(({ verdict }) => verdict !== 'passes');
  }

  #revise(name: string): void {
    const { play } = this;
    const next = stateFor(name, play.state, play.now);
    if (next === play.state) return;
    play.state = next;
    this.began = play.steady;
  }

  #ask(): void {
    const { play } = this;
    play.ask();
    this.#asked = { subject: play.state.subject, query: this.#query, askedAt: play.steady };
  }

  #answer(verdict: CheckVerdict): void {
    const { play } = this;
    if (this.#asked === undefined) return;
    const age = play.steady - this.#asked.askedAt;
    this.#entries.push({ ...this.#asked, age, verdict, wanted: this.#query });
    this.#asked = undefined;
    play.answer(verdict);
  }
}

test('planCheck() passes only with as many passing answers on end as are needed, all asked for the state since it began (GATE-1)', () => {
  let passed = 0;
  fc.assert(
    fc.property(settings, steps, (chosen, script) => {
      const logged = new Logged(chosen);
      for (const step of script) {
        logged.run(step);
        if (logged.play.plan().kind !== 'passed') continue;
        passed += 1;
        const streak = logged.streak(chosen.onError);
        assert.ok(streak >= chosen.passesNeeded, `${streak} of ${chosen.passesNeeded}`);
      }
    }),
    { numRuns: 400 },
  );
  assert.ok(passed > 100, `Only ${passed} of the scripts passed anything`);
});

test('planCheck() passes once as many answers pass on end as are needed, when each is asked in time', () => {
  fc.assert(
    fc.property(settings, fc.array(verdicts, { maxLength: 12 }), (chosen, answers) => {
      const play = new CheckPlay(chosen);
      let streak = 0;
      for (const verdict of answers) {
        if (play.plan().kind === 'passed') break;
        play.next(verdict, 100);
        if (verdict === 'passes') streak += 1;
        else if (verdict === 'fails' || chosen.onError !== 'ignored') streak = 0;
        assert.equal(play.plan().kind === 'passed', streak >= chosen.passesNeeded);
      }
    }),
    { numRuns: 200 },
  );
});

test('planCheck() is never passed right after an answer that fails', () => {
  fc.assert(
    fc.property(settings, steps, (chosen, script) => {
      const logged = new Logged(chosen);
      for (const step of [
        ...script,
        { kind: 'ask' },
        { kind: 'answer', verdict: 'fails' },
      ] as const) {
        logged.run(step);
      }
      assert.equal(logged.play.state.passes, 0);
      assert.notEqual(logged.play.plan().kind, 'passed');
    }),
    { numRuns: 200 },
  );
});

test('planCheck() looks again in the future, and never beyond the longest of its spans', () => {
  fc.assert(
    fc.property(settings, steps, (chosen, script) => {
      const logged = new Logged(chosen);
      const longest = Math.max(chosen.initialDelay, chosen.period, chosen.retry.longest, 1);
      for (const step of script) {
        logged.run(step);
        const plan = logged.play.plan();
        if (plan.kind !== 'wait') continue;
        assert.ok(plan.remaining > 0 && plan.remaining <= longest, `${plan.remaining} ms`);
      }
    }),
    { numRuns: 300 },
  );
});

test('planCheck() asks no more often than its period, its retry and its limit of errors allow', () => {
  const limits = fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined });
  fc.assert(
    fc.property(
      settings,
      limits,
      fc.array(verdicts, { maxLength: 30 }),
      (chosen, limit, answers) => {
        const play = new CheckPlay({
          ...chosen,
          ...(limit !== undefined && { mostErrors: limit }),
        });
        let errors = 0;
        let before: CheckVerdict | undefined;
        for (const verdict of answers) {
          const { kind } = play.plan();
          if (kind === 'passed' || kind === 'failed') break;
          const waited: number = play.next(verdict) * 1_000;
          const least: number = before === undefined ? chosen.initialDelay : chosen.period;
          assert.ok(
            waited > (before === 'unknown' ? chosen.retry.first - 1 : least - 1),
            `${waited} ms`,
          );
          errors = verdict === 'unknown' ? errors + 1 : 0;
          before = verdict;
          assert.ok(limit === undefined || errors <= limit);
          if (errors === limit) assert.equal(play.plan().kind, 'failed');
        }
      },
    ),
    { numRuns: 200 },
  );
});
