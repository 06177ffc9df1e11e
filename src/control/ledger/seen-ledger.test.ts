import assert from 'node:assert/strict';
import { test } from 'node:test';
import { budget } from '#support/budgets/budgeted-zones.ts';
import { SeenLedger } from './seen-ledger.ts';

test('SeenLedger doubts what any write of one version may take out that got no answer', () => {
  const seen = new SeenLedger(budget().ref, 'ConfigMap ops/ledger');
  seen.writes(new Set(['one']));
  seen.writes(new Set(['other']));
  assert.deepEqual([...seen.doubtful], ['one', 'other']);
});
