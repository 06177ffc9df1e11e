/** PhasedRollouts under servers that are slow or refuse, and users who write what nobody should. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { numberAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { PhasedStage } from './phased-stage.ts';

const namespace = 'demo';

async function rolling(partition: number): Promise<PhasedStage> {
  const stage = await PhasedStage.open();
  stage.start();
  await stage.create();
  await stage.settled();
  await stage.change('db:2');
  await stage.until('it is under way', () => stage.partition() === partition);
  return stage;
}

function passes(stage: PhasedStage): number | undefined {
  return numberAt(stage.rollout(), 'status', 'rollingPodStatus', 'consecutiveSuccessfulChecks');
}

/** Another client writes the status. */
async function writeStatus(stage: PhasedStage, status: JsonObject): Promise<void> {
  const body = { kind: 'merge', document: { status } } as const;
  const key = { namespace, name: 'pr1' };
  const write = { body, subresource: 'status' } as const;
  await stage.env.client.patch(resourceTypes.phasedRollouts, key, write);
}

for (const [verb, resource] of [
  ['list', 'pods'],
  ['list', 'statefulsets'],
  ['patch', 'statefulsets'],
] as const) {
  test(`no pod goes to a template whose checks were of the former one, though ${verb} ${resource} takes 25 s [GATE-1]`, async () => {
    const stage = await rolling(2);
    await stage.until('one has passed', () => passes(stage) === 1);
    stage.env.cluster.faults.add({
      match: { user: 'operator-1', verb, resource },
      action: { kind: 'delay', delay: seconds(25) },
      count: 2,
    });
    await stage.env.clock.advance(seconds(15));
    await stage.change('db:3');
    await stage.completed('db:3');
    await stage.close();
  });
}

const oddStatuses: Readonly<Record<string, JsonObject>> = {
  'times to come': {
    rollingPodStatus: {
      analisysStartTime: '2999-01-01T00:00:00Z',
      lastCheckTime: '2999-01-01T00:00:00Z',
    },
  },
  'counts beyond reason': { rollingPodStatus: { totalFailedChecks: 2_147_483_647 } },
  'another partition': { rollingPodStatus: { partition: 17 } },
  'a phase of another time': { phase: 'Updated', rollingPodStatus: null },
  'another revision': { updateRevision: 'db-nonsense' },
};
for (const [what, status] of Object.entries(oddStatuses)) {
  test(`a status with ${what} keeps no rollout from its end`, async () => {
    const stage = await rolling(2);
    await stage.until('one has passed', () => passes(stage) === 1);
    await writeStatus(stage, status);
    stage.isLifted = true;
    await stage.completed('db:2');
    await stage.close();
  });
}

test('a definition that comes after the program is found, and what is made by it carried out', async () => {
  const stage = await PhasedStage.open({}, { hasDefinition: false });
  stage.start();
  await stage.env.clock.advance(seconds(90));
  await stage.installDefinition();
  await stage.create();
  await stage.settled();
  await stage.change('db:2');
  await stage.completed('db:2');
  await stage.close();
});

const refusals = [
  ['patch', 'phasedrollouts', ''],
  ['update', 'phasedrollouts', 'status'],
  ['patch', 'statefulsets', ''],
] as const;
for (const [verb, resource, subresource] of refusals) {
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  test(`that ${verb} ${what} is not permitted is reported, tried ever more rarely, and mended by a rule`, async () => {
    const stage = await PhasedStage.open();
    stage.start();
    const disarm = stage.env.cluster.faults.add({
      match: { user: 'operator-1', verb, resource, subresource },
      action: { kind: 'error', code: 403, reason: 'Forbidden', message: 'no such rule' },
    });
    await stage.create();
    await stage.env.clock.advance(seconds(600));
    const tried = stage.env.cluster.eventLog.calls.filter(
      (call) => call.user === 'operator-1' && call.verb === verb && call.outcome === 403,
    ).length;
    assert.ok(tried >= 5 && tried <= 60, `tried ${tried} times`);
    assert.match(stage.messages('RequestRefused').join(), /no such rule/);
    disarm();
    await stage.settled();
    await stage.close();
  });
}

test('a set that is deleted and made again in mid-rollout is blocked anew, and rolls at its next update', async () => {
  const stage = await rolling(1);
  const key = { namespace, name: 'db' };
  await stage.env.client.delete(resourceTypes.statefulSets, key, { preconditions: {} });
  await stage.until('it is missed', () => stage.phase() === 'ErrorSTSNotFound');
  for (const pod of ['db-0', 'db-1', 'db-2']) {
    await stage.env.deletePod(pod).catch(() => undefined);
  }
  await stage.env.createSet();
  await stage.settled();
  await stage.change('db:4');
  await stage.completed('db:4');
  stage.isLifted = true;
  await stage.close();
});

test('no pod goes while another is away, though the watch of pods has stood still since before that [MAXU-1]', async () => {
  const stage = await rolling(3);
  await stage.until('one has passed', () => passes(stage) === 1);
  const { faults } = stage.env.cluster;
  const watches = faults.watches({ user: 'operator-1', resource: 'pods' });
  assert.equal(watches.length, 1);
  for (const watch of watches) watch.pause();
  const away = stage.env.kubelet.behaviours.add({ match: { name: 'db-0' }, behave: 'neverReady' });
  await stage.env.deletePod('db-0');
  await stage.env.clock.advance(seconds(90));
  assert.deepEqual(stage.partitions(), [0, 3]);
  assert.ok(stage.prometheus.asked.length >= 2);
  away.remove();
  await stage.env.deletePod('db-0');
  for (const watch of watches) watch.resume();
  await stage.completed('db:2');
  await stage.close();
});
