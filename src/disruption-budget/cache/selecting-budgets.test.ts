import assert from 'node:assert/strict';
import { test } from 'node:test';
import { budgetOver } from '#support/objects/budgets.ts';
import { podView } from '#support/objects/views.ts';
import { compilePattern } from '../pattern/compile-pattern.ts';
import { KnownBudgets } from '../spec/known-budgets.ts';
import { SelectingBudgets } from './selecting-budgets.ts';

test('of() looks at the labels of a template once, however many pods have them', () => {
  const known = new KnownBudgets(compilePattern);
  const zones = Array.from({ length: 50 }, (_, index) => `store-${index}`);
  for (const app of zones) {
    known.put({
      ...budgetOver(app, { app }),
      metadata: { namespace: 'test', name: app, uid: app },
    });
  }
  let looks = 0;
  const templates = zones.map(
    (app) =>
      new Proxy(
        { app },
        {
          ownKeys: (labels) => {
            looks += 1;
            return Reflect.ownKeys(labels);
          },
        },
      ),
  );
  const among = new SelectingBudgets(known.list());
  const selecting = templates.flatMap((labels) =>
    Array.from({ length: 20 }, (_, index) => {
      const name = `${labels.app}-${index}`;
      return among.of(podView({ namespace: 'test', name, labels })).map((budget) => budget.name);
    }),
  );
  assert.deepEqual(
    selecting,
    zones.flatMap((app) => Array.from({ length: 20 }, () => [app])),
  );
  assert.equal(looks, zones.length);
});
