import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, minutes, seconds } from '#base/units.ts';
import { BudgetServer, selecting } from '#support/budgets/budget-server.ts';
import { compilePattern } from '../pattern/compile-pattern.ts';
import { BudgetsInView } from './budgets-in-view.ts';

interface World {
  readonly server: BudgetServer;
  readonly budgets: BudgetsInView;
}

function world(): World {
  const server = new BudgetServer();
  const { client, clock, informer } = server;
  const rest = { isPermitted: () => true, compile: compilePattern };
  return { server, budgets: new BudgetsInView({ client, clock, informer, ...rest }) };
}

const { signal } = new AbortController();

/** What happens, and whether the creation of the budget counts as seen then. */
const cases: Record<
  string,
  readonly [happens: (world: World) => void | Promise<void>, isSeen: boolean]
> = {
  'a budget that the watch showed as it was made': [
    ({ server }) => {
      server.put();
      server.show();
    },
    true,
  ],
  'a budget that was changed since': [
    ({ server }) => {
      server.put();
      server.put({ generation: 2 });
      server.show();
    },
    true,
  ],
  'a budget that a list of ours showed first': [
    async ({ server, budgets }) => {
      server.put();
      await budgets.look('test', signal);
      server.show();
    },
    true,
  ],
  'a budget that was made again': [
    ({ server }) => {
      server.put({ uid: 'before', createdAt: after(server.clock.now(), minutes(-60)) });
      server.drop();
      server.put();
      server.show();
    },
    true,
  ],
  'a budget beside another one that may govern the same pods': [
    ({ server }) => {
      server.put({ name: 'other', spec: selecting({ tier: 'stateful' }) });
      server.put();
      server.show();
    },
    false,
  ],
  'a budget beside another one that cannot be read': [
    ({ server }) => {
      server.put({ name: 'other', spec: {} });
      server.put();
      server.show();
    },
    false,
  ],
  'a budget beside another one over other pods, and one of another namespace': [
    ({ server }) => {
      server.put({ name: 'other', spec: selecting({ 'rollout-group': 'querier' }) });
      server.put({ name: 'elsewhere', namespace: 'other' });
      server.put();
      server.show();
    },
    true,
  ],
  'a budget in the place of one of another name that went 120 s ago': [
    async ({ server }) => {
      server.put({ name: 'other' });
      server.drop('other');
      server.show();
      await server.clock.advance(seconds(120));
      server.put();
      server.show();
    },
    false,
  ],
  'a budget in the place of one of another name that went longer ago': [
    async ({ server }) => {
      server.put({ name: 'other' });
      server.drop('other');
      server.show();
      await server.clock.advance(seconds(120) + 1);
      server.put();
      server.show();
    },
    true,
  ],
  'a budget over pods that another one governed a moment ago': [
    ({ server }) => {
      server.put({ name: 'other' });
      server.put({
        name: 'other',
        generation: 2,
        spec: selecting({ 'rollout-group': 'querier' }),
      });
      server.put();
      server.show();
    },
    false,
  ],
  'a budget in the place of one that a list of ours does not have any more': [
    async ({ server, budgets }) => {
      server.put({ name: 'other' });
      server.show();
      server.drop('other');
      server.put();
      await budgets.look('test', signal);
      server.show();
    },
    false,
  ],
  'a budget that was made exactly 10 s ago': [
    async ({ server }) => {
      server.put();
      server.show();
      await server.clock.advance(seconds(10));
    },
    true,
  ],
  'a budget that was made more than 10 s ago, whatever the wall clock says': [
    async ({ server }) => {
      server.put();
      server.show();
      server.clock.setWallClock(seconds(-5));
      await server.clock.advance(seconds(10) + 1);
    },
    false,
  ],
  'a budget that nobody showed': [() => undefined, false],
  'a budget that only a list of ours has shown': [
    async ({ server, budgets }) => {
      server.put();
      await budgets.look('test', signal);
    },
    false,
  ],
  'a budget that the first list of the cache showed': [
    ({ server }) => {
      server.informer.hasSynced = false;
      server.put();
      server.relist();
      server.informer.hasSynced = true;
    },
    false,
  ],
  'a budget that a further list of the cache showed': [
    ({ server }) => {
      server.put();
      server.relist();
    },
    false,
  ],
  'a budget that was shown before and is shown by a list again': [
    ({ server }) => {
      server.put({ createdAt: after(server.clock.now(), minutes(-60)) });
      server.show();
      server.relist();
    },
    false,
  ],
  'a budget that the watch shows late, as one does that resumes': [
    async ({ server }) => {
      server.put();
      await server.clock.advance(seconds(11));
      server.show();
    },
    false,
  ],
  'a budget dated by a clock that is an hour behind ours': [
    ({ server }) => {
      server.put({ createdAt: after(server.clock.now(), minutes(-60)) });
      server.show();
    },
    false,
  ],
  'a budget dated by a clock that is an hour ahead of ours': [
    ({ server }) => {
      server.put({ createdAt: after(server.clock.now(), minutes(60)) });
      server.show();
    },
    false,
  ],
  'another budget of that name': [
    ({ server }) => {
      server.put({ uid: 'another' });
      server.show();
    },
    false,
  ],
};

for (const [what, [happens, isSeen]] of Object.entries(cases)) {
  test(`sawCreation() is ${isSeen} for ${what} (D-34)`, async () => {
    const made = world();
    await happens(made);
    const { server, budgets } = made;
    assert.equal(budgets.sawCreation('ingester-uid', server.clock.monotonic()), isSeen);
  });
}

test('sawCreation() is true of each of many budgets while they are new', async () => {
  const { server, budgets } = world();
  for (const name of ['a', 'b', 'c']) {
    server.put({ name, spec: selecting({ 'rollout-group': name }) });
    server.show();
    await server.clock.advance(seconds(4));
  }
  const seen = ['a', 'b', 'c'].map((name) =>
    budgets.sawCreation(`${name}-uid`, server.clock.monotonic()),
  );
  assert.deepEqual(seen, [false, true, true]);
});

const overQuerier = selecting({ 'rollout-group': 'querier' });

/** What the selector of a budget over other pods is changed to, beside a budget over the group, and whether it takes over. */
const takeovers: Record<string, readonly [happens: (world: World) => void, isTakeover: boolean]> = {
  'pods that another budget has just been over': [
    ({ server }) => {
      server.drop();
      server.put({ name: 'other', generation: 2 });
    },
    true,
  ],
  'pods that another budget is still over': [
    ({ server }) => {
      server.put({ name: 'other', generation: 2 });
      server.drop();
    },
    true,
  ],
  'pods that no other budget was over': [
    ({ server }) => {
      server.drop();
      const spec = selecting({ 'rollout-group': 'compactor' });
      server.put({ name: 'other', generation: 2, spec });
    },
    false,
  ],
  'the same pods': [
    ({ server }) => {
      server.put({ spec: overQuerier, generation: 2 });
      server.put({ name: 'other', generation: 2, spec: overQuerier });
    },
    false,
  ],
};

for (const [what, [happens, isTakeover]] of Object.entries(takeovers)) {
  test(`tookOverAt() tells ${isTakeover ? 'when' : 'nothing where'} a selector was changed to ${what} (BUDG-4)`, async () => {
    const made = world();
    const { server, budgets } = made;
    server.put();
    server.put({ name: 'other', spec: overQuerier });
    server.show();
    await server.clock.advance(seconds(20));
    happens(made);
    server.show();
    const now = server.clock.monotonic();
    assert.equal(budgets.tookOverAt('other-uid'), isTakeover ? now : undefined);
    assert.equal(budgets.tookOverAt('ingester-uid'), what === 'the same pods' ? now : undefined);
  });
}
