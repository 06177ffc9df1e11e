import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, seconds } from '#base/units.ts';
import type { SetScope } from '#control/watch/group-sets.ts';
import { WatchedPods } from '#control/watch/watched-pods.ts';
import type { Budget, Mode } from '#disruption/budget.ts';
import type { Standing } from '#disruption/standing.ts';
import {
  ingesterGroup,
  type RawPodOptions,
  rawPod,
  rawStatefulSet,
} from '#support/objects/objects.ts';
import { T0 } from '#support/objects/views.ts';
import { GroupWorld } from '#support/rollouts/group-world.ts';
import { GovernedSets } from './governed-sets.ts';
import { Standings } from './standings.ts';

const scope: SetScope = {
  namespace: 'test',
  matchLabels: new Map([['rollout-group', 'ingester']]),
};

function budgetWith(mode: Mode): Budget {
  const ref = {
    kind: 'ZoneAwarePodDisruptionBudget',
    namespace: 'test',
    name: 'b',
    uid: 'b',
  } as const;
  return { ref, limit: { kind: 'count', count: 1 }, mode };
}

const byZone = budgetWith({ kind: 'zones-of-sets' });

function byPartition(crossZoneDelay: number): Budget {
  const partitionOf = (name: string): string | undefined => name.split('-').at(-1);
  return budgetWith({ kind: 'partitions', partitionOf, crossZoneDelay: seconds(crossZoneDelay) });
}

class Bench {
  readonly world: GroupWorld;
  readonly sets: GovernedSets;
  readonly #standings: Standings;
  readonly #budget: Budget;

  constructor({
    budget = byZone,
    minReadySeconds = 0,
  }: { readonly budget?: Budget; readonly minReadySeconds?: number } = {}) {
    const world = new GroupWorld(
      ingesterGroup({ zones: ['a', 'b'], replicas: 2, minReadySeconds }),
    );
    const { clock } = world;
    this.world = world;
    this.#budget = budget;
    this.sets = new GovernedSets(world);
    const watched = new WatchedPods(world.pods, clock);
    this.#standings = new Standings({ clock, sets: this.sets, watched });
  }

  standing(budget = this.#budget): Standing {
    return this.#standings.of(budget, scope, this.world.clock.now()).standing;
  }

  provenAt(): number | undefined {
    return this.#standings.of(this.#budget, scope, this.world.clock.now()).provenAt;
  }

  /** What disturbs the pods that are disturbed, by name. */
  disturbed(): readonly string[] {
    const places = [...this.standing().places.values()];
    return places.flatMap(({ obstacle }) =>
      obstacle === undefined ? [] : [`${obstacle.pod} ${obstacle.why}`],
    );
  }

  /** The watch shows pod 0 of zone a otherwise. */
  pod(options: RawPodOptions): void {
    this.world.put('pods', rawPod(options));
    this.world.show();
  }
}

test('Standings are worked out once for a thousand judgements of one moment', () => {
  const bench = new Bench();
  const standings = Array.from({ length: 1_000 }, () => bench.standing());
  assert.equal(new Set(standings).size, 1);
});

test('Standings are kept while only pods and sets of others change', () => {
  const bench = new Bench();
  const first = bench.standing();
  bench.world.put('statefulsets', rawStatefulSet({ name: 'another', group: 'other' }));
  bench.pod({ set: 'another' });
  assert.equal(bench.standing(), first);
});

test('Standings are kept by time alone where nothing rests on it', async () => {
  const bench = new Bench();
  const first = bench.standing();
  await bench.world.clock.advance(3_600_000);
  bench.world.clock.setWallClock(-7_200_000);
  assert.equal(bench.standing(), first);
});

test('Standings show each change of a pod at once', () => {
  const bench = new Bench();
  assert.deepEqual(bench.disturbed(), []);
  bench.pod({ ready: false });
  assert.deepEqual(bench.disturbed(), ['ingester-zone-a-0 not-ready']);
  bench.world.drop('pods', 'ingester-zone-a-0');
  bench.world.show();
  assert.deepEqual(bench.disturbed(), ['ingester-zone-a-0 missing']);
});

test('Standings show each change of a set at once', () => {
  const bench = new Bench();
  assert.deepEqual(bench.disturbed(), []);
  bench.world.put('statefulsets', rawStatefulSet({ replicas: 3 }));
  bench.world.show();
  assert.deepEqual(bench.disturbed(), ['ingester-zone-a-2 missing']);
});

test('Standings show what a read shows and the caches do not yet, and are kept while it shows the same', async () => {
  const bench = new Bench();
  const { world } = bench;
  bench.standing();
  await world.clock.advance(6_000);
  world.put('pods', rawPod({ ready: false }));
  await bench.sets.prove(scope, new AbortController().signal);
  assert.deepEqual(bench.disturbed(), ['ingester-zone-a-0 not-ready']);
  const read = bench.standing();
  world.put('statefulsets', rawStatefulSet({ name: 'another', group: 'other' }));
  world.show('statefulsets');
  assert.equal(bench.standing(), read);
});

test('Standings tell how old the view is, also where they are kept', async () => {
  const bench = new Bench();
  const first = bench.standing();
  assert.equal(bench.provenAt(), T0);
  await bench.world.clock.advance(1_000);
  bench.world.prove();
  assert.deepEqual([bench.provenAt(), bench.standing()], [T0 + 1_000, first]);
  bench.world.pods.freshness.reset();
  assert.deepEqual([bench.provenAt(), bench.standing()], [undefined, first]);
});

test('Standings of one budget are not those of another over the same sets', () => {
  const bench = new Bench();
  const next = budgetWith({ kind: 'zones-of-sets' });
  assert.equal(bench.standing(next).budget, next);
  assert.equal(bench.standing().budget, byZone);
});

test('Standings are worked out again when the time has come at which they change', async () => {
  const bench = new Bench({ minReadySeconds: 10 });
  const { clock } = bench.world;
  bench.pod({ ready: false });
  bench.pod({ ready: T0 });
  await clock.advance(9_500);
  assert.deepEqual(bench.disturbed(), ['ingester-zone-a-0 settling']);
  await clock.advance(499);
  assert.deepEqual(bench.disturbed(), ['ingester-zone-a-0 settling']);
  await clock.advance(1);
  assert.deepEqual(bench.disturbed(), []);
});

const timed: Record<string, { readonly make: () => Bench; readonly waiting: string }> = {
  'sets have minReadySeconds': {
    make: () => new Bench({ minReadySeconds: 10 }),
    waiting: 'ingester-zone-a-0 settling',
  },
  'the budget has a delay across zones': {
    make: () => new Bench({ budget: byPartition(10) }),
    waiting: 'ingester-zone-a-0 in-delay',
  },
};

for (const [what, { make, waiting }] of Object.entries(timed)) {
  test(`Standings are worked out again after a second by our own clock where ${what}`, async () => {
    const bench = make();
    const { clock } = bench.world;
    const first = bench.standing();
    await clock.advance(999);
    assert.equal(bench.standing(), first);
    await clock.advance(1);
    assert.notEqual(bench.standing(), first);
  });

  test(`Standings are worked out again at once when the wall clock is set back where ${what}`, () => {
    const bench = make();
    const first = bench.standing();
    bench.world.clock.setWallClock(-1);
    assert.notEqual(bench.standing(), first);
  });

  test(`Standings do not end a wait that our own clock saw begin when the wall clock is set forward where ${what} (D-55)`, async () => {
    const bench = make();
    const { clock } = bench.world;
    bench.pod({ ready: false });
    bench.pod({ ready: T0 });
    clock.setWallClock(seconds(3_600));
    assert.deepEqual(bench.disturbed(), [waiting]);
    await clock.advance(9_999);
    assert.deepEqual(bench.disturbed(), [waiting]);
    await clock.advance(2);
    assert.deepEqual(bench.disturbed(), []);
  });

  test(`Standings end a wait that our own clock saw pass, whatever the wall clock says, where ${what} (D-55)`, async () => {
    const bench = make();
    const { clock } = bench.world;
    bench.pod({ ready: false });
    bench.pod({ ready: after(T0, seconds(3_600)) });
    assert.deepEqual(bench.disturbed(), [waiting]);
    clock.setWallClock(seconds(-3_000));
    await clock.advance(9_000);
    assert.deepEqual(bench.disturbed(), [waiting]);
    await clock.advance(1_001);
    assert.deepEqual(bench.disturbed(), []);
  });
}
