/** What a hostile review of ZoneAwareUpdates tried: a world that changes in the middle of a step, and replicas that die there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { numberAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { evict } from '../stages/zone-evictions.ts';
import { budgetedUpdate, ledgerOf, reservations } from './budgeted-update.ts';
import { deletionFaults, deletionsBySlot } from './zone-update-faults.ts';
import { unreservedFaults } from './zone-update-judge.ts';
import type { ZoneUpdateStage } from './zone-update-stage.ts';

const rollout = { maxUnavailable: 4, exponentialFactor: '0' };
const namespace = 'demo';

/** All that is wrong with what the program sent, by what the store was then; nobody has an alarm here. */
function faultsOf(stage: ZoneUpdateStage, cap: number): readonly string[] {
  const { commits, calls } = stage.env.cluster.eventLog;
  const alarms = [{ at: stage.env.clock.now(), state: 'OK' }];
  const late = new Map<string, number>();
  return [
    ...deletionFaults({ commits, calls, late, alarms, cap }).filter(
      (fault) => !fault.includes('alarm'),
    ),
    ...unreservedFaults(commits, [ledgerOf()]),
  ];
}

/** Waits until the program has deleted `count` pods. */
async function deleted(stage: ZoneUpdateStage, count: number): Promise<void> {
  const all = (): number =>
    [...deletionsBySlot(stage.env.cluster.eventLog.commits).values()].reduce((a, b) => a + b, 0);
  await stage.until(`${count} pods are deleted`, () => all() >= count);
}

async function nodeZone(stage: ZoneUpdateStage, node: string, zone: string | null): Promise<void> {
  const document = { metadata: { labels: { 'topology.kubernetes.io/zone': zone } } };
  await stage.env.client.patch(
    resourceTypes.nodes,
    { name: node },
    { body: { kind: 'merge', document } },
  );
}

for (const turns of [1, 3, 9, 27, 81, 243]) {
  test(`of two replicas the one that leads dies ${turns} turns into a step while evictions of all zones are asked: never two zones, and the other ends the update [EXCL-1, BUDG-4]`, async () => {
    const stage = await budgetedUpdate({ maxUnavailable: 4 }, rollout);
    stage.isDisturbed = true;
    const second = stage.start();
    await stage.pass(seconds(5));
    await stage.change('db:2');
    await stage.until('the step is stored', () => reservations(stage).includes('rollout'));
    for (let turn = 0; turn < turns; turn += 1) await stage.env.clock.yield();
    stage.running[0]?.die();
    const parts = { env: stage.env, webhook: second.webhook };
    for (let round = 0; round < 8; round += 1) {
      const names = [...stage.env.stored('pods').keys()].filter((pod) => pod.startsWith('db-'));
      const pods = ['zone-a', 'zone-b', 'zone-c'].flatMap(
        (zone) => names.find((pod) => stage.zoneOf(pod) === zone) ?? [],
      );
      await stage.finish(Promise.all(pods.map((pod) => evict(parts, pod))));
      await stage.pass(seconds(15));
    }
    await stage.completed('db:2');
    assert.deepEqual(faultsOf(stage, 4), []);
    assert.deepEqual(stage.faults(), []);
    await stage.until('all is given back', () => reservations(stage) === '[]');
    await stage.close();
  });
}

test('no step begins on a cache that does not show that a pod of another zone was lost [EXCL-2]', async () => {
  const stage = await budgetedUpdate({ maxUnavailable: 4 }, rollout);
  stage.isDisturbed = true;
  const { faults } = stage.env.cluster;
  const watches = faults.watches({ user: 'operator-1', resource: 'pods' });
  assert.equal(watches.length, 1);
  for (const watch of watches) watch.pause();
  const [lost = ''] = [...stage.env.stored('pods').keys()].filter(
    (pod) => pod.startsWith('db-') && stage.zoneOf(pod) === 'zone-c',
  );
  const rule = stage.env.kubelet.behaviours.add({ match: { name: lost }, behave: 'neverReady' });
  await stage.env.deletePod(lost);
  await stage.change('db:2');
  await stage.pass(seconds(120));
  assert.deepEqual(stage.steps(), []);
  for (const watch of faults.watches({ user: 'operator-1', resource: 'pods' })) watch.resume();
  rule.remove();
  await stage.completed('db:2');
  assert.deepEqual(faultsOf(stage, 4), []);
  await stage.close();
});

test('a node that loses its zone in the middle of an update keeps it in memory, and the update ends', async () => {
  const stage = await budgetedUpdate({ maxUnavailable: 4 }, rollout);
  await stage.change('db:2');
  await deleted(stage, 2);
  await nodeZone(stage, 'node-1', null);
  stage.isDisturbed = true;
  await stage.completed('db:2');
  assert.deepEqual(faultsOf(stage, 4), []);
  await stage.close();
});

test('a node that comes to another zone in the middle of an update takes its pods there, and no two zones are away', async () => {
  const stage = await budgetedUpdate({ maxUnavailable: 4 }, rollout);
  await stage.change('db:2');
  await deleted(stage, 2);
  await nodeZone(stage, 'node-2', 'zone-b');
  await stage.completed('db:2');
  // The judge goes by the zones of the moment, too.
  assert.deepEqual(stage.faults(), []);
  await stage.close();
});

test('a set that shrinks and grows in the middle of an update is waited for, and all its pods are new in the end', async () => {
  const stage = await budgetedUpdate({ maxUnavailable: 4 }, rollout);
  stage.isDisturbed = true;
  await stage.change('db:2');
  await deleted(stage, 2);
  await stage.env.patchSet({ spec: { replicas: 7 } });
  await stage.pass(seconds(20));
  await stage.env.patchSet({ spec: { replicas: 14 } });
  await stage.completed('db:2');
  assert.equal(stage.on('db:2'), 14);
  assert.deepEqual(faultsOf(stage, 4), []);
  await stage.close();
});

test('a set that is recreated in the middle of an update has its pods updated by the update of its name', async () => {
  const stage = await budgetedUpdate({ maxUnavailable: 4 }, rollout);
  stage.isDisturbed = true;
  await stage.change('db:2');
  await deleted(stage, 2);
  const key = { namespace, name: 'db' };
  const before = textAt(stage.set(), 'metadata', 'uid');
  await stage.finish(
    stage.env.client.delete(resourceTypes.statefulSets, key, { preconditions: {} }),
  );
  await stage.until('its pods are gone', () => stage.env.stored('pods').size === 0);
  await stage.env.createSet({
    replicas: 6,
    podManagementPolicy: 'Parallel',
    updateStrategy: { type: 'OnDelete' },
  });
  await stage.pass(seconds(30));
  assert.notEqual(textAt(stage.set(), 'metadata', 'uid'), before);
  await stage.change('db:3');
  await stage.completed('db:3');
  assert.equal(stage.on('db:3'), 6);
  await stage.close();
});

test('a strategy that becomes RollingUpdate in the middle of an update stops it, which is reported, and OnDelete lets it go on', async () => {
  const stage = await budgetedUpdate({ maxUnavailable: 4 }, rollout);
  stage.isDisturbed = true;
  await stage.change('db:2');
  await deleted(stage, 2);
  const rolling = { type: 'RollingUpdate', rollingUpdate: { partition: 12 } };
  await stage.env.patchSet({ spec: { updateStrategy: rolling } });
  await stage.until('it is held', () => stage.condition() === 'False WrongUpdateStrategy');
  const count = stage.steps().length;
  await stage.pass(seconds(300));
  assert.equal(stage.steps().length, count);
  await stage.env.patchSet({ spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } } });
  await stage.completed('db:2');
  await stage.close();
});

const sets: Readonly<Record<string, { set: JsonObject; cap: number }>> = {
  'whose pods come up one after the other': {
    set: { replicas: 12, podManagementPolicy: 'OrderedReady' },
    cap: 4,
  },
  'with one pod in each zone': { set: { replicas: 3 }, cap: 1 },
  'of two pods': { set: { replicas: 2 }, cap: 1 },
  'of one pod': { set: { replicas: 1 }, cap: 1 },
};
for (const [what, { set, cap }] of Object.entries(sets)) {
  test(`a set ${what} is updated as a whole, one zone at a time`, async () => {
    const stage = await budgetedUpdate({ maxUnavailable: 4 }, rollout, set);
    stage.isDisturbed = true;
    await stage.change('db:2');
    await stage.completed('db:2');
    assert.equal(stage.on('db:2'), numberAt(stage.set(), 'spec', 'replicas'));
    assert.deepEqual(faultsOf(stage, cap), []);
    assert.ok(
      [...deletionsBySlot(stage.env.cluster.eventLog.commits).values()].every((n) => n === 1),
    );
    await stage.close();
  });
}

test('a set of no pods is up to date, and nothing is written again and again', async () => {
  const stage = await budgetedUpdate({ maxUnavailable: 4 }, rollout, { replicas: 0 });
  stage.isDisturbed = true;
  await stage.change('db:2');
  await stage.until('it is told', () => stage.condition() === 'True Updated');
  await stage.pass(seconds(60));
  const before = stage.env.cluster.eventLog.commits.length;
  await stage.pass(seconds(120));
  const since = stage.env.cluster.eventLog.commits
    .slice(before)
    .filter(({ user, resource }) => user.startsWith('operator-') && !resource.startsWith('leases'));
  assert.deepEqual(
    since.map(({ resource }) => resource),
    [],
  );
  await stage.close();
});
