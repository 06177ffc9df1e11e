/** Disruption budgets over the pods of PhasedRollouts, on the embedded cluster. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { textAt } from '#cluster/json/read-json.ts';
import { zoneAwarePodDisruptionBudgetDefinition } from '#disruption-budget/api.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { noData } from '#support/external-services/fake-prometheus.ts';
import { budgetOver } from '#support/objects/budgets.ts';
import { PhasedStage } from './phased-stage.ts';

const namespace = 'demo';

/** Two zones of one budget, of which `db` is rolled out by phases. */
async function zones(maxUnavailable = 1): Promise<PhasedStage> {
  const stage = await PhasedStage.open();
  const { client } = stage.env;
  const body = zoneAwarePodDisruptionBudgetDefinition;
  await client.create(resourceTypes.customResourceDefinitions, {}, { body });
  await stage.env.createSet({}, 'other');
  for (const name of ['db', 'other']) {
    await stage.env.patchSet({ metadata: { labels: { app: 'db' } } }, name);
  }
  await stage.env.clock.runUntilIdle();
  const budget = budgetOver('all', { app: 'db' });
  const spec = { ...(budget['spec'] as JsonObject), maxUnavailable };
  await client.create(
    resourceTypes.zoneAwarePodDisruptionBudgets,
    { namespace },
    { body: { ...budget, spec } },
  );
  return stage;
}

/** The reservations that are in the ledger of the budget. */
function ledger(stage: PhasedStage): string {
  const stored = stage.env.stored('configmaps').get('rollout-operator-ledger-all');
  return textAt(stored, 'data', 'reservations');
}

test('a pod goes under a budget after its reservation is stored, which ends once its successor is up [BUDG-1, BUDG-4]', async () => {
  const stage = await zones();
  stage.start();
  await stage.create();
  await stage.settled();
  await stage.env.clock.advance(seconds(130));
  await stage.change('db:2');
  await stage.until('one may go', () => stage.partition() === 2);
  assert.match(ledger(stage), /db-2.*rollout/);
  await stage.completed('db:2');
  await stage.until('all is given back', () => ledger(stage) === '[]');
  assert.deepEqual(stage.partitions(), [0, 3, 2, 1, 0, 3]);
  await stage.close();
});

test('no pod goes while another zone lacks one, which is reported, and it goes once that is back [EXCL-1]', async () => {
  const stage = await zones();
  stage.start();
  await stage.create();
  await stage.settled();
  await stage.env.clock.advance(seconds(130));
  const away = stage.env.kubelet.behaviours.add({
    match: { name: 'other-1' },
    behave: 'neverReady',
  });
  await stage.env.deletePod('other-1');
  await stage.change('db:2');
  await stage.env.clock.advance(seconds(120));
  assert.deepEqual(stage.partitions(), [0, 3]);
  assert.match(stage.messages('BudgetRefused').join(), /other/);
  away.remove();
  await stage.env.deletePod('other-1');
  await stage.completed('db:2');
  assert.deepEqual(stage.partitions(), [0, 3, 2, 1, 0, 3]);
  await stage.close();
});

test('a pod that was let go keeps its place in the ledger while its controller takes none, whichever replica leads [BUDG-4]', async () => {
  const stage = await zones();
  const first = stage.start();
  await stage.create();
  await stage.settled();
  await stage.env.clock.advance(seconds(130));
  const disarm = stage.env.cluster.faults.add({
    match: {
      user: 'system:serviceaccount:kube-system:statefulset-controller',
      verb: 'delete',
      resource: 'pods',
    },
    action: { kind: 'error', code: 500 },
  });
  await stage.change('db:2');
  await stage.until('one may go', () => stage.partition() === 2);
  await stage.env.clock.advance(seconds(300));
  assert.match(ledger(stage), /db-2/);
  await first.stop();
  stage.start();
  await stage.env.clock.advance(seconds(300));
  assert.equal(stage.env.imageOf('db-2'), 'db:1');
  assert.match(ledger(stage), /db-2/);
  disarm();
  await stage.completed('db:2');
  await stage.until('all is given back', () => ledger(stage) === '[]');
  await stage.close();
});

test('a pod that was let go keeps its place in the ledger also while neither an answer nor a watch shows its partition, and it is not wanted any more [BUDG-4]', async () => {
  const stage = await zones();
  stage.start();
  await stage.create();
  await stage.settled();
  await stage.env.clock.advance(seconds(130));
  const { faults } = stage.env.cluster;
  faults.add({
    match: {
      user: 'system:serviceaccount:kube-system:statefulset-controller',
      verb: 'delete',
      resource: 'pods',
    },
    action: { kind: 'error', code: 500 },
  });
  const sets = { user: 'operator-1', verb: 'patch', resource: 'statefulsets' };
  faults.beforeWrite(sets, 1, () => {
    for (const watch of faults.watches({ user: 'operator-1', resource: 'statefulsets.apps' })) {
      watch.pause();
    }
  });
  faults.add({ match: sets, action: { kind: 'drop', when: 'after' }, count: 1 });
  await stage.change('db:2');
  await stage.until('one may go', () => stage.partition() === 2);
  const lowered = stage.env.clock.now();
  stage.prometheus.answer = () => noData;
  await stage.edit({ spec: { check: { successThreshold: 6 } } });
  await stage.env.clock.advance(seconds(100));
  const emptied = stage.env.cluster.eventLog.commits.filter(
    ({ name, at, after }) =>
      name === 'rollout-operator-ledger-all' &&
      at >= lowered &&
      !textAt(after, 'data', 'reservations').includes('db-2'),
  );
  assert.deepEqual(emptied, []);
  assert.match(ledger(stage), /db-2/);
  await stage.close();
});

test('a corrected template reaches a pod that cannot start, under a budget as without', async () => {
  const stage = await zones();
  stage.env.kubelet.behaviours.add({ match: { image: '*:broken' }, behave: 'imagePullBackOff' });
  stage.start();
  await stage.create();
  await stage.settled();
  await stage.env.clock.advance(seconds(130));
  await stage.change('db:broken');
  await stage.until('a pod is broken', () => stage.env.imageOf('db-2') === 'db:broken');
  await stage.env.clock.advance(seconds(120));
  await stage.change('db:3');
  await stage.completed('db:3');
  await stage.until('all is given back', () => ledger(stage) === '[]');
  await stage.close();
});
test('pods go back to a template that is taken back, under a budget as without', async () => {
  const stage = await zones();
  stage.start();
  await stage.create();
  await stage.settled();
  await stage.env.clock.advance(seconds(130));
  await stage.change('db:2');
  await stage.until('two may go', () => stage.partition() === 1);
  await stage.until(
    'two are new',
    () => stage.env.imageOf('db-1') === 'db:2' && stage.env.isReady('db-1'),
  );
  await stage.change('db:1');
  await stage.until(
    'it is updated',
    () =>
      stage.phase() === 'Updated' &&
      ['db-0', 'db-1', 'db-2'].every((p) => stage.env.imageOf(p) === 'db:1'),
  );
  await stage.until('all is given back', () => ledger(stage) === '[]');
  await stage.close();
});

test('pods that go back to the revision before are asked for one by one [BUDG-1]', async () => {
  const stage = await zones();
  await stage.env.patchSet({ spec: { replicas: 4 } });
  stage.start();
  await stage.create();
  const isSettled = (): boolean => stage.phase() === 'Updated' && stage.partition() === 4;
  const areUp = (pods: readonly string[], image: string): boolean =>
    pods.every((pod) => stage.env.imageOf(pod) === image && stage.env.isReady(pod));
  await stage.until('it is settled', isSettled);
  await stage.env.clock.advance(seconds(130));
  await stage.change('db:2');
  await stage.until('three are new', () => areUp(['db-1', 'db-2', 'db-3'], 'db:2'));
  await stage.change('db:3');
  await stage.until('all is blocked', () => stage.partition() === 4);
  // Its controller had begun with the highest before that.
  await stage.until('the highest is back', () => areUp(['db-3'], 'db:1'));
  await stage.change('db:1');
  await stage.until('all are back', () => isSettled() && areUp(['db-1', 'db-2', 'db-3'], 'db:1'));
  const asked = stage.env.cluster.eventLog.commits
    .filter(({ name }) => name === 'rollout-operator-ledger-all')
    .map(({ after }) => textAt(after, 'data', 'reservations'));
  assert.deepEqual(stage.partitions(), [0, 4, 3, 2, 1, 4, 2, 1, 4]);
  for (const pod of ['db-2', 'db-1']) {
    const [first] = asked
      .filter((each, at) => each.includes(pod) && !(asked[at - 1] ?? '').includes(pod))
      .slice(1);
    assert.ok(first !== undefined, `${pod} goes back without being asked for`);
  }
  await stage.close();
});
