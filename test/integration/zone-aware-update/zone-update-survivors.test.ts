/** ZoneAwareUpdates whose requests fail, or whose own writes do not show, in the middle of a step. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { minutes, seconds } from '#base/units.ts';
import { numberAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { budgetedUpdate, editBudget } from './budgeted-update.ts';
import { ZoneUpdateStage } from './zone-update-stage.ts';

async function settled(spec: JsonObject = {}, set: JsonObject = {}): Promise<ZoneUpdateStage> {
  const stage = await ZoneUpdateStage.open(set);
  stage.start();
  await stage.create(spec);
  await stage.until('it is settled', () => stage.condition() === 'True Updated');
  return stage;
}

/** Deletions of pods that the program sent, whatever became of them. */
function sent(stage: ZoneUpdateStage): number {
  return stage.env.cluster.eventLog.calls.filter(
    ({ verb, resource, user }) =>
      verb === 'delete' && resource === 'pods' && user.startsWith('operator-'),
  ).length;
}

test('the second batch of a step does not leave after a deletion of the first has failed', async () => {
  const stage = await settled({ exponentialFactor: '0', maxUnavailable: 40 }, { replicas: 120 });
  stage.isDisturbed = true;
  stage.env.cluster.faults.add({
    match: { user: 'operator-1', verb: 'delete', resource: 'pods' },
    action: { kind: 'error', code: 403 },
    count: 1,
  });
  await stage.change('db:2');
  await stage.until('a batch is answered', () => sent(stage) >= 32);
  await stage.pass(seconds(1));
  assert.equal(sent(stage), 32);
  await stage.close();
});

test('a step is taken once although the status that tells of it does not show for 8 s', async () => {
  const stage = await settled({ exponentialFactor: '2' });
  const { faults } = stage.env.cluster;
  faults.afterWrite({ user: 'operator-1', verb: 'update', resource: 'zoneawareupdates' }, 1, () => {
    const watches = faults.watches({
      user: 'operator-1',
      resource: 'zoneawareupdates.zonecontrol.k8s.aws',
    });
    for (const watch of watches) watch.pause();
    void stage.env.clock.sleep(seconds(8)).then(() => {
      for (const watch of watches) watch.resume();
    });
  });
  await stage.change('db:2');
  await stage.completed('db:2');
  assert.deepEqual(stepsOf(stage), [1, 2, 1, 4, 4]);
  await stage.close();
});

/** How many pods went at a time, one step after the other. */
function stepsOf(stage: ZoneUpdateStage): readonly number[] {
  const times = stage.env.cluster.eventLog.calls
    .filter(
      ({ verb, resource, user }) =>
        verb === 'delete' && resource === 'pods' && user.startsWith('operator-'),
    )
    .map(({ startedAt }) => startedAt);
  const counts = new Map<number, number>();
  for (const time of times) counts.set(time, (counts.get(time) ?? 0) + 1);
  return [...counts.values()];
}

test('what another client wrote into the status while a step was taken is not overwritten by that step', async () => {
  const stage = await settled({ exponentialFactor: '2' });
  const { faults, eventLog } = stage.env.cluster;
  const key = { namespace: 'demo', name: 'zau' };
  const body = { kind: 'merge', document: { status: { updateStep: 7 } } } as const;
  faults.afterWrite({ user: 'operator-1', verb: 'delete', resource: 'pods' }, 1, () => {
    const write = { body, subresource: 'status' } as const;
    void stage.env.client.patch(resourceTypes.zoneAwareUpdates, key, write);
  });
  await stage.change('db:2');
  await stage.pass(minutes(5));
  const steps = eventLog.commits
    .filter(({ resource }) => resource.startsWith('zoneawareupdates'))
    .map(({ user, after }) => ({ user, step: numberAt(after, 'status', 'updateStep') ?? 0 }));
  const theirs = steps.findIndex(({ user, step }) => step === 7 && !user.startsWith('operator-'));
  assert.ok(theirs > 0, JSON.stringify(steps));
  const { user, step } = steps[theirs + 1] ?? {};
  assert.equal(user, 'operator-1');
  assert.notEqual(step, 1, JSON.stringify(steps));
  await stage.close();
});

test('a program that finds old pods, and no word of a step, lets none go for two minutes: another may have been at it', async () => {
  const stage = await ZoneUpdateStage.open();
  await stage.change('db:2');
  await stage.create({ exponentialFactor: '0' });
  stage.start();
  await stage.pass(seconds(110));
  assert.equal(sent(stage), 0);
  assert.equal(stage.condition(), 'False AwaitingPredecessor');
  await stage.completed('db:2');
  await stage.close();
});

test('a pod that cannot start is recreated by a corrected template under a budget that lets none go', async () => {
  const stage = await budgetedUpdate({ maxUnavailable: 1 }, { exponentialFactor: '0' });
  stage.isDisturbed = true;
  stage.env.kubelet.behaviours.add({ match: { image: 'db:bad' }, behave: 'crashLoop' });
  await stage.change('db:bad');
  const broken = (): number =>
    [...stage.env.stored('pods').keys()].filter(
      (name) => name.startsWith('db-') && stage.env.imageOf(name) === 'db:bad',
    ).length;
  await stage.until('one is broken', () => broken() === 1);
  await stage.pass(minutes(2));
  await editBudget(stage, { maxUnavailable: 0 });
  await stage.pass(seconds(30));
  await stage.change('db:3');
  await stage.until('it is recreated', () => broken() === 0);
  await stage.close();
});
