import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonValue } from '#base/json.ts';
import { type BudgetAllowance, type Parallelism, parallelismOf, roomOf } from './plan-budget.ts';

function budget(given: {
  readonly max?: JsonValue;
  readonly min?: JsonValue;
  readonly allowed?: number;
  readonly name?: string;
}): Parameters<typeof parallelismOf>[0][number] {
  return {
    name: given.name ?? 'web',
    maxUnavailable: given.max,
    minAvailable: given.min,
    disruptionsAllowed: given.allowed,
    evictsUnready: false,
  };
}

describe('parallelismOf()', () => {
  const cases: Record<
    string,
    { readonly given: ReturnType<typeof budget>; readonly of: number; readonly want: number }
  > = {
    'takes a count as it is': { given: budget({ max: 2 }), of: 10, want: 2 },
    'rounds a percentage of pods that may be away up [T-30]': {
      given: budget({ max: '15%' }),
      of: 10,
      want: 2,
    },
    'rounds a percentage of pods that must stay up [T-30]': {
      given: budget({ min: '85%' }),
      of: 10,
      want: 1,
    },
    'leaves what must not stay': { given: budget({ min: 7 }), of: 10, want: 3 },
    'leaves nothing where more must stay than there are': {
      given: budget({ min: 11 }),
      of: 10,
      want: 0,
    },
    'lets nothing go by a budget of 0': { given: budget({ max: 0 }), of: 10, want: 0 },
    'lets all go by 100 percent': { given: budget({ max: '100%' }), of: 10, want: 10 },
    'lets nothing go by what is no percentage': { given: budget({ max: 'half' }), of: 10, want: 0 },
    'lets nothing go by a negative count': { given: budget({ max: -1 }), of: 10, want: 0 },
    'keeps all where what must stay is no count': { given: budget({ min: true }), of: 10, want: 0 },
    'keeps all where it says neither': { given: budget({}), of: 10, want: 0 },
    'has no rounding error at 7 percent of 100': { given: budget({ max: '7%' }), of: 100, want: 7 },
  };
  for (const [fact, { given, of, want }] of Object.entries(cases)) {
    test(`parallelismOf() ${fact}`, () => {
      const found = parallelismOf([given], of, 1);
      assert.equal(found.kind === 'budget' && found.most, want);
    });
  }

  test('parallelismOf() takes what is set where no budget selects the pods [T-32]', () => {
    assert.deepEqual(parallelismOf([], 10, 3), { kind: 'no-budget', most: 3 });
  });

  test('parallelismOf() names both budgets where two select the pods [T-33]', () => {
    const two = [budget({ max: 1, name: 'b' }), budget({ max: 2, name: 'a' })];
    assert.deepEqual(parallelismOf(two, 10, 1), { kind: 'many-budgets', names: ['a', 'b'] });
  });
});

describe('roomOf()', () => {
  const of = (most: number, allowed?: number): Parallelism => ({
    kind: 'budget',
    name: 'web',
    most,
    allowed,
  });
  const cases: Record<
    string,
    { readonly by: Parallelism; readonly away: number; readonly want: BudgetAllowance }
  > = {
    'is what the budget leaves': { by: of(5, 9), away: 2, want: { kind: 'room', slots: 3 } },
    'is no more than the server allows [T-34]': {
      by: of(5, 1),
      away: 0,
      want: { kind: 'room', slots: 1 },
    },
    'is nothing while the server allows none [T-34]': {
      by: of(5, 0),
      away: 0,
      want: { kind: 'room', slots: 0 },
    },
    'is nothing where more are away than may': {
      by: of(2, 2),
      away: 3,
      want: { kind: 'room', slots: 0 },
    },
    'is not known while the status of the budget is old [T-36]': {
      by: of(5),
      away: 0,
      want: { kind: 'unknown', budget: 'web' },
    },
    'is what is left without a budget': {
      by: { kind: 'no-budget', most: 1 },
      away: 1,
      want: { kind: 'room', slots: 0 },
    },
    'is none by two budgets': {
      by: { kind: 'many-budgets', names: ['a', 'b'] },
      away: 0,
      want: { kind: 'many-budgets', names: ['a', 'b'] },
    },
  };
  for (const [fact, { by, away, want }] of Object.entries(cases)) {
    test(`roomOf() ${fact}`, () => assert.deepEqual(roomOf(by, away), want));
  }
});
