/** The view of budgets on the real informer, whose lists and watches it has to tell apart. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createInformer } from '#kubernetes/informer/shared-informer.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { RefusedError, ScriptedClient } from '#support/api-server/scripted-client.ts';
import { WatchServer } from '#support/api-server/watch-server.ts';
import { overIngester, selecting } from '#support/budgets/budget-server.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { podView, T0 } from '#support/objects/views.ts';
import { formatRfc3339 } from '#support/oracles/rfc3339.ts';
import { compilePattern } from '../pattern/compile-pattern.ts';
import { type BudgetView, budgetView } from './budget-view.ts';
import { BudgetsInView } from './budgets-in-view.ts';

const pod = podView({ namespace: 'demo', labels: { 'rollout-group': 'ingester' } });
const creationTimestamp = formatRfc3339(T0);

/** What the server has under a name, as a budget that was made at T0. */
function budgetOf(object: KubernetesObject): BudgetView {
  const metadata = { ...object.metadata, generation: 1, creationTimestamp };
  const spec = selecting({ 'rollout-group': object.metadata.name });
  return budgetView({ ...object, metadata, spec });
}

class Bench {
  readonly clock = new FakeClock(T0);
  readonly server = new WatchServer();
  readonly client = new ScriptedClient(this.server);
  readonly informer = createInformer<BudgetView>({
    client: this.client,
    clock: this.clock,
    type: resourceTypes.zoneAwarePodDisruptionBudgets,
    project: budgetOf,
    indexers: {},
    isAbsentAllowed: true,
    report: () => undefined,
  });
  readonly budgets = new BudgetsInView({
    client: this.client,
    clock: this.clock,
    informer: this.informer,
    isPermitted: () => true,
    compile: compilePattern,
  });
  readonly #stop = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  async run(): Promise<void> {
    this.#ended = this.informer.run(this.#stop.signal);
    await this.clock.settle();
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  /** Whether the creation of what is called `name` counts as seen. */
  saw(name: string): boolean {
    const uid = this.informer.lister.get('demo', name)?.uid;
    assert.notEqual(uid, undefined, 'the cache shows it');
    return this.budgets.sawCreation(uid ?? '', this.clock.monotonic());
  }
}

for (const streaming of ['marked', 'refused'] as const) {
  test(`sawCreation() tells watches from lists, where streaming lists are ${streaming} (D-34)`, async () => {
    const bench = new Bench();
    const { server, client, clock } = bench;
    server.streaming = streaming;
    server.put('listed');
    await bench.run();
    server.put('watched');
    await clock.settle();
    assert.deepEqual([bench.saw('listed'), bench.saw('watched')], [false, true]);
    client.watching.end();
    server.put('missed');
    server.compact();
    await clock.advance(2_000);
    assert.equal(bench.saw('missed'), false);
    server.put('watched again');
    await clock.settle();
    assert.equal(bench.saw('watched again'), true);
    await bench.end();
  });
}

test('BudgetsInView know budgets of a type that appears at the first look, before the cache has them', async () => {
  const bench = new Bench();
  const { budgets, client, clock, server } = bench;
  const absent = (): never => {
    throw new RefusedError(404);
  };
  client.script = { list: absent, watch: absent };
  await bench.run();
  assert.equal(budgets.governing(pod).kind, 'none');
  assert.deepEqual(budgets.proof('demo'), { kind: 'proven', provenAt: T0 });
  await clock.advance(5_000);
  server.put('ingester');
  client.script = {
    list: (query) => {
      const { items, resourceVersion } = server.list(query);
      const made = items.map((object) => ({ ...object, spec: overIngester }));
      return { resourceVersion, items: made };
    },
    // Nothing comes of the list that the informer begins now.
    watch: () => undefined,
  };
  await budgets.look('demo', new AbortController().signal);
  assert.equal(budgets.governing(pod).kind, 'one');
  assert.deepEqual(budgets.proof('demo'), { kind: 'proven', provenAt: T0 + 5_000 });
  await clock.settle();
  await bench.end();
});
