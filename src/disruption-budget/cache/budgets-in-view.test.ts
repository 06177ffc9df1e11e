import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BudgetBench, podOfIngester } from '#support/budgets/budget-bench.ts';
import { overIngester, selecting } from '#support/budgets/budget-server.ts';
import { podView } from '#support/objects/views.ts';
import { refusal } from '#support/rollouts/group-world.ts';

const notRead = 'ZoneAwarePodDisruptionBudgets cannot be read yet, and one might govern this pod';

interface Story {
  readonly happens: (bench: BudgetBench) => void | Promise<void>;
  /** @default the budget, generation 1 */
  readonly governing?: string;
}

const stories: Record<string, Story> = {
  'none in a cluster without budgets': { happens: () => undefined, governing: 'none' },
  'a budget that the watch shows': {
    happens: ({ server }) => {
      server.put();
      server.show();
    },
  },
  'a budget as it was changed': {
    happens: ({ server }) => {
      server.put();
      server.put({ generation: 2 });
      server.show();
    },
    governing: 'ingester ingester-uid 2',
  },
  'no budget that was deleted': {
    happens: ({ server }) => {
      server.put();
      server.drop();
      server.show();
    },
    governing: 'none',
  },
  'a budget that was made again under its name': {
    happens: ({ server }) => {
      server.put({ generation: 5 });
      server.drop();
      server.put({ uid: 'again' });
      server.show();
    },
    governing: 'ingester again 1',
  },
  'a budget that was made again while the watch was broken': {
    happens: ({ server }) => {
      server.put({ generation: 5 });
      server.show();
      server.drop();
      server.put({ uid: 'again' });
      server.relist();
    },
    governing: 'ingester again 1',
  },
  'no budget that was deleted while the watch was broken': {
    happens: ({ server }) => {
      server.put();
      server.show();
      server.drop();
      server.relist();
    },
    governing: 'none',
  },
  'no budget of another namespace': {
    happens: ({ server }) => {
      server.put({ namespace: 'other' });
      server.show();
    },
    governing: 'none',
  },
  'a budget that selects all pods': {
    happens: ({ server }) => {
      server.put({ spec: selecting({}) });
      server.show();
    },
  },
  'no budget that selects other pods': {
    happens: ({ server }) => {
      server.put({ spec: selecting({ 'rollout-group': 'other' }) });
      server.show();
    },
    governing: 'none',
  },
  'a budget behind one that selects other pods': {
    happens: ({ server }) => {
      server.put({ name: 'another', spec: selecting({ 'rollout-group': 'other' }) });
      server.put();
      server.show();
    },
  },
  'a budget whose selector cannot be understood': {
    happens: ({ server }) => {
      server.put({ spec: { selector: { matchLabels: 'all' } } });
      server.show();
    },
    governing:
      'ZoneAwarePodDisruptionBudget "ingester" cannot be read: invalid value: selector is not valid, got ' +
      '.spec.selector.matchLabels accessor error: all is of the type string, expected map[string]interface{}',
  },
  'that two do': {
    happens: ({ server }) => {
      server.put();
      server.put({ name: 'another' });
      server.show();
    },
    governing: 'multiple zoned pod disruption budgets found for pod',
  },
  'a budget that only a list has shown': {
    happens: async ({ server, look }) => {
      server.put();
      await look();
    },
  },
  'a budget as a list shows it, newer than the cache': {
    happens: async ({ server, look }) => {
      server.put();
      server.show();
      server.put({ generation: 2 });
      await look();
    },
    governing: 'ingester ingester-uid 2',
  },
  'no budget that a list lacks, and the cache still has': {
    happens: async ({ server, look }) => {
      server.put();
      server.show();
      server.drop();
      await look();
    },
    governing: 'none',
  },
  'the budget that was made again, where the cache still has the one before': {
    happens: async ({ server, look }) => {
      server.put({ generation: 5 });
      server.show();
      server.drop();
      server.put({ uid: 'again' });
      await look();
    },
    governing: 'ingester again 1',
  },
  'the budget of a list, while the cache catches up with what was before': {
    happens: async ({ server, look }) => {
      server.put();
      server.drop();
      server.put({ uid: 'again', generation: 3 });
      await look();
      server.show(1);
    },
    governing: 'ingester again 3',
  },
  'no budget of a list, while the cache catches up with what was before': {
    happens: async ({ server, look }) => {
      server.put();
      server.drop();
      await look();
      server.show(1);
    },
    governing: 'none',
  },
  'a budget as the cache shows it, newer than the list': {
    happens: async ({ server, look }) => {
      server.put();
      server.after = () => {
        server.put({ generation: 2 });
        server.show();
      };
      await look();
    },
    governing: 'ingester ingester-uid 2',
  },
  'no budget whose deletion the cache shows before the list is answered': {
    happens: async ({ server, look }) => {
      server.put();
      server.after = () => {
        server.drop();
        server.show();
      };
      await look();
    },
    governing: 'none',
  },
  'no budget of a list that the cache has passed without it': {
    happens: async ({ server, look }) => {
      server.put();
      await look();
      server.drop();
      server.relist();
    },
    governing: 'none',
  },
  'a budget of a list until the cache has reached it, and shows what was before': {
    happens: async ({ server, look }) => {
      server.put();
      await look();
      server.informer.freshness.delivered('100');
    },
  },
  'a budget of a list and the cache together once they agree': {
    happens: async ({ server, look }) => {
      server.put();
      await look();
      server.show();
    },
  },
};

for (const [what, { happens, governing = 'ingester ingester-uid 1' }] of Object.entries(stories)) {
  test(`BudgetsInView find ${what}`, async () => {
    const bench = new BudgetBench();
    await happens(bench);
    assert.equal(bench.governing(), governing);
  });
}

test('BudgetsInView keep what was valid of a budget that only a list shows to be broken', async () => {
  const bench = new BudgetBench();
  bench.server.put();
  bench.server.show();
  bench.server.put({ generation: 2, spec: { ...overIngester, maxUnavailable: -1 } });
  await bench.look();
  const [budget] = bench.budgets.list();
  assert.equal(budget?.problem, 'invalid value: max unavailable must be 0 <= val, got -1');
  assert.equal(bench.governing(), 'ingester ingester-uid 2');
  assert.deepEqual(budget.spec?.maxUnavailable, { kind: 'count', count: 1 });
});

test('BudgetsInView know nothing of a budget that was never valid, but what is wrong with it', () => {
  const bench = new BudgetBench();
  bench.server.put({ name: 'b', spec: null });
  bench.server.put({ name: 'c' });
  bench.server.show();
  assert.deepEqual(
    bench.budgets.list().map(({ name, problem, spec }) => [name, problem, spec === undefined]),
    [
      [
        'b',
        '.spec accessor error: <nil> is of the type <nil>, expected map[string]interface{}',
        true,
      ],
      ['c', undefined, false],
    ],
  );
});

test('BudgetsInView go by the labels of the pod, which its template need not have any more', () => {
  const bench = new BudgetBench();
  bench.server.put({
    spec: selecting({ 'statefulset.kubernetes.io/pod-name': 'ingester-zone-a-0' }),
  });
  bench.server.show();
  const derived = { 'statefulset.kubernetes.io/pod-name': '=' };
  assert.equal(bench.governing(podView({ labels: derived })), 'ingester ingester-uid 1');
  assert.equal(bench.governing(podView({ labels: {} })), 'none');
  assert.equal(bench.governing(podView({ name: 'ingester-zone-a-1', labels: derived })), 'none');
});

test('BudgetsInView are not clear while nothing could be read, as one might govern any pod (D-13)', async () => {
  const bench = new BudgetBench();
  bench.server.informer.hasSynced = false;
  assert.equal(bench.governing(), notRead);
  assert.equal(bench.provenAt(), 'unproven');
  bench.server.put();
  await bench.look();
  assert.equal(bench.governing(), 'ingester ingester-uid 1');
  assert.equal(bench.governing(podView({ namespace: 'other' })), notRead);
});

test('BudgetsInView are no part of the view where the Role does not permit listing them (D-51)', () => {
  const bench = new BudgetBench();
  bench.server.put();
  bench.server.show();
  bench.isPermitted = false;
  assert.deepEqual([bench.provenAt(), bench.governing()], ['not-permitted', 'none']);
  assert.deepEqual(bench.budgets.list(), []);
  bench.isPermitted = true;
  assert.equal(bench.governing(), 'ingester ingester-uid 1');
});

test('BudgetsInView ask for nothing that the Role does not permit [found R-26]', async () => {
  const bench = new BudgetBench();
  bench.isPermitted = false;
  bench.server.after = () => {
    throw refusal(403);
  };
  await bench.look();
  bench.isPermitted = true;
  await assert.rejects(bench.look(), { name: 'ApiError' });
});

test('BudgetsInView tell of what changes, once, by whatever way it comes', async () => {
  const bench = new BudgetBench();
  const { server } = bench;
  server.put();
  await bench.look();
  await bench.look();
  assert.deepEqual([bench.changes, bench.observed], [1, ['updated']]);
  server.show();
  assert.equal(bench.changes, 1, 'the cache shows the same');
  server.put({ generation: 2 });
  server.show();
  server.drop();
  server.show();
  assert.equal(bench.changes, 3);
  assert.deepEqual(bench.observed, ['updated', 'ignored', 'updated', 'deleted']);
});

test('BudgetsInView tell what is observed of each object of the cache', () => {
  const bench = new BudgetBench();
  const { server } = bench;
  server.put();
  server.put({ generation: 2, spec: null });
  server.put({ generation: 2, spec: null });
  server.put({ generation: 3 });
  server.drop();
  server.show();
  assert.deepEqual(bench.observed, ['updated', 'invalid', 'invalid', 'updated', 'deleted']);
});

test('BudgetsInView take over what the cache has already', () => {
  const bench = new BudgetBench();
  bench.server.put();
  bench.server.show();
  assert.equal(bench.follow().governing(podOfIngester).kind, 'one');
});

test('BudgetsInView list the budgets of a namespace, and all of them', () => {
  const bench = new BudgetBench();
  bench.server.put();
  bench.server.put({ namespace: 'other', name: 'another' });
  bench.server.show();
  const names = (namespace?: string): readonly string[] =>
    bench.budgets.list(namespace).map(({ name }) => name);
  assert.deepEqual([names('test'), names()], [['ingester'], ['ingester', 'another']]);
});
