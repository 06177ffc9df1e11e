import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Monotonic, monotonic } from '#base/units.ts';
import type { LedgerAnswer } from '#control/ledger-questions.ts';
import { budget, request } from '#testing/budgeted-zones.ts';
import { askLedger } from './ask-ledger.ts';
import type { BudgetLedger } from './budget-ledgers.ts';

type Asked = BudgetLedger['ledger'];

const { signal } = new AbortController();
const scope = { namespace: 'test', matchLabels: new Map<string, string>() };

test('askLedger() has the view proven since the latest of what it is to show, for all that ask at once', async () => {
  const proven: (Monotonic | undefined)[] = [];
  const since = new Map([
    ['ingester-zone-a-0', monotonic(5)],
    ['ingester-zone-a-1', monotonic(9)],
  ]);
  const ask: Asked['ask'] = ({ pod }) =>
    Promise.resolve<LedgerAnswer>(
      proven.length === 0
        ? { kind: 'unproven', since: since.get(pod.name) }
        : { kind: 'allowed', isRepeated: false },
    );
  const prove = async (_: unknown, __: AbortSignal, at?: Monotonic): Promise<void> => {
    proven.push(at);
  };
  const asked = { budget: budget(), scope, ledger: { ask } as Asked };
  const answers = await askLedger(asked, [request('a-0'), request('a-1')], {
    sets: { prove },
    signal,
  });
  assert.deepEqual(
    answers.map(({ kind }) => kind),
    ['allowed', 'allowed'],
  );
  assert.deepEqual(proven, [9]);
});
