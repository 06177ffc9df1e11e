import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Monotonic, monotonic } from '#base/units.ts';
import { request } from '#support/budgets/budgeted-zones.ts';
import { askLedger } from './ask-ledger.ts';
import type { DisruptionLedger } from './disruption-ledger.ts';
import type { LedgerAnswer } from './ledger-questions.ts';

const { signal } = new AbortController();

test('askLedger() has the view proven since the latest of what it is to show, for all that ask at once', async () => {
  const proven: (Monotonic | undefined)[] = [];
  const since = new Map([
    ['ingester-zone-a-0', monotonic(5)],
    ['ingester-zone-a-1', monotonic(9)],
  ]);
  const ask: DisruptionLedger['ask'] = ({ pod }) =>
    Promise.resolve<LedgerAnswer>(
      proven.length === 0
        ? { kind: 'unproven', since: since.get(pod.name) }
        : { kind: 'allowed', isRepeated: false },
    );
  const prove = async (_: AbortSignal, at: Monotonic | undefined): Promise<void> => {
    proven.push(at);
  };
  const answers = await askLedger({ ask }, [request('a-0'), request('a-1')], { prove, signal });
  assert.deepEqual(
    answers.map(({ kind }) => kind),
    ['allowed', 'allowed'],
  );
  assert.deepEqual(proven, [9]);
});
