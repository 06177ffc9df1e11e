/** Failure budgets, several queries, steps of several pods and dry runs of PhasedRollouts, on the embedded cluster. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { minutes, seconds } from '#base/units.ts';
import { numberAt, textAt } from '#cluster/json/read-json.ts';
import { zoneAwarePodDisruptionBudgetDefinition } from '#disruption-budget/api.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { noData, someData } from '#support/external-services/fake-prometheus.ts';
import { budgetOver } from '#support/objects/budgets.ts';
import { mostDown } from './phased-judge.ts';
import { PhasedStage, usualCheck } from './phased-stage.ts';

const namespace = 'demo';
const pods = ['db-0', 'db-1', 'db-2'];

/** A rollout to `db:2` with one pod on it, whose checks fail from then on. */
async function failing(check: JsonObject, stage?: PhasedStage): Promise<PhasedStage> {
  const opened = stage ?? (await PhasedStage.open());
  opened.start();
  await opened.create({ check: { ...usualCheck, ...check } });
  await opened.settled();
  await opened.env.clock.advance(seconds(130));
  await opened.change('db:2');
  await opened.until('one may go', () => opened.partition() === 2);
  opened.prometheus.answer = () => noData;
  return opened;
}

function images(stage: PhasedStage): readonly string[] {
  return pods.map((pod) => (stage.env.stored('pods').has(pod) ? stage.env.imageOf(pod) : 'gone'));
}

test('a spent failure budget pauses a rollout, says why for as long, and a larger one lets it go on', async () => {
  const stage = await failing({ failureBudget: { consecutiveFailures: 3 } });
  await stage.until('it is paused', () => stage.step() === 'Paused');
  const asked = stage.prometheus.asked.length;
  await stage.env.clock.advance(minutes(30));
  assert.equal(stage.prometheus.asked.length, asked);
  assert.deepEqual(images(stage), ['db:1', 'db:1', 'db:2']);
  assert.equal(stage.condition('Updated'), 'False CheckFailed');
  assert.match(
    stage.conditionMessage('Updated'),
    /3 checks in a row have failed before db-1 may run/,
  );
  assert.match(stage.messages('CheckFailed').at(-1) ?? '', /until the template or spec\.check/);
  stage.prometheus.answer = () => someData;
  await stage.edit({ spec: { check: { failureBudget: { consecutiveFailures: 4 } } } });
  await stage.completed('db:2');
  stage.assertGated();
  await stage.close();
});

test('a spent failure budget brings every pod back, one at a time, and the same template begins nothing', async () => {
  const stage = await failing({ failureBudget: { totalFailures: 2, onFailure: 'Rollback' } });
  await stage.until('it is rolled back', () => stage.step() === 'RolledBack');
  assert.deepEqual(images(stage), ['db:1', 'db:1', 'db:1']);
  assert.equal(stage.env.imageOfSet('db'), 'db:2');
  assert.equal(stage.partition(), 3);
  assert.equal(mostDown(stage.env.cluster.eventLog.commits, pods), 1);
  assert.match(stage.messages('RollingBack').join(), /db-2 goes back to/);
  stage.prometheus.answer = () => someData;
  await stage.change('db:2');
  await stage.env.clock.advance(minutes(30));
  assert.deepEqual(images(stage), ['db:1', 'db:1', 'db:1']);
  assert.equal(stage.condition('Updated'), 'False RolledBack');
  await stage.change('db:3');
  await stage.completed('db:3');
  await stage.close();
});

test('a pod that cannot start on the new revision goes back as well, and the set is whole again', async () => {
  const stage = await PhasedStage.open();
  stage.env.kubelet.behaviours.add({ match: { image: 'db:2' }, behave: 'crashLoop' });
  await failing({ failureBudget: { consecutiveFailures: 2, onFailure: 'Rollback' } }, stage);
  await stage.until('it is rolled back', () => stage.step() === 'RolledBack', minutes(4));
  assert.match(stage.conditionMessage('Updated'), /db-/);
  assert.match(stage.messages('RollingBack').join(), /db-2 goes back/);
  assert.deepEqual(images(stage), ['db:1', 'db:1', 'db:1']);
  assert.ok(pods.every((pod) => stage.env.isReady(pod)));
  await stage.close();
});

test('a rollback asks the budget for each pod, and waits while another zone lacks one [EXCL-1, BUDG-1]', async () => {
  const stage = await PhasedStage.open();
  const { client } = stage.env;
  const body = zoneAwarePodDisruptionBudgetDefinition;
  await client.create(resourceTypes.customResourceDefinitions, {}, { body });
  await stage.env.createSet({}, 'other');
  for (const name of ['db', 'other']) {
    await stage.env.patchSet({ metadata: { labels: { app: 'db' } } }, name);
  }
  await stage.env.clock.runUntilIdle();
  const type = resourceTypes.zoneAwarePodDisruptionBudgets;
  await client.create(type, { namespace }, { body: budgetOver('all', { app: 'db' }) });
  await failing({ failureBudget: { consecutiveFailures: 2, onFailure: 'Rollback' } }, stage);
  await stage.until('db-2 is new', () => images(stage)[2] === 'db:2' && stage.env.isReady('db-2'));
  const away = stage.env.kubelet.behaviours.add({
    match: { name: 'other-1' },
    behave: 'neverReady',
  });
  await stage.env.deletePod('other-1');
  await stage.until('it is to go back', () => stage.step() === 'RollingBack');
  await stage.env.clock.advance(minutes(5));
  assert.deepEqual(images(stage), ['db:1', 'db:1', 'db:2']);
  assert.match(stage.messages('BudgetRefused').join(), /other/);
  away.remove();
  await stage.env.deletePod('other-1');
  await stage.until('it is rolled back', () => stage.step() === 'RolledBack');
  const ledger = stage.env.cluster.eventLog.commits
    .filter(({ name }) => name === 'rollout-operator-ledger-all')
    .map(({ after }) => textAt(after, 'data', 'reservations'));
  const sent = stage.env.cluster.eventLog.calls.filter(
    ({ user, verb, name }) => user.startsWith('operator-') && verb === 'delete' && name === 'db-2',
  );
  assert.equal(sent.length, 1);
  assert.ok(ledger.some((each) => each.includes('db-2')));
  await stage.close();
});

test('all queries must pass, and what each of them said is in the condition', async () => {
  const stage = await PhasedStage.open();
  stage.start();
  const additionalQueries = [{ name: 'latency', expr: 'latency < 1' }];
  await stage.create({ check: { ...usualCheck, additionalQueries } });
  await stage.settled();
  stage.prometheus.answer = ({ expr }) => (expr.startsWith('latency') ? noData : someData);
  await stage.change('db:2');
  await stage.env.clock.advance(minutes(2));
  assert.deepEqual(stage.partitions(), [0, 3]);
  assert.match(stage.conditionMessage('Updated'), /latency: .*query: 1|query: 1.*latency/s);
  stage.prometheus.answer = () => someData;
  await stage.completed('db:2');
  await stage.close();
});

test('an additional query is asked by its own Secret, and that of the first goes nowhere else', async () => {
  const stage = await PhasedStage.open();
  for (const name of ['ours', 'theirs']) {
    const data = { token: Buffer.from(`token of ${name}`).toString('base64') };
    const body = { metadata: { name, namespace }, data };
    await stage.env.client.create(resourceTypes.secrets, { namespace }, { body });
  }
  stage.start();
  const additionalQueries = [
    { name: 'same', expr: 'a' },
    { name: 'their', expr: 'b', url: 'http://their', secretRef: 'theirs' },
    { name: 'open', expr: 'c', url: 'http://open' },
  ];
  const query = { expr: 'up', url: 'http://our', secretRef: 'ours' };
  await stage.create({ check: { ...usualCheck, query, additionalQueries } });
  await stage.settled();
  await stage.change('db:2');
  await stage.completed('db:2');
  const sent = stage.prometheus.asked.map(
    ({ question: { url, expr, authorization } }) => `${expr} ${url} ${authorization ?? ''}`,
  );
  assert.deepEqual([...new Set(sent)].toSorted(), [
    'a http://our Bearer token of ours',
    'b http://their Bearer token of theirs',
    'c http://open ',
    'up http://our Bearer token of ours',
  ]);
  await stage.close();
});

test('a step of two pods is checked once, and each pod of it waits for all to be available', async () => {
  const stage = await PhasedStage.open();
  stage.start();
  await stage.create({ stepSize: 2 });
  await stage.settled();
  await stage.change('db:2');
  await stage.completed('db:2');
  assert.deepEqual(stage.partitions(), [0, 3, 2, 1, 0, 3]);
  assert.equal(stage.prometheus.asked.length, 4);
  assert.equal(mostDown(stage.env.cluster.eventLog.commits, pods), 1);
  assert.match(stage.messages('WithinStep').join(), /db-1 may run .*, number 2 of the 2 pods/);
  await stage.close();
});

test('a dry run changes nothing but its own resource, and tells what it would do', async () => {
  const stage = await PhasedStage.open();
  stage.start();
  await stage.create({ dryRun: true });
  await stage.env.clock.advance(minutes(5));
  assert.deepEqual(stage.partitions(), [0]);
  assert.equal(stage.owner(), '');
  assert.match(stage.messages('DryRun').join(), /the partition of db would go from 0 to 3/);
  await stage.change('db:2');
  await stage.until('the controller updated them', () =>
    images(stage).every((each) => each === 'db:2'),
  );
  await stage.env.clock.advance(minutes(60));
  assert.ok(stage.writes().every((each) => each.endsWith('phasedrollouts.sts.plus pr1')));
  assert.ok(stage.messages('DryRun').length <= 8, 'what a user asked for is reported once');
  await stage.edit({ spec: { dryRun: false } });
  await stage.settled();
  assert.equal(stage.owner(), 'pr1');
  await stage.close();
});

test('a process that ends in the middle of a rollback leaves one that goes on with it', async () => {
  const stage = await failing({ failureBudget: { consecutiveFailures: 2, onFailure: 'Rollback' } });
  const [first] = stage.running;
  await stage.until('it goes back', () => stage.step() === 'RollingBack');
  first?.die();
  stage.start();
  await stage.until('it is rolled back', () => stage.step() === 'RolledBack');
  assert.deepEqual(images(stage), ['db:1', 'db:1', 'db:1']);
  assert.equal(numberAt(stage.rollout(), 'status', 'rollingPodStatus', 'totalFailedChecks'), 2);
  await stage.close();
});
