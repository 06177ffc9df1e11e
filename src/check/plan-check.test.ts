import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { instant, millis, minutes, seconds } from '#base/units.ts';
import { CheckPlay, usual } from '#support/rollouts/check-play.ts';
import type { CheckVerdict } from './answer.ts';
import { beginState, stateFor } from './check-state.ts';
import { type CheckSettings, checkOf } from './plan-check.ts';

/** Counters as `passes/failures/total failures/errors`. */
function counters({ state }: CheckPlay): string {
  return [state.passes, state.failures, state.totalFailures, state.errors].join('/');
}

function answered(settings: Partial<CheckSettings>, verdicts: readonly CheckVerdict[]): CheckPlay {
  const play = new CheckPlay(settings);
  for (const verdict of verdicts) play.next(verdict);
  return play;
}

describe('planCheck() after answers', () => {
  interface Case {
    readonly settings?: Partial<CheckSettings>;
    readonly answers: readonly CheckVerdict[];
    readonly counters: string;
    readonly plan: string;
  }
  const cases: Record<string, Case> = {
    'waits a period after one of two passes': {
      answers: ['passes'],
      counters: '1/0/0/0',
      plan: 'period 5',
    },
    'is passed after two passes on end, without another wait [phased 23]': {
      answers: ['passes', 'passes'],
      counters: '2/0/0/0',
      plan: 'passed',
    },
    'is passed after the fourth answer when the second fails [phased 36]': {
      answers: ['passes', 'fails', 'passes', 'passes'],
      counters: '2/0/1/0',
      plan: 'passed',
    },
    'is not passed after three answers of which the second fails [phased 36]': {
      answers: ['passes', 'fails', 'passes'],
      counters: '1/0/1/0',
      plan: 'period 5',
    },
    'goes on for ever while nothing is found, a period apart [phased 37]': {
      answers: ['fails', 'fails', 'fails', 'fails'],
      counters: '0/4/4/0',
      plan: 'period 5',
    },
    'is passed when an error stands between two passes [phased 38]': {
      answers: ['passes', 'unknown', 'passes'],
      counters: '2/0/0/0',
      plan: 'passed',
    },
    'waits 30 s after an error, whatever the period': {
      answers: ['passes', 'unknown'],
      counters: '1/0/0/1',
      plan: 'retry 30',
    },
    'waits 30 s after the first error, too [phased 39]': {
      answers: ['unknown'],
      counters: '0/0/0/1',
      plan: 'retry 30',
    },
    'asks soon after an error, however long the period': {
      settings: { period: minutes(5), retry: { first: seconds(1), longest: seconds(1) } },
      answers: ['passes', 'unknown'],
      counters: '1/0/0/1',
      plan: 'retry 1',
    },
    'goes on where it was after errors [phased 40]': {
      answers: ['passes', 'fails', 'unknown', 'unknown', 'fails'],
      counters: '0/2/2/0',
      plan: 'period 5',
    },
    'begins again after an error when errors reset': {
      settings: { onError: 'resets' },
      answers: ['passes', 'unknown', 'passes'],
      counters: '1/0/0/0',
      plan: 'period 5',
    },
    'counts an error as a failing answer when errors fail': {
      settings: { onError: 'fails' },
      answers: ['passes', 'unknown'],
      counters: '0/1/1/1',
      plan: 'retry 30',
    },
    'doubles the wait after each error, up to the longest': {
      settings: { retry: { first: seconds(5), longest: seconds(12) } },
      answers: ['unknown', 'unknown', 'unknown'],
      counters: '0/0/0/3',
      plan: 'retry 12',
    },
    'has failed with the last failure on end that is borne': {
      settings: { mostFailures: 2 },
      answers: ['fails', 'passes', 'fails', 'fails'],
      counters: '0/2/3/0',
      plan: 'failed FailuresReached',
    },
    'has failed with the last failure in all that is borne': {
      settings: { mostTotalFailures: 2 },
      answers: ['fails', 'passes', 'fails'],
      counters: '0/1/2/0',
      plan: 'failed TotalFailuresReached',
    },
    'has failed with the last error on end that is borne': {
      settings: { mostErrors: 2 },
      answers: ['unknown', 'passes', 'unknown', 'unknown'],
      counters: '1/0/0/2',
      plan: 'failed ErrorsReached',
    },
  };
  for (const [fact, { settings = {}, answers, counters: want, plan }] of Object.entries(cases)) {
    test(`planCheck() ${fact}`, () => {
      const play = answered(settings, answers);
      assert.equal(counters(play), want);
      assert.equal(play.said(), plan);
    });
  }
});

describe('planCheck() in time', () => {
  test('planCheck() asks nothing before the delay has passed, and at once after it [phased 22]', () => {
    const play = new CheckPlay();
    assert.equal(play.said(), 'initial-delay 10');
    assert.equal(play.pass(9_000).said(), 'initial-delay 1');
    assert.equal(play.pass(1_001).said(), 'ask');
  });

  test('planCheck() asks the second time a period after the first answer [phased 23]', () => {
    const play = answered({}, ['passes']);
    assert.equal(play.pass(4_000).said(), 'period 1');
    assert.equal(play.pass(1_001).said(), 'ask');
  });

  test('planCheck() looks again after a wait that is just over [phased 35]', () => {
    assert.equal(new CheckPlay().pass(10_000).said(), 'initial-delay 0.001');
    assert.equal(new CheckPlay({ initialDelay: millis(0) }).said(), 'initial-delay 0.001');
    const play = answered({ period: millis(0) }, ['passes']);
    assert.equal(play.said(), 'period 0.001');
  });

  test('planCheck() asks no more often when it is called each second [phased 31]', () => {
    const play = new CheckPlay({ passesNeeded: 100 });
    const askedAt: number[] = [];
    for (let second = 0; second <= 40; second += 1) {
      if (play.said() === 'ask') {
        askedAt.push(second);
        play.ask().answer('passes');
      }
      play.pass(1_000);
    }
    // Strictly after five seconds, at whole ones.
    assert.deepEqual(askedAt, [11, 17, 23, 29, 35]);
  });

  test('planCheck() waits while the question is open', () => {
    const play = new CheckPlay().pass(11_000);
    assert.equal(play.said(), 'ask');
    assert.equal(play.ask().pass(60_000).said(), 'answer 30');
  });

  test('planCheck() is passed as soon as fewer passes are needed [phased 32]', () => {
    const play = answered({ passesNeeded: 5 }, ['passes', 'passes', 'passes']);
    assert.equal(play.said(), 'period 5');
    assert.equal(play.edit({ passesNeeded: 2 }).said(), 'passed');
  });

  test('planCheck() believes failures that are stored before it believes passes', () => {
    const play = answered({}, ['fails', 'passes', 'passes']);
    assert.equal(play.said(), 'passed');
    assert.equal(play.edit({ mostTotalFailures: 1 }).said(), 'failed TotalFailuresReached');
  });

  test('planCheck() goes on after a restart: a delay that has passed is not repeated [phased 62]', () => {
    const play = new CheckPlay().pass(4_000).restart().pass(60_000).restart();
    assert.equal(play.said(), 'ask');
  });

  test('planCheck() keeps the passes, and the rest of a period, over a restart', () => {
    const play = answered({}, ['passes']).pass(2_000).restart();
    assert.equal(counters(play), '1/0/0/0');
    const plan = play.plan();
    assert.ok(plan.kind === 'wait' && plan.remaining > 2_000 && plan.remaining <= 3_000);
  });

  test('planCheck() ends a wait that it has watched, though the wall clock was set back', () => {
    const play = answered({}, ['passes']);
    play.plan();
    play.wall -= 3_600_000;
    assert.equal(play.said(), 'period 5');
    assert.equal(play.pass(3_000).said(), 'period 2');
    assert.equal(play.pass(2_001).said(), 'ask');
  });

  test('planCheck() counts a stored time in the future as now', () => {
    const play = answered({}, ['passes']);
    play.wall -= 3_600_000;
    assert.equal(play.restart().said(), 'period 5');
    assert.equal(play.pass(5_001).said(), 'ask');
  });
});

describe('countAnswer()', () => {
  test('countAnswer() ignores an answer of a former revision', () => {
    const play = new CheckPlay().pass(11_000).ask();
    play.state = beginState('web/C/3', play.now);
    assert.equal(play.pass(1_000).answer('passes'), 'asked-for-another');
    assert.equal(counters(play), '0/0/0/0');
  });

  test('countAnswer() ignores the answer to a query that was edited', () => {
    const play = new CheckPlay().pass(11_000).ask().editQuery('edited');
    assert.equal(play.answer('passes'), 'asked-for-another');
  });

  test('countAnswer() ignores an answer that was asked before the state began', () => {
    const play = new CheckPlay().pass(11_000).ask().pass(1_000);
    // The same step once more, as after a reset of the partition by hand.
    play.state = beginState('web/B/3', play.now);
    assert.equal(play.pass(1_000).answer('passes'), 'asked-before');
  });

  test('countAnswer() counts the answer to what was asked at the moment when the state began', () => {
    const play = new CheckPlay();
    assert.equal(play.ask().pass(500).answer('passes'), 'counted');
  });

  test('countAnswer() ignores an answer that was asked before the one that it counted last', () => {
    const play = new CheckPlay().pass(11_000).ask();
    const early = structuredClone(play.state);
    play.pass(1_000).answer('passes');
    assert.deepEqual([early.passes, play.state.passes], [0, 1]);
    // The other of two questions that were under way at once.
    play.plan();
    play.pass(1_000);
    assert.equal(lateAnswer(play, 2_000), 'asked-before');
    assert.equal(lateAnswer(play, 500), 'counted');
  });

  test('countAnswer() ignores an answer that has waited too long', () => {
    const play = new CheckPlay().pass(11_000).ask();
    assert.equal(play.pass(60_001).answer('passes'), 'too-old');
    assert.equal(play.ask().pass(60_000).answer('passes'), 'counted');
  });

  test('countAnswer() counts by what was watched, not by a wall clock that was set back', () => {
    const play = new CheckPlay().pass(11_000).ask();
    play.wall -= 3_600_000;
    assert.equal(play.pass(1_000).answer('passes'), 'counted');
  });
});

/** What becomes of a passing answer that was asked `age` milliseconds ago. */
function lateAnswer(play: CheckPlay, age: number): string {
  play.steady -= age;
  play.ask();
  play.steady += age;
  return play.answer('passes');
}

test('stateFor() keeps the count of what it is for, and begins again for anything else', () => {
  const state = { ...beginState('web/B/3', instant(0)), passes: 2 };
  assert.equal(stateFor('web/B/3', state, instant(9)), state);
  const begun = beginState('web/C/3', instant(9));
  assert.deepEqual(stateFor('web/C/3', state, instant(9)), begun);
  assert.deepEqual(stateFor('web/C/3', undefined, instant(9)), begun);
});

describe('checkOf()', () => {
  const cases: Record<string, { settings: Partial<CheckSettings>; want: string | undefined }> = {
    'takes the usual': { settings: {}, want: undefined },
    'takes no delay and no period': {
      settings: { initialDelay: millis(0), period: millis(0) },
      want: undefined,
    },
    'refuses to need no passes': {
      settings: { passesNeeded: 0 },
      want: 'passesNeeded must be an integer of 1 or more: got 0',
    },
    'refuses to need infinitely many': {
      settings: { passesNeeded: Number.POSITIVE_INFINITY },
      want: 'passesNeeded must be an integer of 1 or more: got Infinity',
    },
    'refuses half a failure': {
      settings: { mostFailures: 1.5 },
      want: 'mostFailures must be an integer of 1 or more: got 1.5',
    },
    'refuses a negative delay': {
      settings: { initialDelay: seconds(-1) },
      want: 'initialDelay must be at least 0 ms: got -1000',
    },
    'refuses a period that is no number': {
      settings: { period: millis(Number.NaN) },
      want: 'period must be at least 0 ms: got NaN',
    },
    'refuses to retry at once': {
      settings: { retry: { first: millis(0), longest: seconds(1) } },
      want: 'retry must be spans of at least 1 ms, the longest no shorter than the first: got 0 and 1000',
    },
    'refuses answers that are always too old': {
      settings: { longestAge: millis(0) },
      want: 'longestAge must be at least 1000 ms: got 0',
    },
  };
  for (const [fact, { settings, want }] of Object.entries(cases)) {
    test(`checkOf() ${fact}`, () => {
      const parsed = checkOf({ ...usual, ...settings });
      const said =
        parsed.kind === 'valid' ? undefined : `${parsed.problem.path} ${parsed.problem.message}`;
      assert.equal(said, want);
    });
  }
});
