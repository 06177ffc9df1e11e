import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AskedBudget, askBudgets } from './ask-budgets.ts';
import type { ZoneBudgetVerdict } from './eviction-verdict.ts';

type Answer = 'yes' | 'no';

/** Budgets that answer a dry run, and then the eviction itself, as they are told to; and what they were asked. */
class Asked {
  readonly asked: string[] = [];

  budget(
    name: string,
    answers: readonly [tried: Answer, asked?: Answer],
    isDryRun = false,
  ): AskedBudget {
    const budget = { kind: 'ZoneDisruptionBudget', namespace: 'test', name, uid: name } as const;
    return {
      name,
      isDryRun,
      ask: (isTrial): Promise<ZoneBudgetVerdict> => {
        this.asked.push(`${name}${isTrial ? '?' : '!'}`);
        const answer = (isTrial ? undefined : answers[1]) ?? answers[0];
        const common = { budget, isDryRun };
        return Promise.resolve(
          answer === 'yes'
            ? { ...common, kind: 'allowed', isRepeated: false }
            : { ...common, kind: 'denied', denial: { kind: 'nothing-allowed' } },
        );
      },
    };
  }
}

interface Case {
  readonly budgets: (asked: Asked) => readonly AskedBudget[];
  readonly isDryRun?: boolean;
  /** What each was asked: `?` whether it would allow it, `!` to record it. */
  readonly asks: string;
  readonly says: string;
}

const cases: Record<string, Case> = {
  'asks one at once': {
    budgets: (of) => [of.budget('a', ['yes'])],
    asks: 'a!',
    says: 'a allowed',
  },
  'only asks one whether it would, in a dry run': {
    budgets: (of) => [of.budget('a', ['yes'])],
    isDryRun: true,
    asks: 'a?',
    says: 'a allowed',
  },
  'only asks one whether it would that is a dry run itself [zau 74]': {
    budgets: (of) => [of.budget('a', ['no'], true)],
    asks: 'a?',
    says: 'a denied',
  },
  'records under none where one of two would refuse [zau 90]': {
    budgets: (of) => [of.budget('b', ['no']), of.budget('a', ['yes'])],
    asks: 'a? b?',
    says: 'a allowed, b denied',
  },
  'records under both where both would allow [zau 90]': {
    budgets: (of) => [of.budget('b', ['yes']), of.budget('a', ['yes'])],
    asks: 'a? b? a! b!',
    says: 'a allowed, b allowed',
  },
  'goes on past one that is a dry run, and records nothing under it': {
    budgets: (of) => [of.budget('a', ['no'], true), of.budget('b', ['yes'])],
    asks: 'a? b? b!',
    says: 'a denied, b allowed',
  },
  'records under none in a dry run of two': {
    budgets: (of) => [of.budget('a', ['yes']), of.budget('b', ['yes'])],
    isDryRun: true,
    asks: 'a? b?',
    says: 'a allowed, b allowed',
  },
  'asks no further than the first that has changed its mind': {
    budgets: (of) => [of.budget('a', ['yes', 'no']), of.budget('b', ['yes'])],
    asks: 'a? b? a!',
    says: 'a denied',
  },
  'asks nothing where there is none': { budgets: () => [], asks: '', says: '' },
};
for (const [fact, { budgets, isDryRun = false, asks, says }] of Object.entries(cases)) {
  test(`askBudgets() ${fact}`, async () => {
    const asked = new Asked();
    const verdicts = await askBudgets(budgets(asked), { isDryRun });
    assert.equal(asked.asked.join(' '), asks);
    assert.equal(verdicts.map(({ budget, kind }) => `${budget.name} ${kind}`).join(', '), says);
  });
}
