import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from '#base/json.ts';
import type { SetSnapshot } from '#control/group-sets.ts';
import type { Client, ListResult } from '#kubernetes/client.ts';
import { InformerFreshness } from '#kubernetes/informer-freshness.ts';
import { FakeClock } from '#testing/fake-clock.ts';
import { GroupWorld, refusal } from '#testing/group-world.ts';
import { statefulSetView } from '#testing/views.ts';
import { type BudgetView, ForeignBudgets, parseBudget } from './foreign-budget.ts';

const set = statefulSetView({
  namespace: 'test',
  name: 'ingester-zone-a',
  spec: { templateLabels: { app: 'ingester' } },
});
const sets: readonly SetSnapshot[] = [{ set, pods: [], orphans: [] }];

function budget(selector: JsonValue, namespace = 'test'): BudgetView {
  const metadata = { namespace, name: 'ingester-budget', uid: 'u', resourceVersion: '7' };
  return parseBudget({ metadata, spec: { selector } });
}

interface Sight {
  readonly clock: FakeClock;
  readonly freshness: InformerFreshness;
  readonly requests: string[];
  readonly budgets: ForeignBudgets;
  /** What the server answers to a list. */
  answer: () => ListResult;
}

interface SightOptions {
  readonly cached?: readonly BudgetView[];
  readonly hasSynced?: boolean;
  readonly isPermitted?: boolean;
}

function sight({ cached = [], hasSynced = true, isPermitted = true }: SightOptions = {}): Sight {
  const clock = new FakeClock(1_000);
  const freshness = new InformerFreshness(clock, 'budgets');
  const lister = { size: cached.length, get: () => undefined, list: () => cached, by: () => [] };
  const requests: string[] = [];
  const list: Client['list'] = ({ plural }, { namespace }, options) => {
    options?.beforeSend?.();
    requests.push(`${plural} of ${namespace}`);
    return Promise.resolve().then(() => made.answer());
  };
  const client = { ...new GroupWorld({ sets: [], pods: [] }).client, list };
  const informer = {
    hasSynced,
    lister,
    freshness,
    isAbsent: false,
    absence: undefined,
    look: () => Promise.resolve(),
  };
  const budgets = new ForeignBudgets({ client, clock, informer, isPermitted });
  const made: Sight = { clock, freshness, requests, budgets, answer: () => listOf([]) };
  return made;
}

function listOf(selectors: readonly JsonValue[]): ListResult {
  const items = selectors.map((selector) => ({
    metadata: { namespace: 'test', name: 'listed', uid: 'l', resourceVersion: '55' },
    spec: { selector },
  }));
  return { resourceVersion: '60', items };
}

function reasonOf(cached: readonly BudgetView[], hasSynced = true): string | undefined {
  return sight({ cached, hasSynced }).budgets.over(sets);
}

const ingester = { matchLabels: { app: 'ingester' } };

const cases: Record<
  string,
  { readonly budgets: readonly BudgetView[]; readonly governs: boolean }
> = {
  'a cluster without budgets': { budgets: [], governs: false },
  'a budget that selects the pods': { budgets: [budget(ingester)], governs: true },
  'a budget that selects all pods': { budgets: [budget({})], governs: true },
  'a budget whose selector cannot be understood': {
    budgets: [budget({ matchExpressions: [{ key: 'app', operator: 'Like' }] })],
    governs: true,
  },
  'a budget behind one that selects other pods': {
    budgets: [budget({ matchLabels: { app: 'other' } }), budget(ingester)],
    governs: true,
  },
  'a budget that selects other pods': {
    budgets: [budget({ matchLabels: { app: 'other' } })],
    governs: false,
  },
  'a budget of another namespace': { budgets: [budget(ingester, 'other')], governs: false },
};

for (const [what, { budgets, governs }] of Object.entries(cases)) {
  test(`ForeignBudgets ${governs ? 'forbids' : 'permits'} the rollout under ${what} (D-13)`, () => {
    assert.equal(reasonOf(budgets) !== undefined, governs);
  });
}

test('ForeignBudgets forbids the rollout while budgets cannot be read (D-13)', () => {
  assert.equal(
    reasonOf([], false),
    'ZoneAwarePodDisruptionBudgets cannot be read yet, and one might govern this group; see the log for the reason',
  );
});

test('ForeignBudgets names the budget and the set', () => {
  assert.equal(
    reasonOf([budget(ingester)]),
    'ZoneAwarePodDisruptionBudget "ingester-budget" selects the pods of StatefulSet "ingester-zone-a", ' +
      'and this version does not have that capability; the group is not rolled without it',
  );
});

const KEY = 'test/ingester';
const { signal } = new AbortController();

test('ForeignBudgets is proven by a list of the namespace, from its sending, for as long as it is the newest (D-51)', async () => {
  const at = sight();
  assert.deepEqual(at.budgets.proof(KEY), { kind: 'unproven' });
  await at.clock.advance(500);
  await at.budgets.look(KEY, signal);
  assert.deepEqual(at.requests, ['zoneawarepoddisruptionbudgets of test']);
  assert.deepEqual(at.budgets.proof(KEY), { kind: 'proven', provenAt: 1_500 });
  assert.deepEqual(at.budgets.proof('other/ingester'), { kind: 'unproven' });
});

test('ForeignBudgets is proven by a server that does not have the type, which may be installed later (D-51)', async () => {
  const at = sight();
  at.answer = () => {
    throw refusal(404);
  };
  await at.budgets.look(KEY, signal);
  assert.deepEqual(at.budgets.proof(KEY), { kind: 'proven', provenAt: 1_000 });
  assert.equal(at.budgets.over(sets), undefined);
  at.answer = () => listOf([ingester]);
  await at.budgets.look(KEY, signal);
  assert.match(at.budgets.over(sets) ?? '', /^ZoneAwarePodDisruptionBudget "listed" selects/);
});

test('ForeignBudgets proves nothing by a list that fails', async () => {
  const at = sight();
  at.answer = () => {
    throw refusal(503);
  };
  await assert.rejects(at.budgets.look(KEY, signal));
  assert.deepEqual(at.budgets.proof(KEY), { kind: 'unproven' });
});

test('ForeignBudgets lets a listed budget count until the cache has passed the list, then the cache alone', async () => {
  const at = sight();
  at.answer = () => listOf([ingester]);
  await at.budgets.look(KEY, signal);
  at.freshness.delivered('59');
  assert.notEqual(at.budgets.over(sets), undefined);
  at.freshness.delivered('61');
  assert.equal(at.budgets.over(sets), undefined);
});

test('ForeignBudgets is no part of the view where the Role does not permit to list them (D-51)', () => {
  const { budgets } = sight({ cached: [budget(ingester)], isPermitted: false });
  assert.deepEqual(budgets.proof(KEY), { kind: 'not-permitted' });
  assert.equal(budgets.over(sets), undefined);
});
