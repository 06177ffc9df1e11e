/** What happened to others while a group was rolled, and must not happen here under a budget (docs/rules/incidents.md). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { World } from '#support/world/world.ts';
import { evict } from '#support/world/world-evictions.ts';
import { GROUP, images, NAMESPACE } from '#support/world/world-group.ts';
import { givenAway, patchPod } from '../stages/budget-stage.ts';
import { EvictionReplica, endAll, replicasUnderBudget } from '../stages/eviction-replica.ts';
import { assertKept, deletedPods } from '../stages/rollout-stage.ts';
import { reviewedWorld, zonesDown } from './incident-stage.ts';

const zoneOfA = [0, 1, 2].map((ordinal) => `ingester-zone-a-${ordinal}`);

/** The zones of `pods`. */
function zonesOf(pods: readonly string[]): readonly string[] {
  return [...new Set(pods.map((pod) => pod.replace(/-\d+$/, '')))];
}

/** Pauses what the API server tells the operators about pods. @returns a way to go on */
function pausePods(world: World): () => void {
  const paused = world.operators.flatMap(({ client }) =>
    world.cluster.faults.watches({ client }).filter(({ options }) => options.resource === 'pods'),
  );
  for (const each of paused) each.pause();
  return () => {
    for (const each of paused) each.resume();
  };
}

/** Puts the sets of a second group under the budget of the first. */
async function addGroupUnderBudget(world: World): Promise<void> {
  await world.addGroup('store');
  const labels = { app: GROUP };
  for (const zone of world.zones) {
    const name = `store-zone-${zone}`;
    const document = { metadata: { labels }, spec: { template: { metadata: { labels } } } };
    const body = { kind: 'merge', document } as const;
    const key = { namespace: NAMESPACE, name };
    await world.run(world.admin.patch(resourceTypes.statefulSets, key, { body }));
    for (const ordinal of [0, 1, 2]) await patchPod(world, `${name}-${ordinal}`, { labels });
  }
  await world.clock.advance(minutes(1));
}

describe('incidents', () => {
  test('INCIDENT-1 a zone all of whose pods are missing is down: nothing of another zone is evicted or rolled', async () => {
    const world = await reviewedWorld();
    const allow = world.cluster.faults.add({
      match: { verb: 'create', resource: 'pods', subresource: '' },
      action: { kind: 'error', code: 403 },
    });
    for (const pod of zoneOfA) await world.deletePod(pod);
    await world.clock.advance(seconds(10));
    assert.match(
      await evict(world, 'ingester-zone-b-0'),
      /^429 .*pods? unknown in ingester-zone-a/,
    );
    await world.setImage(images.new);
    await world.clock.advance(minutes(5));
    assert.deepEqual(deletedPods(world), []);
    allow();
    await world.untilRolled(images.new, minutes(30));
    assertKept(world);
    await world.close();
  });

  test('INCIDENT-2 a burst of 1,000 evictions under a limit of our client is answered in time, and leaves nothing that waits', async () => {
    const { world, one } = await replicasUnderBudget();
    const flags = ['-kubernetes.client-qps=5', '-kubernetes.client-burst=10'];
    const limited = await EvictionReplica.start(world, 'limited', { flags });
    await world.clock.advance(seconds(15));
    const asked = Array.from({ length: 1_000 }, (_, at) =>
      limited.ask(`${'abc'[at % 3]}-${Math.floor(at / 3) % 3}`),
    );
    const all = await world.run(Promise.all(asked));
    const allowed = all.filter(({ answer }) => answer === 'allowed').map(({ pod }) => pod);
    assert.equal(new Set(allowed).size, 1);
    assert.ok(all.every(({ answer }) => answer === 'allowed' || answer.startsWith('429 ')));
    assert.ok(all.every(({ took }) => took <= seconds(5)));
    // Nobody who waits for the limiter any more keeps a place in it.
    await world.clock.advance(seconds(3));
    const again = await world.run(limited.ask(allowed[0] ?? ''));
    assert.deepEqual(again, { pod: allowed[0], answer: 'allowed', took: 0 });
    await endAll(world, one, limited);
  });

  test('INCIDENT-7 an operator that does not see its own deletion takes no second pod', async () => {
    const world = await reviewedWorld();
    const most = zonesDown(world);
    await world.setImage(images.new);
    await world.clock.runUntil(() => deletedPods(world).length > 0);
    const goOn = pausePods(world);
    const before = deletedPods(world);
    await world.clock.advance(seconds(8));
    assert.deepEqual([zonesOf(deletedPods(world)).length, most()], [1, 1]);
    assert.match(await evict(world, 'ingester-zone-c-0'), /^429 /);
    assert.deepEqual(deletedPods(world).slice(0, before.length), before);
    goOn();
    await world.untilRolled(images.new, minutes(30));
    assert.deepEqual([deletedPods(world).length, most()], [9, 1]);
    assertKept(world);
    await world.close();
  });

  test('INCIDENT-8 a deletion that comes late does not hit the successor of its pod', async () => {
    const world = await reviewedWorld();
    world.cluster.faults.add({
      match: { verb: 'delete', resource: 'pods', client: world.operators[0]?.client ?? '' },
      action: { kind: 'delay', delay: seconds(20) },
      count: 1,
    });
    const refused = (): number =>
      world.cluster.eventLog.calls.filter(
        ({ verb, resource, outcome }) =>
          verb === 'delete' && resource === 'pods' && outcome === 409,
      ).length;
    await world.setImage(images.new);
    await world.clock.advance(seconds(2));
    assert.deepEqual(deletedPods(world), []);
    const [meant = ''] = givenAway(world) ?? [];
    await world.deletePod(meant);
    await world.clock.advance(seconds(25));
    assert.equal(refused(), 1);
    await world.untilRolled(images.new, minutes(30));
    assert.ok(!deletedPods(world).includes(meant));
    assertKept(world);
    await world.close();
  });

  test('INCIDENT-12 a leader that is halted beyond its Lease takes nothing when it goes on, nor lets it be evicted', async () => {
    const world = await reviewedWorld(2);
    const most = zonesDown(world);
    const [leader] = world.operators;
    await world.setImage(images.new);
    await world.clock.runUntil(() => deletedPods(world).length > 0);
    leader?.pause(minutes(2));
    await world.clock.advance(minutes(1.9));
    for (let at = 0; at < 40; at += 1) {
      await evict(world, `ingester-zone-${'abc'[at % 3]}-${at % 2}`);
      await world.clock.advance(seconds(1));
    }
    await world.untilRolled(images.new, minutes(30));
    assert.equal(most(), 1);
    assertKept(world);
    await world.close();
  });

  test('INCIDENT-14 two groups under one budget that are rolled at once take one zone at a time', async () => {
    const world = await reviewedWorld();
    await addGroupUnderBudget(world);
    const most = zonesDown(world);
    await world.setImage(images.new);
    await world.setImageOf('store', images.new);
    const end = world.clock.now() + minutes(30);
    const areDone = (): boolean =>
      world.isComplete(images.new) && world.isComplete(images.new, 'store');
    await world.clock.runUntil(() => areDone() || world.clock.now() > end);
    assert.deepEqual([areDone(), most()], [true, 1]);
    assertKept(world);
    await world.close();
  });
});
