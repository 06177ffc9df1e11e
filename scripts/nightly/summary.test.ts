import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StageResult } from './stage.ts';
import { summarize } from './summary.ts';

const passed: StageResult = {
  name: 'mutants control',
  verdict: 'passed',
  seconds: 61,
  counted: '12 of 12 planted bugs caught',
  skips: [],
  why: '',
  log: '/cache/mutants_control.log',
};

const failed: StageResult = {
  name: 'real oldest admission',
  verdict: 'failed',
  seconds: 3_725,
  counted: '3 passed, 1 failed, 2 skipped',
  skips: ['2 skipped: there is no consul in PATH'],
  why: 'last line\nof the log',
  log: '/cache/real_oldest_admission.log',
};

test('summarize() says what ran, what failed and why, what was skipped and why, and what has not run', () => {
  const text = summarize({
    state: 'abc123',
    chosen: ['mutants control', 'real oldest admission', 'sweep budgeted'],
    left: ['fuzz', 'ok'],
    results: new Map([passed, failed].map((result) => [result.name, result])),
  });
  assert.equal(
    text,
    `The night of abc123

passed     0:01:01  mutants control        12 of 12 planted bugs caught
FAILED     1:02:05  real oldest admission  3 passed, 1 failed, 2 skipped
                   2 skipped: there is no consul in PATH
not run              sweep budgeted

real oldest admission (all of it: /cache/real_oldest_admission.log)
last line
of the log

1 stages passed, 1 failed, 1 not run yet, 2 not chosen; 1:03:06 in all
`,
  );
});
