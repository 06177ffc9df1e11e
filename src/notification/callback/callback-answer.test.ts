import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { instant, type Millis, millis, minutes, seconds } from '#base/units.ts';
import {
  type CallbackOutcome,
  type CallbackReason,
  nextAttempt,
  type TemporaryFailure,
  verdictOf,
} from './callback-answer.ts';

function answered(status: number, retryAfter?: Millis): CallbackOutcome {
  return {
    kind: 'answered',
    status,
    excerpt: '',
    ...(retryAfter !== undefined && { retryAfter }),
  };
}

/** Kind and reason of a verdict. */
function said(outcome: CallbackOutcome): string {
  const verdict = verdictOf(outcome);
  return verdict.kind === 'given-up' ? verdict.kind : `${verdict.kind} ${verdict.because.reason}`;
}

describe('verdictOf()', () => {
  const statuses: Record<string, readonly number[]> = {
    'delivered CallbackDelivered': [200, 201, 202, 204, 299, 409],
    'permanent CallbackRedirected': [300, 301, 302, 303, 304, 307, 308, 399],
    'permanent CallbackRefused': [400, 401, 403, 404, 405, 410, 413, 415, 418, 422, 451, 499],
    'temporary ReceiverUnavailable': [408, 425, 429, 500, 501, 502, 503, 504, 599, 600, 999],
  };
  for (const [want, given] of Object.entries(statuses)) {
    for (const status of given) {
      test(`verdictOf() takes ${status} for ${want} (E-7, E-8, E-9)`, () => {
        assert.equal(said(answered(status)), want);
      });
    }
  }

  const others: Record<string, CallbackOutcome> = {
    'permanent HostNotAllowed': { kind: 'refused', reason: 'HostNotAllowed', why: 'x' },
    'permanent HttpsRequired': { kind: 'refused', reason: 'HttpsRequired', why: 'x' },
    'permanent AddressNotAllowed': { kind: 'refused', reason: 'AddressNotAllowed', why: 'x' },
    'permanent InvalidCallbackUrl': { kind: 'refused', reason: 'InvalidCallbackUrl', why: 'x' },
    'temporary ReceiverUnreachable': { kind: 'unreachable', why: 'x' },
    'temporary ReceiverTimedOut': { kind: 'timed-out', why: 'x' },
    'given-up': { kind: 'given-up' },
  };
  for (const [want, outcome] of Object.entries(others)) {
    test(`verdictOf() takes an attempt without an answer for ${want} (E-8, E-9)`, () => {
      assert.equal(said(outcome), want);
    });
  }

  const waits: Record<string, { given: CallbackOutcome; want: Millis | undefined }> = {
    'nothing where nothing is asked for': { given: answered(429), want: undefined },
    'what a 429 asks for': { given: answered(429, seconds(7)), want: seconds(7) },
    'what a 503 asks for': { given: answered(503, seconds(7)), want: seconds(7) },
    '10 min in full': { given: answered(429, minutes(10)), want: minutes(10) },
    'no more than 10 min': { given: answered(429, minutes(11)), want: minutes(10) },
    'no time that is past': { given: answered(429, seconds(-1)), want: seconds(0) },
  };
  for (const [fact, { given, want }] of Object.entries(waits)) {
    test(`verdictOf() waits ${fact} (E-9)`, () => {
      const verdict = verdictOf(given);
      assert.equal(verdict.kind === 'temporary' && verdict.retryAfter, want);
    });
  }

  test('verdictOf() tells what the receiver said, in one line (E-10)', () => {
    const verdict = verdictOf({ kind: 'answered', status: 404, excerpt: 'no such\nstage' });
    assert.deepEqual(verdict.kind === 'permanent' && verdict.because, {
      reason: 'CallbackRefused' satisfies CallbackReason,
      message: 'the receiver answers 404: "no such\\nstage"',
    });
  });
});

describe('nextAttempt()', () => {
  const failure: TemporaryFailure = {
    kind: 'temporary',
    because: { reason: 'ReceiverUnavailable', message: 'the receiver answers 503' },
  };
  const now = instant(1_700_000_000_000);

  /** Milliseconds until the next attempt; undefined where there is none. */
  function waitOf(attempts: number, random: number, retryAfter?: Millis): number | undefined {
    const asked = { ...failure, ...(retryAfter !== undefined && { retryAfter }) };
    const next = nextAttempt(asked, { attempts, mostAttempts: 20, now, random });
    return next.kind === 'attempt' ? next.at - now : undefined;
  }

  test('nextAttempt() doubles from 2 s to 5 min (E-12)', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 19].map((attempts) => waitOf(attempts, 0));
    const wanted = [2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300].map(seconds);
    assert.deepEqual(waits, wanted);
  });

  interface Case {
    readonly attempts: number;
    readonly random: number;
    readonly retryAfter?: Millis;
    readonly want: number;
  }
  const cases: Record<string, Case> = {
    'leaves a quarter out in the middle of chance': { attempts: 1, random: 0.5, want: 1_500 },
    'leaves nearly a half out at the end of chance': { attempts: 9, random: 0.999, want: 150_150 },
    'gives whole milliseconds': { attempts: 1, random: 0.333_33, want: 1_667 },
    'waits for the receiver in full': {
      attempts: 1,
      random: 0.9,
      retryAfter: minutes(10),
      want: 600_000,
    },
    'waits no shorter because the receiver would': {
      attempts: 4,
      random: 0,
      retryAfter: millis(0),
      want: 16_000,
    },
  };
  for (const [fact, { attempts, random, retryAfter, want }] of Object.entries(cases)) {
    test(`nextAttempt() ${fact} (E-9, E-12)`, () => {
      assert.equal(waitOf(attempts, random, retryAfter), want);
    });
  }

  test('nextAttempt() ends after 10 attempts by itself (E-12, E-13)', () => {
    const kinds = [9, 10, 11].map((attempts) => nextAttempt(failure, { attempts, now, random: 0 }));
    assert.deepEqual(
      kinds.map(({ kind }) => kind),
      ['attempt', 'used-up', 'used-up'],
    );
    assert.deepEqual(kinds[1]?.kind === 'used-up' && kinds[1].because, {
      reason: 'CallbackAttemptsUsedUp',
      message: 'given up after 10 attempts: the receiver answers 503',
    });
  });

  test('nextAttempt() ends after the configured number of attempts (E-12)', () => {
    const made = { attempts: 1, mostAttempts: 1, now, random: 0 };
    assert.equal(nextAttempt(failure, made).kind, 'used-up');
  });
});
