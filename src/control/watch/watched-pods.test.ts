import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, seconds } from '#base/units.ts';
import { ingesterGroup, type RawPodOptions, rawPod } from '#support/objects/objects.ts';
import { T0 } from '#support/objects/views.ts';
import { formatRfc3339 } from '#support/oracles/rfc3339.ts';
import { GroupWorld } from '#support/rollouts/group-world.ts';
import { groupScope, readSets, type SetSnapshot } from './group-sets.ts';
import { WatchedPods } from './watched-pods.ts';

const uid = 'ingester-zone-a-0-uid';

class Bench {
  readonly world: GroupWorld;
  readonly watched: WatchedPods;

  constructor(minReadySeconds = 30) {
    this.world = new GroupWorld(ingesterGroup({ zones: ['a'], minReadySeconds }));
    this.watched = new WatchedPods(this.world.pods, this.world.clock);
  }

  /** Shows the first pod as `options` say. */
  show(options: RawPodOptions): void {
    this.world.put('pods', rawPod(options));
    this.world.show();
  }

  /** The group as the caches show it. */
  sets(): readonly SetSnapshot[] {
    const { pods, statefulSets } = this.world;
    return readSets(groupScope('test/ingester'), {
      pods: pods.lister,
      statefulSets: statefulSets.lister,
    });
  }

  /** How long the first pod has been seen as `sets` show it; undefined: it is not told. */
  seen(sets = this.sets(), delay = seconds(0)): number | undefined {
    const { now, since } = this.watched.of(sets, delay);
    const at = since.get(uid);
    return at === undefined ? undefined : now - at;
  }

  /** Whether the first pod was seen to become what it is. */
  isWitnessed(): boolean {
    return this.watched.of(this.sets()).witnessed.has(uid);
  }
}

function notReady(at: number, more: RawPodOptions = {}): RawPodOptions {
  const lastTransitionTime = formatRfc3339(after(T0, seconds(at)));
  return {
    status: { conditions: [{ type: 'Ready', status: 'False', lastTransitionTime }] },
    ...more,
  };
}

test('WatchedPods.of() tells nothing of pods that are available', () => {
  assert.equal(new Bench().seen(), undefined);
});

for (const minReadySeconds of [30, 0]) {
  test(`WatchedPods.of() tells since when a pod is seen as not ready, also while it changes otherwise, with minReadySeconds ${minReadySeconds}`, async () => {
    const bench = new Bench(minReadySeconds);
    bench.show(notReady(0));
    await bench.world.clock.advance(40_000);
    bench.show(notReady(0, { revision: 'other' }));
    assert.equal(bench.seen(), 40_000);
  });
}

test('WatchedPods.of() begins again when the condition changed, even where no watch showed it True in between', async () => {
  const bench = new Bench();
  bench.show(notReady(0));
  await bench.world.clock.advance(40_000);
  bench.show(notReady(39));
  assert.equal(bench.seen(), 0);
});

test('WatchedPods.of() begins again with another pod of the name', async () => {
  const bench = new Bench();
  bench.show(notReady(0, { uid: 'before' }));
  await bench.world.clock.advance(40_000);
  bench.show(notReady(0));
  assert.equal(bench.seen(), 0);
});

test('WatchedPods.of() begins with the process for pods that were not ready before', async () => {
  const { world } = new Bench();
  world.put('pods', rawPod(notReady(-3_600)));
  world.show();
  await world.clock.advance(40_000);
  const later = new WatchedPods(world.pods, world.clock);
  const sets = readSets(groupScope('test/ingester'), {
    pods: world.pods.lister,
    statefulSets: world.statefulSets.lister,
  });
  const { now, since } = later.of(sets);
  assert.equal(now - (since.get(uid) ?? 0), 0);
});

test('WatchedPods.of() tells since when a pod is seen as Ready while that is less than minReadySeconds ago (D-55)', async () => {
  const bench = new Bench();
  bench.show({ ready: after(T0, seconds(3_600)) });
  await bench.world.clock.advance(40_000);
  assert.equal(bench.seen(), 40_000);
});

test('WatchedPods.of() tells nothing of a pod that is shown with another condition than was watched', async () => {
  const bench = new Bench();
  bench.show(notReady(0));
  const before = bench.sets();
  await bench.world.clock.advance(40_000);
  assert.equal(bench.seen(before), 40_000);
  bench.show({ ready: after(T0, seconds(40)) });
  assert.equal(bench.seen(before), undefined);
});

test('WatchedPods.of() tells of pods that they were seen to become Ready, until minReadySeconds have passed', async () => {
  const bench = new Bench();
  bench.show(notReady(0));
  await bench.world.clock.advance(5_000);
  bench.show({ ready: after(T0, seconds(-3_600)) });
  assert.equal(bench.isWitnessed(), true);
  await bench.world.clock.advance(29_999);
  assert.equal(bench.isWitnessed(), true);
  await bench.world.clock.advance(1);
  assert.equal(bench.seen(), undefined);
});

test('WatchedPods.of() does not tell of pods that were there before that they were seen to become Ready', () => {
  const bench = new Bench();
  bench.show({ ready: after(T0, seconds(3_600)) });
  const later = new WatchedPods(bench.world.pods, bench.world.clock);
  const { since, witnessed } = later.of(bench.sets());
  assert.deepEqual([since.has(uid), witnessed.has(uid)], [true, false]);
});

const going = { terminatingSince: T0 };

/** What is shown of the first pod, and whether it then counts as one that had served until it began to terminate. */
const endings: Record<
  string,
  { readonly show: (bench: Bench) => Promise<void>; readonly want: boolean }
> = {
  'that was Ready until it began to terminate': {
    show: async (bench) => {
      bench.show(notReady(0, going));
      await bench.world.clock.advance(600_000);
    },
    want: true,
  },
  'that was Ready 59 s before it began to terminate': {
    show: async (bench) => {
      bench.show(notReady(0));
      await bench.world.clock.advance(59_000);
      bench.show(notReady(0, going));
      await bench.world.clock.advance(600_000);
    },
    want: true,
  },
  'that was Ready until it began to terminate 60 s ago, and changed in between': {
    show: async (bench) => {
      bench.show(notReady(0));
      await bench.world.clock.advance(30_000);
      bench.show(notReady(0, { revision: 'other' }));
      await bench.world.clock.advance(30_000);
      bench.show(notReady(0, going));
    },
    want: false,
  },
  'that was never seen Ready': {
    show: async (bench) => {
      bench.show(notReady(0, { uid: 'before' }));
      bench.show(notReady(0));
      bench.show(notReady(0, going));
    },
    want: false,
  },
};

for (const [what, { show, want }] of Object.entries(endings)) {
  test(`WatchedPods.of() ${want ? 'tells' : 'does not tell'} of a pod ${what} that it served, and ${want ? 'not ' : ''}that it is gone`, async () => {
    const bench = new Bench();
    await show(bench);
    assert.equal(bench.watched.of(bench.sets()).served.has(uid), want);
    bench.world.drop('pods', 'ingester-zone-a-0');
    bench.world.show();
    const { gone, now } = bench.watched.of(bench.sets());
    assert.deepEqual([...gone], want ? [] : [['ingester-zone-a-0', now]]);
  });
}

/** Since when the first pod is ready, for how long that was seen, and whether that is reported where 60 s of it matter. */
const delays: Record<
  string,
  readonly [ready: number, watchedFor: number, seen: number | undefined]
> = {
  'of a pod that is ready for less': [-20, 0, 0],
  'nothing of a pod that was ready for so long before': [-3_600, 5_000, undefined],
  'of a pod that was seen to become ready, whatever its time says': [-3_000, 60_000, 60_000],
  'nothing of a pod that was seen ready for longer': [-3_000, 60_001, undefined],
};

for (const [what, [ready, watchedFor, seen]] of Object.entries(delays)) {
  test(`WatchedPods.of() tells ${what}, where a budget asks for a time that no set does`, async () => {
    const bench = new Bench(0);
    bench.show({ ready: after(T0, seconds(ready)) });
    await bench.world.clock.advance(watchedFor);
    assert.equal(bench.seen(bench.sets(), seconds(60)), seen);
    assert.equal(bench.seen(), undefined);
  });
}

test('WatchedPods.of() says nothing of a time of readiness that is not needed', () => {
  const bench = new Bench(0);
  bench.world.annotate('pods', 'ingester-zone-a-0', {
    annotations: { 'grafana.com/ready-time': '2026-01-01T01:00:00Z' },
  });
  bench.world.show();
  assert.equal(bench.seen(), undefined);
  assert.equal(bench.seen(bench.sets(), seconds(60)), 0, 'the annotation names a time to come');
});

test('WatchedPods.of() tells of a place no more that is filled, or has been empty for 60 s', async () => {
  const bench = new Bench();
  const lose = (): void => {
    bench.show(notReady(0));
    bench.world.drop('pods', 'ingester-zone-a-0');
    bench.world.show();
  };
  const gone = (): number => bench.watched.of(bench.sets()).gone.size;
  bench.show(notReady(0, { uid: 'before' }));
  lose();
  assert.equal(gone(), 1);
  bench.show({ uid: 'after' });
  assert.equal(gone(), 0);
  bench.show(notReady(0));
  await bench.world.clock.advance(60_000);
  lose();
  await bench.world.clock.advance(59_999);
  assert.equal(gone(), 1);
  await bench.world.clock.advance(1);
  assert.equal(gone(), 0);
});

test('WatchedPods forgets pods that are gone', () => {
  const { world, watched } = new Bench();
  assert.equal(watched.size, 3);
  world.drop('pods', 'ingester-zone-a-0');
  world.show();
  assert.equal(watched.size, 2);
});
