import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { instant } from '#base/units.ts';
import {
  checkStateOf,
  formatStatus,
  parseStatus,
  type RolloutStatus,
  type Step,
} from './status.ts';

const T0 = instant(Date.UTC(2026, 0, 31, 12));

const step: Step = {
  status: 'WaitForChecks',
  partition: 2,
  analysisStart: T0,
  lastCheck: instant(T0 + 10_999),
  consecutiveSuccesses: 1,
  consecutiveFailures: 0,
  totalFailures: 3,
};

const rolling: RolloutStatus = {
  phase: 'Rolling',
  updateRevision: 'web-B',
  rolloutStart: instant(T0 - 1),
  rolloutEnd: undefined,
  step,
};

const empty: RolloutStatus = {
  phase: '',
  updateRevision: undefined,
  rolloutStart: undefined,
  rolloutEnd: undefined,
  step: undefined,
};

const stored: JsonObject = {
  phase: 'Rolling',
  updateRevision: 'web-B',
  rolloutStartTime: '2026-01-31T11:59:59Z',
  rollingPodStatus: {
    status: 'WaitForChecks',
    partition: 2,
    analisysStartTime: '2026-01-31T12:00:00Z',
    lastCheckTime: '2026-01-31T12:00:10Z',
    consecutiveSuccessfulChecks: 1,
    consecutiveFailedChecks: 0,
    totalFailedChecks: 3,
  },
};

test('formatStatus() writes times of whole seconds, cut off, and nothing for what is not set', () => {
  assert.deepEqual(formatStatus(rolling), stored);
  assert.deepEqual(formatStatus(empty), { phase: '' });
});

test('formatStatus() stores the largest count that the definition permits rather than one more', () => {
  const most = 2 ** 31 - 1;
  const counts = {
    consecutiveSuccesses: most + 1,
    consecutiveFailures: most + 2,
    totalFailures: most,
  };
  const { rollingPodStatus } = formatStatus({ ...rolling, step: { ...step, ...counts } });
  const { consecutiveSuccessfulChecks, consecutiveFailedChecks, totalFailedChecks } =
    rollingPodStatus as JsonObject;
  assert.deepEqual(
    [consecutiveSuccessfulChecks, consecutiveFailedChecks, totalFailedChecks],
    [most, most, most],
  );
});

describe('parseStatus()', () => {
  test('parseStatus() reads what was written', () => {
    const read = parseStatus({ status: stored });
    assert.deepEqual(formatStatus(read), stored);
    assert.deepEqual(read.step?.lastCheck, instant(T0 + 10_000));
  });

  const cases: Record<string, { status?: JsonObject['status']; want: RolloutStatus }> = {
    'reads nothing where there is none': { want: empty },
    'reads nothing from a text': { status: 'Rolling', want: empty },
    'does not know another phase': { status: { phase: 'Odd' }, want: empty },
    'takes a step of an unknown status for none': {
      status: { rollingPodStatus: { status: 'Odd', partition: 1 } },
      want: empty,
    },
    'takes a step without a partition for none': {
      status: { rollingPodStatus: { status: 'WaitForChecks' } },
      want: empty,
    },
    'takes a time that is none for not set': {
      status: { rolloutStartTime: 'yesterday', rolloutEndTime: null },
      want: empty,
    },
  };
  for (const [fact, { status, want }] of Object.entries(cases)) {
    test(`parseStatus() ${fact}`, () => {
      assert.deepEqual(parseStatus(status === undefined ? {} : { status }), want);
    });
  }

  test('parseStatus() makes no count of what is none', () => {
    for (const odd of [-1, 1.5, '2', null, {}]) {
      const rollingPodStatus = {
        status: 'WaitForChecks',
        partition: 0,
        consecutiveSuccessfulChecks: odd,
      };
      assert.equal(parseStatus({ status: { rollingPodStatus } }).step?.consecutiveSuccesses, 0);
    }
  });

  test('parseStatus() reads anything, and what it writes of it reads the same again', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const status: unknown = JSON.parse(text);
        if (!isJsonObject(status)) return;
        const read = parseStatus({ status });
        assert.deepEqual(parseStatus({ status: formatStatus(read) }), read);
      }),
      { numRuns: 200 },
    );
  });
});

describe('checkStateOf()', () => {
  test('checkStateOf() continues the counts of a step', () => {
    assert.deepEqual(checkStateOf(step, 'uid/web-B'), {
      subject: `uid/web-B/2/${T0}`,
      began: T0,
      passes: 1,
      failures: 0,
      totalFailures: 3,
      errors: 0,
      lastAnswer: step.lastCheck,
    });
  });

  test('checkStateOf() asks nothing before all pods are available', () => {
    for (const status of ['WaitForPodToBeUpdated', 'WaitForAllPodsToBeAvailable'] as const) {
      assert.equal(checkStateOf({ ...step, status }, 'uid/web-B'), undefined);
    }
    assert.equal(checkStateOf({ ...step, analysisStart: undefined }, 'uid/web-B'), undefined);
  });

  test('checkStateOf() tells steps, revisions and beginnings apart', () => {
    const subjects = [
      checkStateOf(step, 'uid/web-B'),
      checkStateOf(step, 'uid/web-C'),
      checkStateOf({ ...step, partition: 1 }, 'uid/web-B'),
      checkStateOf({ ...step, analysisStart: instant(T0 + 5_000) }, 'uid/web-B'),
    ].map((state) => state?.subject);
    assert.equal(new Set(subjects).size, 4);
  });
});
