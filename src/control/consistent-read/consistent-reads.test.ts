import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { ingesterGroup, rawPod, rawStatefulSet } from '#support/objects/objects.ts';
import { GroupWorld } from '#support/rollouts/group-world.ts';
import { groupScope } from '../watch/group-sets.ts';
import { ConsistentReads, type ReadSets } from './consistent-reads.ts';

const KEY = 'test/ingester';
const everything = { pods: true, statefulSets: true };
const { signal } = new AbortController();

class Bench {
  readonly world = new GroupWorld(ingesterGroup({ zones: ['a', 'b'] }));
  readonly reads = new ConsistentReads({
    client: this.world.client,
    clock: this.world.clock,
    pods: this.world.pods.freshness,
    statefulSets: this.world.statefulSets.freshness,
  });

  /** What is known of the group now. */
  over(): ReadSets {
    const { pods, statefulSets } = this.world;
    const listers = { statefulSets: statefulSets.lister, pods: pods.lister };
    return this.reads.over(groupScope(KEY), listers);
  }

  async read(wish = everything): Promise<void> {
    const cached = this.over().sets.map(({ set }) => set);
    await this.reads.read(groupScope(KEY), { wish, cached }, signal);
  }

  /** Names of the pods that are known of zone a, with their revisions. */
  pods(): readonly string[] {
    const zone = this.over().sets.find(({ set }) => set.name === 'ingester-zone-a');
    return (zone?.pods ?? []).map(({ name, revision }) => `${name} ${revision}`).toSorted();
  }

  repin(ordinal: number, revision: string): KubernetesObject {
    return this.world.put('pods', rawPod({ ordinal, revision }));
  }
}

const unchanged = ['ingester-zone-a-0 last-hash', 'ingester-zone-a-1 last-hash'];

test('ConsistentReads show what was read, where the cache does not show it yet (D-49)', async () => {
  const bench = new Bench();
  bench.repin(2, 'read-hash');
  await bench.read();
  assert.deepEqual(bench.pods(), [...unchanged, 'ingester-zone-a-2 read-hash']);
});

test('ConsistentReads show a newer cached change over what was read (D-49)', async () => {
  const bench = new Bench();
  bench.repin(2, 'read-hash');
  await bench.read();
  const newer = bench.repin(2, 'newer-hash');
  bench.world.pods.freshness.reset();
  bench.world.pods.list(newer);
  assert.deepEqual(bench.pods(), [...unchanged, 'ingester-zone-a-2 newer-hash']);
});

test('ConsistentReads never fall back behind a cache that was ahead of what was read, and then lists again', async () => {
  const bench = new Bench();
  const { world } = bench;
  await bench.read();
  world.drop('pods', 'ingester-zone-a-2');
  world.show();
  // Meanwhile nobody has looked.
  world.pods.freshness.reset();
  assert.deepEqual(bench.pods(), unchanged);
  assert.equal(bench.over().proof.pods, undefined);
});

test('ConsistentReads that were sent after a cache began to list again stand for it, whatever it had shown before', async () => {
  const bench = new Bench();
  bench.world.pods.freshness.reset();
  await bench.read();
  assert.notEqual(bench.over().proof.pods, undefined);
});

test('ConsistentReads show a pod that was recreated once: as the cache shows it', async () => {
  const bench = new Bench();
  const { world } = bench;
  await bench.read();
  world.drop('pods', 'ingester-zone-a-2');
  const anew = world.put('pods', rawPod({ ordinal: 2, uid: 'another', revision: 'new-hash' }));
  world.pods.freshness.reset();
  world.pods.list(anew);
  assert.deepEqual(bench.pods(), [...unchanged, 'ingester-zone-a-2 new-hash']);
});

test('ConsistentReads show a set that was recreated once: as the cache shows it', async () => {
  const bench = new Bench();
  const { world } = bench;
  await bench.read();
  world.drop('statefulsets', 'ingester-zone-a');
  const anew = world.put('statefulsets', rawStatefulSet({ uid: 'another' }));
  world.statefulSets.freshness.reset();
  world.statefulSets.list(anew);
  const sets = bench.over().sets.map(({ set: { name, uid } }) => `${name} ${uid}`);
  assert.deepEqual(sets, ['ingester-zone-a another', 'ingester-zone-b ingester-zone-b-uid']);
});

test('ConsistentReads show no pod that a cache shows released since', async () => {
  const bench = new Bench();
  const { world } = bench;
  await bench.read();
  const released = world.annotate('pods', 'ingester-zone-a-2', { ownerReferences: [] });
  world.pods.freshness.reset();
  world.pods.list(released);
  const [zone] = bench.over().sets;
  assert.deepEqual(bench.pods(), unchanged);
  assert.deepEqual(zone?.orphans, ['ingester-zone-a-2']);
});

test('ConsistentReads show no set that a cache shows outside of the group since', async () => {
  const bench = new Bench();
  const { world } = bench;
  await bench.read();
  const left = world.annotate('statefulsets', 'ingester-zone-a', { labels: {} });
  world.statefulSets.freshness.reset();
  world.statefulSets.list(left);
  const { sets, proof } = bench.over();
  assert.deepEqual(
    sets.map(({ set }) => set.name),
    ['ingester-zone-b'],
  );
  assert.deepEqual(proof.statefulSets?.newer, { 'ingester-zone-a': left.metadata.resourceVersion });
});

test('ConsistentReads of several sets are as old as the first that was sent (D-3)', async () => {
  const bench = new Bench();
  const { world } = bench;
  const sentAt = world.clock.monotonic();
  world.pods.freshness.reset();
  world.atSend = async ({ name }) => {
    if (name === 'name=ingester-zone-b') await world.clock.advance(5_000);
  };
  await bench.read({ pods: true, statefulSets: false });
  assert.equal(bench.over().proof.pods?.provenAt, sentAt);
});

test('ConsistentReads say which pods a cache shows newer than their list, and at which revision each', async () => {
  const bench = new Bench();
  const { world } = bench;
  bench.repin(2, 'read-hash');
  await bench.read();
  assert.equal(bench.over().proof.pods?.newer, undefined);
  const newer = bench.repin(2, 'newer-hash');
  const made = world.put('pods', rawPod({ ordinal: 3, uid: 'made-later' }));
  bench.repin(1, 'not-shown-hash');
  // A cache that begins to list again has reached nothing, and keeps what it has until the list is there.
  world.pods.freshness.reset();
  world.pods.list(newer);
  world.pods.list(made);
  assert.deepEqual(bench.over().proof.pods?.newer, {
    'ingester-zone-a-2': newer.metadata.resourceVersion,
    'ingester-zone-a-3': made.metadata.resourceVersion,
  });
});

test('ConsistentReads say which sets a cache shows newer than their list', async () => {
  const bench = new Bench();
  const { world } = bench;
  world.put('statefulsets', rawStatefulSet({ updateRevision: 'read-hash' }));
  await bench.read();
  const newer = world.put('statefulsets', rawStatefulSet({ updateRevision: 'newer-hash' }));
  world.statefulSets.freshness.reset();
  world.statefulSets.list(newer);
  const { sets, proof } = bench.over();
  assert.deepEqual(proof.statefulSets?.newer, {
    'ingester-zone-a': newer.metadata.resourceVersion,
  });
  assert.equal(sets[0]?.set.status.updateRevision, 'newer-hash');
});

test('ConsistentReads show no older cached state over what was read', async () => {
  const bench = new Bench();
  const { world } = bench;
  bench.repin(2, 'older-hash');
  bench.repin(2, 'read-hash');
  await bench.read();
  world.show('pods', 1);
  assert.deepEqual(bench.pods(), [...unchanged, 'ingester-zone-a-2 read-hash']);
});

test('ConsistentReads take a pod for gone that the read lacks and the cache still has', async () => {
  const bench = new Bench();
  bench.world.drop('pods', 'ingester-zone-a-2');
  await bench.read();
  assert.deepEqual(bench.pods(), unchanged);
});

test('ConsistentReads leave it to the cache once that has passed the read, also what is gone since', async () => {
  const bench = new Bench();
  const { world } = bench;
  bench.repin(2, 'read-hash');
  await bench.read();
  world.drop('pods', 'ingester-zone-a-2');
  world.show();
  world.bookmark();
  assert.deepEqual(bench.pods(), unchanged);
});

test('ConsistentReads are proven by the read from its sending while it stands, then by the cache that it proves', async () => {
  const bench = new Bench();
  const { world } = bench;
  await world.clock.advance(1_000);
  const sentAt = world.clock.monotonic();
  world.put('statefulsets', rawStatefulSet({ name: 'of-another-group', group: 'other' }));
  world.after = () => world.clock.advance(300);
  await bench.read();
  const { proof } = bench.over();
  assert.deepEqual(proof.statefulSets, { view: '109', proof: '109', provenAt: sentAt });
  assert.equal(proof.pods?.provenAt, sentAt + 300);
  assert.deepEqual(proof.pods.view, { 'ingester-zone-a': '109', 'ingester-zone-b': '109' });
  world.bookmark();
  assert.equal(bench.over().proof.statefulSets?.provenAt, sentAt);
  assert.equal(bench.over().proof.pods?.view, '109');
});

test('ConsistentReads read one type alone, and leave the other to its cache', async () => {
  const bench = new Bench();
  await bench.read({ pods: false, statefulSets: true });
  assert.deepEqual(bench.world.taken(), ['list statefulsets rollout-group=ingester']);
  await bench.read({ pods: true, statefulSets: false });
  const pods = ['list pods name=ingester-zone-a', 'list pods name=ingester-zone-b'];
  assert.deepEqual(bench.world.taken(), pods);
});

test('ConsistentReads read the pods of a set that only the list of sets shows', async () => {
  const bench = new Bench();
  const { world } = bench;
  world.put('statefulsets', rawStatefulSet({ name: 'ingester-zone-c', replicas: 1 }));
  world.put('pods', rawPod({ set: 'ingester-zone-c' }));
  await bench.read();
  const zone = bench.over().sets.find(({ set }) => set.name === 'ingester-zone-c');
  assert.deepEqual(
    zone?.pods.map(({ name }) => name),
    ['ingester-zone-c-0'],
  );
});

test('ConsistentReads give a set the pods that it controls, whatever else its selector found', async () => {
  const bench = new Bench();
  const { world } = bench;
  const former = [{ kind: 'StatefulSet', name: 'former', uid: 'former', controller: true }];
  world.annotate('pods', 'ingester-zone-a-1', { ownerReferences: former });
  world.annotate('pods', 'ingester-zone-a-2', { ownerReferences: [] });
  await bench.read();
  const zone = bench.over().sets.find(({ set }) => set.name === 'ingester-zone-a');
  assert.deepEqual(
    zone?.pods.map(({ name }) => name),
    ['ingester-zone-a-0'],
  );
  assert.deepEqual(zone.orphans, ['ingester-zone-a-2']);
});

test('ConsistentReads end all trust when a list is older than what had been delivered before it was sent (D-6)', async () => {
  const bench = new Bench();
  bench.world.pods.freshness.delivered('5000');
  await assert.rejects(bench.read(), { name: 'RevisionWentBackError' });
});

test('ConsistentReads take nothing from a list that is older than a write of ours that was answered before', async () => {
  const bench = new Bench();
  const { world } = bench;
  const sentAt = world.clock.monotonic();
  world.pods.freshness.ownWrite({ sentAt, before: '101', answered: '5000' });
  await assert.rejects(bench.read(), {
    name: 'LaggingReadError',
    message:
      'The API server answered a list of pods as of revision 108, although this operator had written revision 5000 before',
  });
  assert.equal(bench.over().proof.pods?.view, '108');
});
