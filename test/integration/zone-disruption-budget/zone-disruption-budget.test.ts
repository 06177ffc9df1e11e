/** Evictions under ZoneDisruptionBudgets, as two replicas of the webhook let them go. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '#base/json.ts';
import { instant, minutes, seconds } from '#base/units.ts';
import { objectAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ZoneBudgetReplica, ZoneBudgetStage } from './zone-budget-stage.ts';

const disturbed = /^429 denying pod eviction for db-\d+: /;
const noZone = /^429 denying pod eviction for db-\d+: .*zone/;
const nothingAllowed = /^403 denying pod eviction for db-\d+: /;

async function twoReplicas(): Promise<{
  readonly stage: ZoneBudgetStage;
  readonly leader: ZoneBudgetReplica;
  readonly other: ZoneBudgetReplica;
}> {
  const stage = await ZoneBudgetStage.open();
  const leader = await stage.start();
  const other = await stage.start();
  leader.lead();
  return { stage, leader, other };
}

test('two that evict at once over three zones, by two replicas, are let through one zone at a time', async () => {
  const { stage, leader, other } = await twoReplicas();
  stage.cap = 2;
  await stage.create({ maxUnavailable: 2 });
  const zones = ['zone-a', 'zone-b', 'zone-c'].map((zone) => stage.podsOf(zone));
  assert.deepEqual(
    zones.map((pods) => pods.length),
    [4, 4, 4],
  );
  const uids = new Map([...stage.env.stored('pods').keys()].map((pod) => [pod, uidOf(stage, pod)]));
  const left = (): string[] =>
    [...uids].flatMap(([pod, uid]) => (uidOf(stage, pod) === uid ? [pod] : []));
  for (let rounds = 0; rounds < 40 && left().length > 0; rounds += 1) {
    const asked = left().flatMap((pod) => [leader.evict(pod), other.evict(pod)]);
    const said = await stage.finish(Promise.all(asked));
    assert.ok(
      said.some((each) => each === ''),
      said.join('; '),
    );
    assert.ok(
      left().length <= 2 ||
        said.some((each) => each.startsWith('429 denying pod eviction for db-')),
    );
    await stage.until('all pods are ready again', () => stage.isWhole());
    await stage.pass(seconds(2));
  }
  assert.deepEqual(left(), []);
  await stage.close();
});

test('what one replica gave away counts at another one, also when the one that leads is gone', async () => {
  const { stage, leader, other } = await twoReplicas();
  await stage.create({ maxUnavailable: 1 });
  const [a] = stage.podsOf('zone-a');
  const [b] = stage.podsOf('zone-b');
  assert.ok(a !== undefined && b !== undefined);
  assert.equal(await stage.finish(leader.review(a)), '');
  leader.die();
  assert.match(await stage.finish(other.evict(b)), disturbed);
  other.lead();
  assert.match(await stage.finish(other.evict(b)), disturbed);
  assert.equal(await stage.finish(other.evict(a)), '');
  await stage.until('it is back', () => stage.isWhole());
  await stage.pass(seconds(2));
  assert.equal(await stage.finish(other.evict(b)), '');
  await stage.until('that one is back, too', () => stage.isWhole());
  await stage.close();
});

test('[zau 89] an eviction that never came gives the other zones free after two minutes', async () => {
  const { stage, leader, other } = await twoReplicas();
  await stage.create({ maxUnavailable: 1 });
  const [a] = stage.podsOf('zone-a');
  const [b] = stage.podsOf('zone-b');
  assert.ok(a !== undefined && b !== undefined);
  assert.equal(await stage.finish(leader.review(a)), '');
  await stage.pass(seconds(100));
  assert.match(await stage.finish(other.evict(b)), disturbed);
  await stage.pass(seconds(30));
  assert.equal(await stage.finish(other.evict(b)), '');
  await stage.close();
});

test('a pod on a node whose zone nobody knows stays, and while it is away nothing else goes', async () => {
  const { stage, leader } = await twoReplicas();
  await stage.create({ maxUnavailable: 1 });
  const document = { metadata: { labels: { 'topology.kubernetes.io/zone': null } } };
  const fresh = await stage.start();
  await stage.env.client.patch(
    resourceTypes.nodes,
    { name: 'node-1' },
    { body: { kind: 'merge', document } },
  );
  const third = await stage.start();
  const [a] = stage.podsOf('zone-a');
  const [b] = stage.podsOf('zone-b');
  assert.ok(a !== undefined && b !== undefined);
  assert.match(await stage.finish(third.evict(b)), noZone);
  assert.equal(await stage.finish(third.evict(a)), '', 'the others may go');
  await stage.until('it is back', () => stage.isWhole());
  await stage.pass(seconds(2));
  assert.equal(await stage.finish(fresh.evict(b)), '', 'who saw the node before remembers');
  assert.match(await stage.finish(leader.evict(a)), disturbed);
  await stage.close();
});

test('a budget that is changed counts at once: to none, to more, to what cannot be read', async () => {
  const { stage, leader, other } = await twoReplicas();
  stage.cap = 2;
  await stage.create({ maxUnavailable: 1 });
  const [one, two, three] = stage.podsOf('zone-a');
  assert.ok(one !== undefined && two !== undefined && three !== undefined);
  assert.equal(await stage.finish(leader.evict(one)), '');
  assert.match(await stage.finish(other.evict(two)), disturbed);
  await stage.edit({ maxUnavailable: 2 });
  await stage.pass(seconds(1));
  assert.equal(await stage.finish(other.evict(two)), '');
  assert.match(await stage.finish(leader.evict(three)), disturbed);
  await stage.until('both are back', () => stage.isWhole());
  await stage.edit({ maxUnavailable: 0 });
  await stage.pass(seconds(1));
  assert.match(await stage.finish(leader.evict(three)), nothingAllowed);
  await stage.edit({ maxUnavailable: 'two' });
  await stage.pass(seconds(1));
  assert.match(
    await stage.finish(leader.evict(three)),
    /^403 denying pod eviction for db-\d+: the budget cannot be read \(ZoneDisruptionBudget db\): spec\.maxUnavailable /,
  );
  await stage.close();
});

test('of two budgets over a pod each must allow it, and each has a ledger of its own in the namespace of the operator', async () => {
  const { stage, leader } = await twoReplicas();
  await stage.create({ maxUnavailable: 1 });
  await stage.create({ maxUnavailable: 0 }, 'none');
  const [a] = stage.podsOf('zone-a');
  assert.ok(a !== undefined);
  await stage.pass(minutes(3));
  assert.match(await stage.finish(leader.evict(a)), nothingAllowed);
  await stage.edit({ maxUnavailable: 3 }, 'none');
  await stage.pass(seconds(1));
  assert.equal(await stage.finish(leader.evict(a)), '');
  const found = await stage.finish(
    stage.env.client.list(resourceTypes.configMaps, { namespace: 'ops' }),
  );
  assert.deepEqual(found.items.map(({ metadata }) => metadata.name).toSorted(), [
    'rollout-operator-zone-ledger-demo.db',
    'rollout-operator-zone-ledger-demo.none',
  ]);
  await stage.close();
});

test('a replica that has seen nothing yet lets no pod go that serves', async () => {
  const { stage } = await twoReplicas();
  await stage.create({ maxUnavailable: 1 });
  const [a] = stage.podsOf('zone-a');
  assert.ok(a !== undefined);
  const blind = new ZoneBudgetReplica(stage.env, 'blind');
  assert.equal(
    await stage.finish(blind.review(a)),
    `429 denying pod eviction for ${a}: the pod, as it is now, has not been seen by this operator yet`,
  );
  blind.die();
  await stage.close();
});

for (const turns of [1, 4, 16, 64, 256]) {
  test(`the replica that leads dies ${turns} turns after evictions began, and the budget changes: never two zones are away`, async () => {
    const { stage, leader, other } = await twoReplicas();
    stage.cap = 2;
    await stage.create({ maxUnavailable: 2 });
    const pods = ['zone-a', 'zone-b', 'zone-c'].flatMap((zone) => stage.podsOf(zone));
    // Those of the leader may never be answered.
    void Promise.allSettled(pods.flatMap((pod) => [leader.evict(pod), other.evict(pod)]));
    for (let turn = 0; turn < turns; turn += 1) await stage.env.clock.yield();
    leader.die();
    await stage.edit({ maxUnavailable: 1 });
    await stage.pass(seconds(20));
    other.lead();
    const third = await stage.start();
    for (let rounds = 0; rounds < 12; rounds += 1) {
      const next = pods.flatMap((pod) => [third.evict(pod), other.evict(pod)]);
      await stage.finish(Promise.allSettled(next));
      await stage.pass(seconds(15));
    }
    await stage.until('all pods are ready', () => stage.isWhole());
    const counted = new Set([...other.counted, ...third.counted]);
    assert.ok(counted.has('allowed DisruptionAllowed') && counted.has('denied DeniedByZdb'));
    await stage.close();
  });
}

test('a replica whose lists fail lets no pod go that a budget may govern', async () => {
  const { stage, leader } = await twoReplicas();
  await stage.create({ maxUnavailable: 1 });
  const [a] = stage.podsOf('zone-a');
  assert.ok(a !== undefined);
  await stage.pass(seconds(30));
  const mend = stage.env.cluster.faults.add({
    match: { verb: 'list', resource: 'zonedisruptionbudgets' },
    action: { kind: 'error', code: 500 },
  });
  assert.match(await stage.finish(leader.review(a)), /^429 .*the budgets cannot be asked/);
  mend();
  assert.equal(await stage.finish(leader.review(a)), '');
  await stage.close();
});

test('the status shows by zone what there is, what is given away and by whichever replica, and what may go', async () => {
  const { stage, leader, other } = await twoReplicas();
  await stage.create({ maxUnavailable: 1 });
  const each = (count: number): JsonObject => ({
    'zone-a': count,
    'zone-b': count,
    'zone-c': count,
  });
  const whole = {
    observedGeneration: 1,
    disruptionsAllowed: each(1),
    currentHealthy: each(4),
    currentUnhealthy: each(0),
    desiredHealthy: each(3),
    expectedPods: each(4),
  };
  assert.deepEqual(stage.status(), whole);
  const [a] = stage.podsOf('zone-a');
  const [b] = stage.podsOf('zone-b');
  assert.ok(a !== undefined && b !== undefined);
  assert.equal(await stage.finish(other.review(a)), '');
  await stage.pass(seconds(45));
  assert.deepEqual(
    { ...stage.status(), disruptedPods: Object.keys(objectAt(stage.status(), 'disruptedPods')) },
    {
      ...whole,
      disruptedPods: [a],
      disruptionsAllowed: each(0),
      currentHealthy: { ...each(4), 'zone-a': 3 },
      currentUnhealthy: { ...each(0), 'zone-a': 1 },
    },
  );
  await stage.pass(minutes(3));
  assert.deepEqual(stage.status(), whole, 'nothing came of it');
  assert.equal(await stage.finish(leader.evict(b)), '');
  await stage.until('the pod that leaves counts as unhealthy, and as nothing else', () => {
    const { disruptedPods, currentUnhealthy } = stage.status();
    const isCounted = isDeepStrictEqual(currentUnhealthy, { ...each(0), 'zone-b': 1 });
    return isCounted && disruptedPods === undefined;
  });
  await stage.until('it is back', () => stage.isWhole());
  await stage.pass(minutes(1));
  assert.deepEqual(stage.status(), whole);
  const at = stage.env.clock.now();
  await stage.pass(minutes(30));
  assert.deepEqual(stage.statusWriters(at), [], 'nothing is written at rest');
  assert.deepEqual(new Set(stage.statusWriters(instant(0))), new Set(['replica-1']));
  await stage.close();
});

test('a status of which nobody can tell anything lets no zone lose a pod, and another leader goes on with it', async () => {
  const { stage, leader, other } = await twoReplicas();
  await stage.create({ maxUnavailable: 1 });
  await stage.edit({ maxUnavailable: 'two' });
  await stage.pass(seconds(1));
  const none = { 'zone-a': 0, 'zone-b': 0, 'zone-c': 0 };
  assert.deepEqual(
    [stage.status()['observedGeneration'], stage.status()['disruptionsAllowed']],
    [1, none],
  );
  leader.die();
  await stage.edit({ maxUnavailable: 2 });
  await stage.pass(minutes(1));
  assert.deepEqual(stage.status()['observedGeneration'], 1, 'nobody leads');
  other.lead();
  await stage.pass(seconds(1));
  assert.deepEqual(
    [stage.status()['observedGeneration'], stage.status()['disruptionsAllowed']],
    [3, { 'zone-a': 2, 'zone-b': 2, 'zone-c': 2 }],
  );
  await stage.close();
});

test('the status shows at once what the replica that leads gave away, and nothing to give while its ledger is lost', async () => {
  const { stage, leader } = await twoReplicas();
  await stage.create({ maxUnavailable: 1 });
  const [a] = stage.podsOf('zone-a');
  assert.ok(a !== undefined);
  assert.equal(await stage.finish(leader.review(a)), '');
  await stage.pass(seconds(1));
  assert.deepEqual(Object.keys(objectAt(stage.status(), 'disruptedPods')), [a]);
  await stage.pass(minutes(3));
  const allowed = (): unknown => stage.status()['disruptionsAllowed'];
  assert.deepEqual(allowed(), { 'zone-a': 1, 'zone-b': 1, 'zone-c': 1 });
  const ledger = { namespace: 'ops', name: 'rollout-operator-zone-ledger-demo.db' };
  const lost = stage.env.client.delete(resourceTypes.configMaps, ledger, { preconditions: {} });
  await stage.finish(lost);
  await stage.pass(seconds(45));
  assert.deepEqual(allowed(), { 'zone-a': 0, 'zone-b': 0, 'zone-c': 0 });
  await stage.pass(minutes(4));
  assert.deepEqual(allowed(), { 'zone-a': 1, 'zone-b': 1, 'zone-c': 1 }, 'waited for');
  await stage.close();
});

test('reviews are counted in the words of the peer, and a dry run takes nothing', async () => {
  const { stage, leader } = await twoReplicas();
  await stage.create({ maxUnavailable: 1 });
  const [a] = stage.podsOf('zone-a');
  const [b] = stage.podsOf('zone-b');
  assert.ok(a !== undefined && b !== undefined);
  assert.equal(await stage.finish(leader.review(a, { isDryRun: true })), '');
  assert.equal(await stage.finish(leader.review(b)), '');
  assert.equal(await stage.finish(leader.review(b)), '');
  assert.match(await stage.finish(leader.review(a)), disturbed);
  assert.deepEqual(leader.counted, [
    'allowed DisruptionAllowed',
    'allowed DisruptionAllowed',
    'allowed AlreadyDisrupted',
    'denied DeniedByZdb',
  ]);
  await stage.close();
});

function uidOf(stage: ZoneBudgetStage, pod: string): string {
  return stage.env.stored('pods').has(pod) ? stage.env.uidOf('pods', pod) : '';
}
