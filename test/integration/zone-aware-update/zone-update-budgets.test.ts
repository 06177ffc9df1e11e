/** ZoneAwareUpdates ask the ZoneDisruptionBudgets over their pods, as evictions do (D-37). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import type { Call } from '#cluster/event-log.ts';
import { textAt } from '#cluster/json/read-json.ts';
import { evict, reviewEviction } from '../stages/zone-evictions.ts';
import {
  budgetedUpdate,
  createBudget,
  editBudget,
  ledgerOf,
  reservations,
} from './budgeted-update.ts';
import { unreservedFaults } from './zone-update-judge.ts';
import type { ZoneUpdateStage } from './zone-update-stage.ts';

const rollout = { maxUnavailable: 4, exponentialFactor: '0' };

/** How many pods each step took. */
function sizes(stage: ZoneUpdateStage): readonly number[] {
  return stage.steps().map((step) => step.split(' ').length);
}

/** Whether a call is the look at all pods that comes before a step. */
function isPodList({ verb, resource, user }: Call): boolean {
  return verb === 'list' && resource === 'pods' && user.startsWith('operator-');
}

function unreserved(stage: ZoneUpdateStage, budgets = ['db']): readonly string[] {
  return unreservedFaults(stage.env.cluster.eventLog.commits, budgets.map(ledgerOf));
}

/** The oldest program of the stage, as evictions ask it. */
function served(stage: ZoneUpdateStage): Parameters<typeof evict>[0] {
  const [first] = stage.running;
  assert.ok(first);
  return { env: stage.env, webhook: first.webhook };
}

/** Reasons of the Events about objects of `kind`, each once. */
function eventsOf({ env }: ZoneUpdateStage, kind: string): readonly string[] {
  const events = env.cluster.eventLog.commits
    .filter(({ resource }) => resource.startsWith('events'))
    .map(({ after }) => after)
    .filter((event) => JSON.stringify(event).includes(`"kind":"${kind}"`));
  return [...new Set(events.map((event) => textAt(event, 'reason')))];
}

/** The first pod of a zone that is not on `image`. */
function podOf(stage: ZoneUpdateStage, zone: string, image: string): string {
  const names = [...stage.env.stored('pods').keys()].filter((name) => name.startsWith('db-'));
  const found = names.find(
    (name) => stage.zoneOf(name) === zone && stage.env.imageOf(name) !== image,
  );
  assert.ok(found !== undefined, zone);
  return found;
}

test('a step takes no more pods than the budget gives, each after its reservation is stored, and counts once [BUDG-1, BUDG-4]', async () => {
  const stage = await budgetedUpdate({ maxUnavailable: 2 }, rollout);
  stage.cap = 2;
  await stage.change('db:2');
  await stage.completed('db:2');
  assert.deepEqual(sizes(stage), [2, 2, 2, 2, 2, 2]);
  assert.deepEqual(unreserved(stage), []);
  await stage.until('all is given back', () => reservations(stage) === '[]');
  assert.ok(stage.statuses().includes('2 / 2 / 2,4,4'), stage.statuses().join('; '));
  await stage.close();
});

test('while an eviction of another zone is under way no step begins, which is reported, and then it does [EXCL-1]', async () => {
  const stage = await budgetedUpdate({ maxUnavailable: 2 }, rollout);
  stage.cap = 2;
  const pod = podOf(stage, 'zone-c', 'db:2');
  // It was let go, and nobody has used that yet: every pod is ready.
  assert.equal(await stage.finish(reviewEviction(served(stage), pod)), '');
  await stage.change('db:2');
  await stage.until('it is held', () => stage.condition() === 'False BudgetRefused');
  assert.match(stage.conditionMessage(), new RegExp(pod));
  assert.deepEqual(stage.steps(), []);
  await stage.completed('db:2');
  assert.deepEqual(unreserved(stage), []);
  await stage.close();
});

test('evictions of other zones are denied from the moment in which a step is decided, and of the same zone are let through within the budget [EXCL-1, BUDG-2]', async () => {
  const stage = await budgetedUpdate({ maxUnavailable: 3 }, { ...rollout, maxUnavailable: 2 });
  stage.cap = 3;
  await stage.change('db:2');
  await stage.until('the step is stored', () => reservations(stage).includes('rollout'));
  const taken = [...reservations(stage).matchAll(/"pod":"([^"]+)"/gu)].map(([, pod]) => pod);
  assert.equal(taken.length, 2);
  const others = ['zone-b', 'zone-c'].map((zone) => podOf(stage, zone, 'db:2'));
  for (const pod of others) assert.match(await stage.finish(evict(served(stage), pod)), /^429 /);
  const mates = [...stage.env.stored('pods').keys()].filter(
    (name) => name.startsWith('db-') && !taken.includes(name) && !others.includes(name),
  );
  const mate = mates.find((name) => stage.zoneOf(name) === 'zone-a');
  assert.ok(mate !== undefined);
  assert.equal(await stage.finish(evict(served(stage), mate)), '');
  await stage.completed('db:2');
  await stage.close();
});

for (const turns of [1, 4, 16, 64, 256]) {
  test(`evictions of all zones are tried ${turns} turns into each step: never two zones are away, never more pods than the budget gives, and the update ends [EXCL-1, BUDG-2, LIVE-1]`, async () => {
    const stage = await budgetedUpdate({ maxUnavailable: 2 }, rollout);
    stage.cap = 2;
    await stage.change('db:2');
    const said: string[] = [];
    for (let round = 0; round < 6; round += 1) {
      for (let turn = 0; turn < turns; turn += 1) await stage.env.clock.yield();
      const pods = ['zone-a', 'zone-b', 'zone-c'].map((zone) => podOf(stage, zone, ''));
      said.push(...(await stage.finish(Promise.all(pods.map((pod) => evict(served(stage), pod))))));
      await stage.pass(seconds(20));
    }
    assert.ok(said.some((each) => each.startsWith('429 ')));
    await stage.completed('db:2');
    assert.deepEqual(unreserved(stage), []);
    await stage.close();
  });
}

test('a process that dies in the middle of a step leaves its reservations: no other zone loses a pod until its successor has waited [BUDG-4, EXCL-1]', async () => {
  const stage = await budgetedUpdate({ maxUnavailable: 4 }, rollout);
  stage.env.cluster.faults.add({
    match: { user: 'operator-1', verb: 'delete', resource: 'pods' },
    action: { kind: 'delay', delay: seconds(60) },
    count: 4,
  });
  await stage.change('db:2');
  await stage.until('the step is stored', () => reservations(stage).includes('rollout'));
  stage.running[0]?.die();
  const second = stage.start();
  await stage.pass(seconds(10));
  const pod = podOf(stage, 'zone-c', 'db:2');
  const parts = { env: stage.env, webhook: second.webhook };
  assert.match(await stage.finish(evict(parts, pod)), /^429 /);
  await stage.completed('db:2');
  assert.deepEqual(unreserved(stage), []);
  await stage.until('all is given back', () => reservations(stage) === '[]');
  await stage.close();
});

test('a deletion that is late keeps its reservation, and every other zone its pods [BUDG-4]', async () => {
  const stage = await budgetedUpdate({ maxUnavailable: 4 }, rollout);
  stage.env.cluster.faults.add({
    match: { user: 'operator-1', verb: 'delete', resource: 'pods' },
    action: { kind: 'delay', delay: seconds(25) },
    count: 1,
  });
  await stage.change('db:2');
  await stage.until('the step is stored', () => reservations(stage).includes('rollout'));
  await stage.pass(seconds(20));
  const pod = podOf(stage, 'zone-c', 'db:2');
  assert.match(await stage.finish(evict(served(stage), pod)), /^429 /);
  await stage.completed('db:2');
  assert.deepEqual(unreserved(stage), []);
  await stage.close();
});

test('of two budgets over the set each must give a pod, and the smaller one decides; a dry run decides nothing', async () => {
  const stage = await budgetedUpdate({ maxUnavailable: 3 }, rollout);
  await createBudget(stage, { maxUnavailable: 2 }, 'small');
  await createBudget(stage, { maxUnavailable: 1, dryRun: true }, 'dry');
  await stage.pass(seconds(5));
  stage.cap = 2;
  await stage.change('db:2');
  await stage.completed('db:2');
  assert.deepEqual(sizes(stage), [2, 2, 2, 2, 2, 2]);
  assert.deepEqual(unreserved(stage, ['db', 'small']), []);
  await stage.until('all is given back', () => reservations(stage) === '[]');
  await stage.until('all is given back, too', () => reservations(stage, 'small') === '[]');
  await stage.close();
});

test('a budget of 0 denies evictions, and leaves the size of steps to the update, one zone at a time all the same', async () => {
  const stage = await budgetedUpdate({ maxUnavailable: 0 }, rollout);
  await stage.change('db:2');
  await stage.until('the first step is stored', () => reservations(stage).includes('rollout'));
  const pod = podOf(stage, 'zone-b', 'db:2');
  assert.match(await stage.finish(evict(served(stage), pod)), /^403 /);
  await stage.completed('db:2');
  assert.deepEqual(sizes(stage), [4, 4, 4]);
  assert.deepEqual(unreserved(stage), []);
  await stage.close();
});

test('a budget that cannot be read holds the update, names itself and the field, and lets it go on when it is mended', async () => {
  const stage = await budgetedUpdate({ maxUnavailable: 4 }, rollout);
  await editBudget(stage, { maxUnavailable: 'many' });
  await stage.change('db:2');
  await stage.until('it is held', () => stage.condition() === 'False BudgetUnclear');
  assert.match(
    stage.conditionMessage(),
    /ZoneDisruptionBudget db cannot be read: spec\.maxUnavailable/,
  );
  await stage.pass(seconds(300));
  assert.deepEqual(stage.steps(), []);
  assert.deepEqual(eventsOf(stage, 'ZoneDisruptionBudget'), ['InvalidSpec']);
  await editBudget(stage, { maxUnavailable: 4 });
  await stage.completed('db:2');
  await stage.close();
});

test('a budget that is made in the middle of an update binds the next step, and knows the pods of the one under way [BUDG-1]', async () => {
  const stage = await budgetedUpdate(undefined, rollout);
  stage.env.cluster.faults.add({
    match: { user: 'operator-1', verb: 'delete', resource: 'pods' },
    action: { kind: 'delay', delay: seconds(25) },
    count: 4,
  });
  const { calls } = stage.env.cluster.eventLog;
  const before = calls.length;
  await stage.change('db:2');
  await stage.until('the step is planned', () => calls.slice(before).some(isPodList));
  await stage.pass(seconds(5));
  await createBudget(stage, { maxUnavailable: 2 }, 'late');
  await stage.pass(seconds(5));
  const pod = podOf(stage, 'zone-c', 'db:2');
  assert.match(await stage.finish(evict(served(stage), pod)), /^429 .*db-/);
  await stage.completed('db:2');
  assert.deepEqual(sizes(stage), [4, 2, 2, 2, 2]);
  await stage.close();
});

test('at rest nothing of the budgets is written or read on behalf of the update', async () => {
  const stage = await budgetedUpdate({ maxUnavailable: 2 }, rollout);
  stage.cap = 2;
  await stage.change('db:2');
  await stage.completed('db:2');
  await stage.until('all is given back', () => reservations(stage) === '[]');
  await stage.pass(seconds(60));
  const { calls } = stage.env.cluster.eventLog;
  const before = calls.length;
  await stage.pass(seconds(240));
  const since = calls.slice(before).filter(({ user }) => user.startsWith('operator-'));
  const writes = since.filter(({ verb }) => !['get', 'list', 'watch'].includes(verb));
  assert.deepEqual(
    writes.filter(({ resource }) => resource !== 'leases.coordination.k8s.io'),
    [],
  );
  await stage.close();
});
