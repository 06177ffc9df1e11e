import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Millis, millis, seconds } from '#base/units.ts';
import { createWorkQueue } from '#kubernetes/queue/rate-limited-queue.ts';
import { crashLoop, type GroupOptions, rawPod, rawStatefulSet } from '#support/objects/objects.ts';
import { GroupBench, KEY, outdatedGroup } from '#support/rollouts/group-bench.ts';
import { refusal } from '#support/rollouts/group-world.ts';
import { runGroups } from './run-groups.ts';

interface Running {
  readonly bench: GroupBench;
  /** Keys of the passes so far, oldest first. */
  readonly passes: string[];
  /** Wakes every group, as a change of budgets does. */
  readonly budgetsChanged: () => void;
  readonly stop: () => Promise<void>;
}

async function run(
  options: GroupOptions = { updateRevision: 'last-hash' },
  resync: Millis = millis(0),
): Promise<Running> {
  const bench = new GroupBench(options);
  const { clock } = bench.world;
  const passes: string[] = [];
  let wakeAll = (): void => undefined;
  const ended = runGroups(
    {
      ...bench.ports,
      queue: createWorkQueue({ clock, name: 'rollout-group', maxDelay: seconds(30) }),
      resync,
      onPlan: (key, plan) => {
        passes.push(key);
        bench.plan = plan;
      },
      onOtherChange: (wake) => {
        wakeAll = () => {
          wake();
        };
      },
    },
    bench.stopping.signal,
  );
  await clock.settle();
  const stop = async (): Promise<void> => {
    bench.stopping.abort();
    await ended;
  };
  return { bench, passes, budgetsChanged: () => wakeAll(), stop };
}

test('runGroups() looks at every group once at the start', async () => {
  const { passes, stop } = await run();
  assert.deepEqual(passes, [KEY]);
  await stop();
});

const events: Record<string, (bench: GroupBench) => void> = {
  'a pod is added': ({ world }) => {
    world.put('pods', rawPod({ ordinal: 7 }));
  },
  'a pod is updated': ({ world }) => {
    world.annotate('pods', 'ingester-zone-a-0', { annotations: {} });
  },
  'a pod is deleted': ({ world }) => {
    world.drop('pods', 'ingester-zone-a-0');
  },
  'a set is added': ({ world }) => {
    world.put('statefulsets', rawStatefulSet({ name: 'ingester-zone-c', replicas: 0 }));
  },
  'a set is updated': ({ world }) => {
    world.annotate('statefulsets', 'ingester-zone-a', { generation: 1 });
  },
  'a set is deleted': ({ world }) => {
    world.drop('statefulsets', 'ingester-zone-a');
  },
  'a set leaves the group': ({ world }) => {
    world.annotate('statefulsets', 'ingester-zone-a', { labels: {} });
  },
};

for (const [when, happens] of Object.entries(events)) {
  test(`[scenario 39] runGroups() looks at the group at once when ${when}`, async () => {
    const { bench, passes, stop } = await run();
    happens(bench);
    bench.world.show();
    await bench.world.clock.settle();
    assert.deepEqual(passes, [KEY, KEY]);
    await stop();
  });
}

test('[scenario 39] runGroups() makes few passes of 100 events at one instant', async () => {
  const { bench, passes, stop } = await run();
  for (let event = 0; event < 100; event += 1) {
    bench.world.annotate('pods', 'ingester-zone-a-0', { generation: event });
  }
  bench.world.show();
  await bench.world.clock.settle();
  assert.ok(passes.length <= 3, `${passes.length} passes`);
  await stop();
});

test('runGroups() looks at both groups when a set moves from one to the other', async () => {
  const { bench, passes, stop } = await run();
  const labels = { 'rollout-group': 'other' };
  bench.world.annotate('statefulsets', 'ingester-zone-a', { labels });
  bench.world.show();
  await bench.world.clock.settle();
  assert.deepEqual(passes.slice(1).sort(), [KEY, 'test/other']);
  await stop();
});

test('runGroups() is not woken by pods that are no set’s, or of a set that is gone', async () => {
  const { bench, passes, stop } = await run();
  bench.world.put('pods', rawPod({ set: 'foreign', setUid: 'nobody' }));
  bench.world.show();
  await bench.world.clock.settle();
  assert.deepEqual(passes, [KEY]);
  await stop();
});

test('[scenario 40] runGroups() tries again after an error, without further events, until it succeeds', async () => {
  const { bench, stop } = await run({ zones: ['a'] });
  const { world } = bench;
  world.taken();
  world.show();
  await world.clock.settle();
  world.put('pods', rawPod({ ordinal: 0, status: crashLoop, uid: 'again' }));
  let failures = 0;
  world.before = ({ verb }) => {
    if (verb !== 'delete') return;
    failures += 1;
    if (failures <= 4) throw refusal(429);
  };
  world.show();
  await world.clock.advance(1_000);
  assert.equal(failures, 5);
  await stop();
});

test('[scenario 2] runGroups() rolls one group while another fails for its strategy', async () => {
  const { bench, passes, stop } = await run({ updateRevision: 'last-hash' });
  const { world } = bench;
  world.put('statefulsets', rawStatefulSet({ updateStrategy: 'RollingUpdate' }));
  world.add(outdatedGroup({ group: 'store-gateway' }));
  world.show();
  await world.clock.advance(1_000);
  assert.deepEqual(
    world.taken().filter((request) => request.startsWith('delete')),
    ['delete store-gateway-zone-a-0', 'delete store-gateway-zone-a-1'],
  );
  assert.ok(passes.includes('test/store-gateway'));
  assert.deepEqual(await bench.samples('failed_total'), [
    'rollout_operator_group_reconciles_failed_total{rollout_group="ingester"} 1',
    'rollout_operator_group_reconciles_failed_total{rollout_group="store-gateway"} 0',
  ]);
  await stop();
});

test('runGroups() resyncs every group at its period, and never when that is 0 (D-14)', async () => {
  const resyncing = await run(undefined, seconds(5));
  await resyncing.bench.world.clock.advance(10_000);
  assert.equal(resyncing.passes.length, 3);
  await resyncing.stop();
  assert.deepEqual(resyncing.bench.world.clock.pending(), []);
  const silent = await run();
  await silent.bench.world.clock.advance(600_000);
  assert.equal(silent.passes.length, 1);
  await silent.stop();
});

test('runGroups() looks at every group when budgets may have changed', async () => {
  const { bench, passes, budgetsChanged, stop } = await run();
  budgetsChanged();
  await bench.world.clock.settle();
  assert.deepEqual(passes, [KEY, KEY]);
  await stop();
});
