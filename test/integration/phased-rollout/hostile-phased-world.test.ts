/** PhasedRollouts in a world that changes while they wait. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { numberAt } from '#cluster/json/read-json.ts';
import { mostDown } from './phased-judge.ts';
import { PhasedStage } from './phased-stage.ts';

const pods = ['db-0', 'db-1', 'db-2'];

async function rolling(partition: number, spec: JsonObject = {}): Promise<PhasedStage> {
  const stage = await PhasedStage.open(spec);
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

test('a suspension that is taken back while its request is under way lifts the gate for no more than a moment', async () => {
  const stage = await rolling(3);
  stage.env.cluster.faults.add({
    match: { user: 'operator-1', verb: 'patch', resource: 'statefulsets' },
    action: { kind: 'delay', delay: seconds(8), when: 'before' },
    count: 1,
  });
  await stage.edit({ spec: { standardRollingUpdate: true } });
  await stage.env.clock.advance(seconds(2));
  await stage.edit({ spec: { standardRollingUpdate: false } });
  await stage.until('the request took effect', () => stage.partitions().length > 2);
  await stage.env.clock.advance(seconds(5));
  assert.deepEqual(stage.partitions(), [0, 3, 0, 3]);
  const updated = pods.filter((pod) => stage.env.imageOf(pod) === 'db:2');
  assert.ok(updated.length <= 1, updated.join(', '));
  await stage.completed('db:2');
  assert.deepEqual(stage.partitions(), [0, 3, 0, 3, 2, 1, 0, 3]);
  await stage.close();
});

test('no pod goes while another is lost since the checks began, and it goes once that is back', async () => {
  const stage = await rolling(3, { podManagementPolicy: 'Parallel' });
  await stage.until('one has passed', () => passes(stage) === 1);
  const lost = stage.env.kubelet.behaviours.add({
    match: { name: 'db-0' },
    behave: 'neverReady',
  });
  await stage.env.deletePod('db-0');
  await stage.env.clock.advance(seconds(60));
  assert.equal(stage.partition(), 3);
  assert.match(stage.messages('AwaitingAvailability').join(), /db-0/);
  lost.remove();
  await stage.env.deletePod('db-0');
  await stage.completed('db:2');
  assert.equal(mostDown(stage.env.cluster.eventLog.commits, pods), 1);
  await stage.close();
});
