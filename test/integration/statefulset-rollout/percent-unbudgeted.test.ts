/** StatefulsetRollouts without any native budget: the resource alone says how many pods may be away, and nobody refuses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { percentFaults } from './percent-judge.ts';
import { PercentStage } from './percent-stage.ts';

const images = Array.from({ length: 6 }, () => 'db:2');
const evictions = { user: 'operator-1', resource: 'pods', subresource: 'eviction' };

/** A set of six ready pods on `db:1`, of which `most` may be away; no budget selects them. */
async function unbudgeted(most: number): Promise<PercentStage> {
  const stage = await PercentStage.open(images.length);
  const key = { namespace: 'demo', name: 'db' };
  await stage.env.client.delete(resourceTypes.podDisruptionBudgets, key, { preconditions: {} });
  stage.start();
  await stage.create('db:1', { maxParallelWithoutBudget: most });
  await stage.ended();
  return stage;
}

function assertNeverMore(stage: PercentStage, most: number, what: string): void {
  assert.deepEqual(stage.images(), images, what);
  assert.ok(stage.mostDown() <= most, `${what}: ${stage.mostDown()} away, and ${most} may be`);
  assert.deepEqual(percentFaults(stage.env.cluster.eventLog), [], what);
}

for (const most of [1, 2]) {
  test(`without a budget no more than ${most} pods are away, although each that leaves shows 5 s later [B-48, B-49]`, async () => {
    const stage = await unbudgeted(most);
    const { clock, cluster } = stage.env;
    let isLagging = false;
    cluster.eventLog.onCommit(({ resource, before, after }) => {
      if (resource !== 'pods' || isLagging || before === undefined || after === undefined) return;
      if (JSON.stringify(after['metadata']).includes('deletionTimestamp')) {
        isLagging = true;
        const watches = cluster.faults.watches({ user: 'operator-1', resource: 'pods' });
        for (const watch of watches) watch.pause();
        clock.timer(seconds(5), () => {
          isLagging = false;
          for (const watch of watches) watch.resume();
        });
      }
    });
    await stage.edit({ statefulset: stage.carried('db:2') });
    await stage.ended();
    assertNeverMore(stage, most, 'late watch');
    assert.equal(stage.evictions().length, images.length, 'each is let go once');
    await stage.close();
  });
}

for (const when of ['before', 'after'] as const) {
  for (const nth of [1, 2, 3]) {
    test(`without a budget who follows an operator that is killed ${when} eviction ${nth} takes no more than two at a time [B-7, B-48]`, async () => {
      const stage = await unbudgeted(2);
      const { faults } = stage.env.cluster;
      let isDead = false;
      const die = (): void => {
        isDead = true;
        // What had left and not arrived arrives 20 s later.
        stage.running[0]?.die(seconds(20));
      };
      if (when === 'before') faults.beforeWrite(evictions, nth, die);
      else faults.afterWrite(evictions, nth, die);
      await stage.edit({ statefulset: stage.carried('db:2') });
      await stage.until('it is dead', () => isDead);
      stage.start();
      await stage.ended();
      assertNeverMore(stage, 2, `killed ${when} ${nth}`);
      await stage.close();
    });
  }
}

test('without a budget an eviction that has no answer counts as a pod that is away [B-49, D-7]', async () => {
  const stage = await unbudgeted(1);
  const { faults } = stage.env.cluster;
  faults.add({ match: evictions, count: 1, action: { kind: 'delay', delay: seconds(25) } });
  await stage.edit({ statefulset: stage.carried('db:2') });
  await stage.ended();
  assertNeverMore(stage, 1, 'late answer');
  await stage.close();
});
