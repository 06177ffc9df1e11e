/** Pods that come back together, and what may go then, in one question to the ledger. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rawPod } from '#support/objects/objects.ts';
import { GroupBench } from '#support/rollouts/group-bench.ts';

/** A group under budgets that give away whatever they were asked for, and when they were: in milliseconds from the start. */
class BudgetedBench {
  readonly asked: string[] = [];
  readonly #given = new Set<string>();
  readonly bench = new GroupBench({
    budgets: {
      judge: (wanted) =>
        wanted.map(({ pod }) => ({ kind: this.#given.has(pod.uid) ? 'given' : 'to-ask' })),
      ask: (wanted) => {
        const names = wanted.map(({ pod }) => pod.name).join();
        this.asked.push(`${names} at ${this.bench.world.clock.monotonic() - this.#start}`);
        for (const { pod } of wanted) this.#given.add(pod.uid);
        return Promise.resolve();
      },
    },
  });
  #start = 0;

  /** Begins a pass on a view that is proven. */
  async begin(): Promise<{ readonly ended: Promise<unknown> }> {
    await this.bench.proven();
    this.#start = this.bench.world.clock.monotonic();
    return { ended: this.bench.pass() };
  }
}

test('a group of which all pods are there asks a ledger at once', async () => {
  const budgeted = new BudgetedBench();
  await (await budgeted.begin()).ended;
  assert.deepEqual(budgeted.asked, ['ingester-zone-a-0,ingester-zone-a-1 at 0']);
});

test('a group of which a pod is on its way back asks a ledger 30 ms later, for whatever may go by then', async () => {
  const budgeted = new BudgetedBench();
  const { world } = budgeted.bench;
  world.drop('pods', 'ingester-zone-a-2');
  const { ended } = await budgeted.begin();
  await world.clock.advance(29);
  assert.deepEqual(budgeted.asked, []);
  world.put('pods', rawPod({ ordinal: 2, uid: 'made-anew', revision: 'new-hash' }));
  world.show();
  await world.clock.advance(1);
  await ended;
  assert.deepEqual(budgeted.asked, ['ingester-zone-a-0,ingester-zone-a-1 at 30']);
});

test('a group whose pod does not come back asks a ledger 30 ms later for what may go', async () => {
  const budgeted = new BudgetedBench();
  budgeted.bench.world.drop('pods', 'ingester-zone-a-2');
  const { ended } = await budgeted.begin();
  await budgeted.bench.world.clock.advance(30);
  await ended;
  assert.deepEqual(budgeted.asked, ['ingester-zone-a-0 at 30']);
});
