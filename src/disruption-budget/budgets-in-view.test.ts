import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BudgetServer, overIngester, selecting } from '#testing/budget-server.ts';
import { refusal } from '#testing/group-world.ts';
import { podView } from '#testing/views.ts';
import { BudgetsInView } from './budgets-in-view.ts';
import { compilePattern } from './compile-pattern.ts';
import type { BudgetObservation } from './known-budgets.ts';

const { signal } = new AbortController();
const pod = podView({ labels: { 'rollout-group': 'ingester' } });
const notRead = 'ZoneAwarePodDisruptionBudgets cannot be read yet, and one might govern this pod';

class Bench {
  readonly server = new BudgetServer();
  readonly observed: BudgetObservation[] = [];
  isPermitted = true;
  /** How often it was told that something changed. */
  changes = 0;
  readonly budgets = this.follow();

  constructor() {
    this.budgets.onChange(() => {
      this.changes += 1;
    });
  }

  /** The budgets as they are seen from now on. */
  follow(): BudgetsInView {
    const { client, clock, informer } = this.server;
    return new BudgetsInView({
      client,
      clock,
      informer,
      isPermitted: () => this.isPermitted,
      compile: compilePattern,
      onObserved: (observation) => this.observed.push(observation),
    });
  }

  readonly look = (namespace = 'test'): Promise<void> => this.budgets.look(namespace, signal);

  /** Name, uid and generation of the budget that governs the pod, or why that is not clear. */
  governing(of = pod): string {
    const found = this.budgets.governing(of);
    if (found.kind === 'none') return 'none';
    if (found.kind === 'unclear') return found.text;
    const { name, uid, generation } = found.budget;
    return `${name} ${uid} ${generation}`;
  }

  provenAt(namespace = 'test'): number | string {
    const proof = this.budgets.proof(namespace);
    return proof.kind === 'proven' ? proof.provenAt - start : proof.kind;
  }
}

const start = new BudgetServer().clock.monotonic();

interface Story {
  readonly happens: (bench: Bench) => void | Promise<void>;
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
    const bench = new Bench();
    await happens(bench);
    assert.equal(bench.governing(), governing);
  });
}

test('BudgetsInView keep what was valid of a budget that only a list shows to be broken', async () => {
  const bench = new Bench();
  bench.server.put();
  bench.server.show();
  bench.server.put({ generation: 2, spec: { ...overIngester, maxUnavailable: -1 } });
  await bench.look();
  const [problem] = bench.budgets.problems();
  assert.equal(
    problem?.text,
    'ZoneAwarePodDisruptionBudget "test/ingester" cannot be read: ' +
      'invalid value: max unavailable must be 0 <= val, got -1; until it is corrected, what it said before counts',
  );
  assert.equal(bench.governing(), 'ingester ingester-uid 2');
  assert.deepEqual(problem.budget.spec?.maxUnavailable, { kind: 'count', count: 1 });
});

test('BudgetsInView say of a budget that was never valid that nothing is disrupted', () => {
  const bench = new Bench();
  bench.server.put({ name: 'b', spec: null });
  bench.server.put({ name: 'c' });
  bench.server.show();
  assert.deepEqual(
    bench.budgets.problems().map(({ text }) => text),
    [
      'ZoneAwarePodDisruptionBudget "test/b" cannot be read: .spec accessor error: <nil> is of the type <nil>, ' +
        'expected map[string]interface{}; until it is corrected, no pod that it may govern is disrupted',
    ],
  );
});

test('BudgetsInView go by the labels of the pod, which its template need not have any more', () => {
  const bench = new Bench();
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
  const bench = new Bench();
  bench.server.informer.hasSynced = false;
  assert.equal(bench.governing(), notRead);
  assert.equal(bench.provenAt(), 'unproven');
  bench.server.put();
  await bench.look();
  assert.equal(bench.governing(), 'ingester ingester-uid 1');
  assert.equal(bench.governing(podView({ namespace: 'other' })), notRead);
});

test('BudgetsInView are no part of the view where the Role does not permit to list them (D-51)', () => {
  const bench = new Bench();
  bench.server.put();
  bench.server.show();
  bench.isPermitted = false;
  assert.deepEqual([bench.provenAt(), bench.governing()], ['not-permitted', 'none']);
  assert.deepEqual(bench.budgets.list(), []);
  bench.isPermitted = true;
  assert.equal(bench.governing(), 'ingester ingester-uid 1');
});

test('BudgetsInView are proven by a list of the namespace, from its sending, for as long as it is the newest (D-51)', async () => {
  const bench = new Bench();
  const { server } = bench;
  assert.equal(bench.provenAt(), 'unproven');
  server.put();
  await server.clock.advance(200);
  server.atSend = () => server.clock.advance(300);
  server.after = () => server.clock.advance(400);
  await bench.look();
  assert.deepEqual(server.requests, ['zoneawarepoddisruptionbudgets of test']);
  assert.equal(bench.provenAt(), 500);
  assert.equal(bench.provenAt('other'), 'unproven', 'the cache has not reached the list');
  server.show();
  assert.equal(bench.provenAt('other'), 500, 'the cache has');
  await server.clock.advance(1_000);
  server.relist();
  assert.equal(bench.provenAt(), 1_900);
});

test('BudgetsInView prove nothing by a list that fails', async () => {
  const bench = new Bench();
  bench.server.after = () => {
    throw refusal(503);
  };
  await assert.rejects(bench.look(), { name: 'ApiError' });
  assert.equal(bench.provenAt(), 'unproven');
});

test('BudgetsInView trust no list that is older than what the cache had been shown before it was sent (D-6)', async () => {
  const bench = new Bench();
  bench.server.informer.freshness.delivered('5000');
  await bench.server.clock.advance(1);
  await assert.rejects(bench.look(), { name: 'RevisionWentBackError' });
  assert.equal(bench.provenAt(), 'unproven');
});

test('BudgetsInView are proven by a server without the type, which may be installed later (D-51)', async () => {
  const bench = new Bench();
  const { server } = bench;
  server.isInstalled = false;
  await bench.look();
  assert.deepEqual([bench.provenAt(), bench.governing()], [0, 'none']);
  server.isInstalled = true;
  server.put();
  await server.clock.advance(10);
  await bench.look();
  assert.deepEqual([bench.provenAt(), bench.governing()], [10, 'ingester ingester-uid 1']);
});

test('BudgetsInView look whether a type that was absent is there now, and list it before its cache does', async () => {
  const bench = new Bench();
  const { server } = bench;
  const { informer } = server;
  server.uninstall();
  assert.deepEqual([bench.provenAt(), bench.governing()], [0, 'none']);
  await server.clock.advance(10);
  informer.onLook = () => {
    informer.absence = { provenAt: server.clock.monotonic() };
  };
  await bench.look();
  assert.deepEqual([bench.provenAt(), server.requests], [10, []]);
  await server.clock.advance(10);
  informer.onLook = () => {
    informer.absence = undefined;
    informer.hasSynced = false;
    informer.tellState();
  };
  server.isInstalled = true;
  server.put();
  await bench.look();
  assert.deepEqual([bench.provenAt(), bench.governing()], [20, 'ingester ingester-uid 1']);
});

test('BudgetsInView know nothing of a type that went and came again until it is read', async () => {
  const bench = new Bench();
  const { server } = bench;
  server.put();
  await bench.look();
  await server.clock.advance(10);
  server.uninstall();
  assert.deepEqual([bench.provenAt(), bench.governing()], [10, 'none']);
  server.informer.absence = undefined;
  server.informer.hasSynced = false;
  server.informer.tellState();
  assert.deepEqual([bench.provenAt(), bench.governing()], ['unproven', notRead]);
});

test('BudgetsInView share one list among all who ask before it is sent, and none that was sent before', async () => {
  const bench = new Bench();
  const { server } = bench;
  server.atSend = () => server.clock.yield();
  const held = Promise.withResolvers<void>();
  server.after = () => held.promise;
  const first = [bench.look(), bench.look(), bench.look()];
  await server.clock.settle();
  assert.equal(server.requests.length, 1);
  server.put();
  const later = [bench.look(), bench.look()];
  held.resolve();
  await Promise.all(first);
  assert.equal(bench.governing(), 'none');
  await Promise.all(later);
  assert.equal(server.requests.length, 2);
  assert.equal(bench.governing(), 'ingester ingester-uid 1');
});

test('BudgetsInView are not set back by a list that was answered late', async () => {
  const bench = new Bench();
  const { server } = bench;
  const held = Promise.withResolvers<void>();
  server.after = () => held.promise;
  const hanging = bench.look();
  await server.clock.settle();
  server.after = () => undefined;
  server.put();
  const beside = bench.look();
  await server.clock.advance(1_000);
  await beside;
  assert.equal(bench.provenAt(), 1_000);
  held.resolve();
  await hanging;
  assert.deepEqual([bench.provenAt(), bench.governing()], [1_000, 'ingester ingester-uid 1']);
});

test('BudgetsInView know what the newer of two lists showed, although the other was sent after it', async () => {
  const bench = new Bench();
  const { server } = bench;
  const held = Promise.withResolvers<void>();
  server.before = () => held.promise;
  const slow = bench.look();
  await server.clock.settle();
  server.before = () => undefined;
  const beside = bench.look();
  await server.clock.advance(1_000);
  await beside;
  server.put();
  held.resolve();
  await slow;
  assert.deepEqual([bench.provenAt(), bench.governing()], [1_000, 'ingester ingester-uid 1']);
});

test('BudgetsInView tell of what changes, once, by whatever way it comes', async () => {
  const bench = new Bench();
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
  const bench = new Bench();
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
  const bench = new Bench();
  bench.server.put();
  bench.server.show();
  assert.equal(bench.follow().governing(pod).kind, 'one');
});

test('BudgetsInView list the budgets of a namespace, and all of them', () => {
  const bench = new Bench();
  bench.server.put();
  bench.server.put({ namespace: 'other', name: 'another' });
  bench.server.show();
  const names = (namespace?: string): readonly string[] =>
    bench.budgets.list(namespace).map(({ name }) => name);
  assert.deepEqual([names('test'), names()], [['ingester'], ['ingester', 'another']]);
});
