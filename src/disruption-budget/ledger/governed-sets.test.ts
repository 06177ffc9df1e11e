import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SetScope } from '#control/watch/group-sets.ts';
import { ingesterGroup, rawPod, rawStatefulSet } from '#support/objects/objects.ts';
import { T0 } from '#support/objects/views.ts';
import { GroupWorld, refusal } from '#support/rollouts/group-world.ts';
import { GovernedSets } from './governed-sets.ts';

const { signal } = new AbortController();

function scopeOf(labels: Readonly<Record<string, string>>): SetScope {
  return { namespace: 'test', matchLabels: new Map(Object.entries(labels)) };
}

const scope = scopeOf({ 'rollout-group': 'ingester' });
const lists = [
  'list statefulsets rollout-group=ingester',
  'list pods name=ingester-zone-a',
  'list pods name=ingester-zone-b',
];

class Bench {
  readonly world = new GroupWorld(ingesterGroup({ zones: ['a', 'b'], replicas: 2 }));
  readonly sets = new GovernedSets(this.world);

  prove(leaving = signal): Promise<void> {
    return this.sets.prove(scope, leaving);
  }

  /** Names of the pods that are known, with their revisions where that is not the usual one. */
  pods(of = scope): readonly string[] {
    const { sets } = this.sets.view(of);
    return sets
      .flatMap(({ pods }) => pods)
      .map(({ name, revision }) => (revision === 'last-hash' ? name : `${name} ${revision}`))
      .toSorted();
  }

  /** By what the view is proven, in milliseconds since the start. */
  provenAt(): number | undefined {
    const { provenAt } = this.sets.view(scope);
    return provenAt === undefined ? undefined : provenAt - T0;
  }

  /** Lets somebody change a pod. */
  repin(revision: string): void {
    this.world.put('pods', rawPod({ ordinal: 1, revision }));
  }
}

const all = ['ingester-zone-a-0', 'ingester-zone-a-1', 'ingester-zone-b-0', 'ingester-zone-b-1'];
const repinned = all.with(1, 'ingester-zone-a-1 new-hash');

test('view() shows what the caches show, proven as they are', async () => {
  const bench = new Bench();
  assert.deepEqual([bench.pods(), bench.provenAt()], [all, 0]);
  bench.repin('new-hash');
  assert.deepEqual(bench.pods(), all);
  bench.world.show();
  assert.deepEqual(bench.pods(), repinned);
});

test('view() is as old as its oldest part, and not proven while a part is not (D-3)', async () => {
  const bench = new Bench();
  const { clock, pods, statefulSets } = bench.world;
  await clock.advance(1_000);
  pods.freshness.consistentRead(pods.freshness.seen ?? '', clock.monotonic());
  assert.equal(bench.provenAt(), 0);
  statefulSets.freshness.consistentRead(statefulSets.freshness.seen ?? '', clock.monotonic());
  assert.equal(bench.provenAt(), 1_000);
  statefulSets.freshness.reset();
  assert.equal(bench.provenAt(), undefined);
});

test('view() shows the sets that have the labels themselves, of this namespace', () => {
  const bench = new Bench();
  const { world } = bench;
  const own = { labels: { team: 'x' } };
  world.annotate('statefulsets', 'ingester-zone-b', own);
  world.put('statefulsets', rawStatefulSet({ name: 'elsewhere', namespace: 'other' }));
  world.annotate('statefulsets', 'elsewhere', own);
  world.show();
  assert.deepEqual(bench.pods(scopeOf({ team: 'x' })), all.slice(2));
  assert.deepEqual(bench.pods(scopeOf({})), all, 'all of the namespace');
  assert.deepEqual(bench.pods(scopeOf({ team: 'y' })), []);
});

test('view() takes labels that no object can have for what they are', () => {
  const bench = new Bench();
  bench.world.annotate('statefulsets', 'ingester-zone-a', { labels: { a: 'b', c: 'd' } });
  bench.world.show();
  assert.deepEqual(bench.pods(scopeOf({ a: 'b', c: 'd' })), all.slice(0, 2));
  assert.deepEqual(bench.pods(scopeOf({ a: 'b,c=d' })), []);
});

test('view() is the same object while nothing has changed', async () => {
  const bench = new Bench();
  const first = bench.sets.view(scope);
  await bench.world.clock.advance(60_000);
  assert.equal(bench.sets.view(scope), first);
});

const renewals: Record<string, (bench: Bench) => void | Promise<void>> = {
  'the watch has shown a change': ({ world }) => world.show(),
  'a list under way has shown a change': ({ world }) => {
    world.pods.freshness.reset();
    world.pods.list(world.object('pods', 'ingester-zone-a-1'));
  },
  'a list that is under way has shown one more': ({ world, sets }) => {
    world.pods.freshness.reset();
    world.pods.list(world.put('pods', rawPod({ ordinal: 0, revision: 'last-hash' })));
    sets.view(scope);
    world.pods.list(world.object('pods', 'ingester-zone-a-1'));
  },
  'a read has shown a change': async (bench) => {
    await bench.world.clock.advance(5_001);
    await bench.prove();
  },
};

for (const [what, happens] of Object.entries(renewals)) {
  test(`view() is new at once when ${what}`, async () => {
    const bench = new Bench();
    bench.repin('new-hash');
    assert.deepEqual(bench.pods(), all);
    await happens(bench);
    assert.deepEqual(bench.pods(), repinned);
  });
}

test('prove() asks nothing of what is proven by a request of the last 5 s', async () => {
  const bench = new Bench();
  await bench.world.clock.advance(5_000);
  await bench.prove();
  assert.deepEqual(bench.world.taken(), []);
  await bench.world.clock.advance(1);
  await bench.prove();
  assert.deepEqual(bench.world.taken(), lists);
  assert.equal(bench.provenAt(), 5_001);
});

test('prove() reads only what is not proven', async () => {
  const bench = new Bench();
  const { clock, pods } = bench.world;
  await clock.advance(6_000);
  pods.freshness.consistentRead(pods.freshness.seen ?? '', clock.monotonic());
  await bench.prove();
  assert.deepEqual(bench.world.taken(), lists.slice(0, 1));
});

test('prove() shares a read among all who ask before it is sent', async () => {
  const bench = new Bench();
  await bench.world.clock.advance(6_000);
  await Promise.all(Array.from({ length: 100 }, () => bench.prove()));
  assert.deepEqual(bench.world.taken(), lists);
});

test('prove() is not satisfied by what was sent before the question', async () => {
  const bench = new Bench();
  const { world } = bench;
  await world.clock.advance(6_000);
  const held = Promise.withResolvers<void>();
  world.after = () => held.promise;
  const first = bench.prove();
  await world.clock.settle();
  await world.clock.advance(100);
  bench.repin('new-hash');
  const later = [bench.prove(), bench.prove()];
  world.after = () => undefined;
  held.resolve();
  await first;
  await Promise.all(later);
  assert.equal(bench.provenAt(), 6_100);
  assert.deepEqual(bench.pods(), repinned);
  assert.equal(world.taken().length, 2 * lists.length);
});

test('prove() of one scope does not wait for that of another', async () => {
  const bench = new Bench();
  const { world } = bench;
  await world.clock.advance(6_000);
  world.annotate('statefulsets', 'ingester-zone-b', { labels: { team: 'x' } });
  world.after = ({ name }) =>
    name === 'rollout-group=ingester' ? Promise.withResolvers<void>().promise : undefined;
  const leaving = new AbortController();
  const hanging = bench.prove(leaving.signal);
  await bench.sets.prove(scopeOf({ team: 'x' }), signal);
  assert.deepEqual(bench.pods(scopeOf({ team: 'x' })), all.slice(2));
  leaving.abort(new Error('the test is over'));
  await assert.rejects(hanging, { message: 'the test is over' });
});

test('prove() ends in 5 s, however long a list takes', async () => {
  const bench = new Bench();
  const { world } = bench;
  await world.clock.advance(6_000);
  world.before = () => Promise.withResolvers<void>().promise;
  const proving = assert.rejects(bench.prove(), {
    name: 'ViewNotReadError',
    message:
      'Cannot tell how the StatefulSets of namespace "test" with labels "rollout-group=ingester" and their pods are: ' +
      'the API server has not answered for 5 s',
  });
  await world.clock.advance(4_999);
  assert.deepEqual(world.clock.pending(), [1]);
  await world.clock.advance(1);
  await proving;
  assert.deepEqual([bench.provenAt(), world.clock.pending()], [0, []]);
});

test('prove() tells all who wait what a list failed with, and reads again for the next', async () => {
  const bench = new Bench();
  const { world } = bench;
  await world.clock.advance(6_000);
  world.before = () => {
    throw refusal(503);
  };
  const failed = await Promise.allSettled([bench.prove(), bench.prove()]);
  assert.deepEqual(
    failed.map((each) => each.status),
    ['rejected', 'rejected'],
  );
  world.before = () => undefined;
  await bench.prove();
  assert.equal(bench.provenAt(), 6_000);
});

test('prove() tells that no cache can be trusted, when a list is older than what had been seen (D-6)', async () => {
  const bench = new Bench();
  const { world } = bench;
  world.pods.freshness.delivered('5000');
  await world.clock.advance(6_000);
  await assert.rejects(bench.prove(), { name: 'RevisionWentBackError' });
});

test('prove() takes nothing from a list that is older than a write of ours', async () => {
  const bench = new Bench();
  const { world } = bench;
  const sentAt = world.clock.monotonic();
  world.pods.freshness.ownWrite({ sentAt, before: '101', answered: '5000' });
  await world.clock.advance(6_000);
  await assert.rejects(bench.prove(), { name: 'LaggingReadError' });
  assert.equal(bench.provenAt(), 0);
});

test('prove() reads the sets of a scope that no cache knows', async () => {
  const bench = new Bench();
  const { world } = bench;
  await world.clock.advance(6_000);
  world.put('statefulsets', rawStatefulSet({ name: 'ingester-zone-c', replicas: 1 }));
  world.put('pods', rawPod({ set: 'ingester-zone-c' }));
  await bench.prove();
  assert.deepEqual(bench.pods(), [...all, 'ingester-zone-c-0']);
});

test('forget() leaves the scope to the caches', async () => {
  const bench = new Bench();
  const { world } = bench;
  await world.clock.advance(6_000);
  bench.repin('new-hash');
  await bench.prove();
  assert.deepEqual(bench.pods(), repinned);
  bench.sets.forget(scope);
  assert.deepEqual(bench.pods(), all);
});
