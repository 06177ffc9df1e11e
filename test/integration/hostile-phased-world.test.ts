/** PhasedRollouts in a world that changes while they wait. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { numberAt } from '#embedded-cluster/controllers/read-json.ts';
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
