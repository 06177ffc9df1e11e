import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { judgeEviction, withDisruption } from './judge-eviction.ts';

function pod(phase: string, isReady: boolean, metadata: JsonObject = {}): JsonObject {
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
  return { metadata: { name: 'web-0', ...metadata }, status: { phase, conditions } };
}

function budget(status: JsonObject, spec: JsonObject = {}): JsonObject {
  return {
    metadata: { name: 'web', generation: 2 },
    spec,
    status: { observedGeneration: 2, desiredHealthy: 2, currentHealthy: 3, ...status },
  };
}

const running = pod('Running', true);
const allowing = budget({ disruptionsAllowed: 1 });
const exhausted = budget({ disruptionsAllowed: 0, currentHealthy: 2 });

interface Case {
  readonly pod: JsonObject;
  readonly budgets: readonly JsonObject[];
  readonly verdict: string;
}

const cases: Readonly<Record<string, Case>> = {
  'lets a pod go that no budget selects': { pod: running, budgets: [], verdict: 'delete' },
  'lets a finished pod go': {
    pod: pod('Failed', false),
    budgets: [exhausted],
    verdict: 'delete',
  },
  'lets a pod go that is leaving already': {
    pod: pod('Running', true, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    budgets: [exhausted],
    verdict: 'delete',
  },
  'lets a pending pod go only as it was read': {
    pod: pod('Pending', false),
    budgets: [exhausted],
    verdict: 'delete guarded',
  },
  'cannot choose between two budgets': {
    pod: running,
    budgets: [allowing, allowing],
    verdict: 'ambiguous',
  },
  'takes a disruption of a budget that has one': {
    pod: running,
    budgets: [allowing],
    verdict: 'consume',
  },
  'refuses where none is left': {
    pod: running,
    budgets: [exhausted],
    verdict: '429 The disruption budget web needs 2 healthy pods and has 2 currently',
  },
  'refuses for ten seconds while the budget is new': {
    pod: running,
    budgets: [budget({ observedGeneration: 1, disruptionsAllowed: 1 })],
    verdict: '429 The disruption budget web is still being processed by the server. (10 s)',
  },
  'refuses a negative allowance': {
    pod: running,
    budgets: [budget({ disruptionsAllowed: -1 })],
    verdict: '403 ',
  },
  'lets an unready pod go while enough are healthy': {
    pod: pod('Running', false),
    budgets: [exhausted],
    verdict: 'delete guarded',
  },
  'refuses an unready pod while too few are healthy': {
    pod: pod('Running', false),
    budgets: [budget({ disruptionsAllowed: 0, currentHealthy: 1 })],
    verdict: '429 The disruption budget web needs 2 healthy pods and has 1 currently',
  },
  'lets an unready pod go under AlwaysAllow': {
    pod: pod('Running', false),
    budgets: [
      budget(
        { disruptionsAllowed: 0, currentHealthy: 1 },
        { unhealthyPodEvictionPolicy: 'AlwaysAllow' },
      ),
    ],
    verdict: 'delete guarded',
  },
};

function textOf(verdict: ReturnType<typeof judgeEviction>): string {
  if (verdict.kind === 'delete') return verdict.isGuarded ? 'delete guarded' : 'delete';
  if (verdict.kind !== 'refuse') return verdict.kind;
  const { code, details = {} } = verdict.error;
  const retry = details.retryAfterSeconds === undefined ? '' : ` (${details.retryAfterSeconds} s)`;
  return `${code} ${details.causes?.[0]?.message ?? ''}${retry}`;
}

for (const [name, { pod: evicted, budgets, verdict }] of Object.entries(cases)) {
  test(`judgeEviction() ${name}`, () => {
    assert.equal(textOf(judgeEviction(evicted, budgets)), verdict);
  });
}

test('withDisruption() counts down and notes the pod with the time', () => {
  const now = '2026-01-01T00:00:00Z';
  assert.deepEqual(withDisruption(allowing, { pod: 'web-0', now })['status'], {
    observedGeneration: 2,
    desiredHealthy: 2,
    currentHealthy: 3,
    disruptionsAllowed: 0,
    disruptedPods: { 'web-0': now },
    conditions: [
      {
        type: 'DisruptionAllowed',
        status: 'False',
        observedGeneration: 2,
        lastTransitionTime: now,
        reason: 'InsufficientPods',
        message: '',
      },
    ],
  });
});

test('withDisruption() leaves the condition alone while more is allowed', () => {
  const now = '2026-01-01T00:00:00Z';
  const roomy = budget({ disruptionsAllowed: 2 });
  assert.deepEqual(withDisruption(roomy, { pod: 'web-0', now })['status'], {
    observedGeneration: 2,
    desiredHealthy: 2,
    currentHealthy: 3,
    disruptionsAllowed: 1,
    disruptedPods: { 'web-0': now },
  });
});
