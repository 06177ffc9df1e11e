/** The judge of pods that are away finds what it is there for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { lostPodFaults } from './phased-pod-judge.ts';
import { PhasedStage } from './phased-stage.ts';

/** A rollout in whose midst `db-0` is lost for `away` seconds; then somebody with the name of the program lowers the partition. */
async function loweredAfter(away: number): Promise<readonly string[]> {
  const stage = await PhasedStage.open();
  const run = stage.start();
  await stage.create();
  await stage.settled();
  await stage.change('db:2');
  await stage.until('it is under way', () => stage.partition() === 2);
  run.die();
  stage.env.kubelet.behaviours.add({ match: { name: 'db-0' }, behave: 'neverReady' });
  await stage.env.deletePod('db-0');
  await stage.env.clock.advance(seconds(away));
  const { cluster } = stage.env;
  const transport = cluster.transport({ user: 'operator-9' });
  const path = '/apis/apps/v1/namespaces/demo/statefulsets/db';
  const spec = { updateStrategy: { rollingUpdate: { partition: 1 } } };
  const headers = { 'content-type': 'application/merge-patch+json' };
  await stage.finish(
    transport.request({ method: 'PATCH', path, headers, body: JSON.stringify({ spec }) }),
  );
  const { commits, calls } = cluster.eventLog;
  const faults = lostPodFaults({ commits, calls, name: 'db' });
  stage.isLifted = true;
  await stage.close();
  return faults;
}

test('a partition that falls while a pod has been away for more than 10 s is a fault', async () => {
  assert.match((await loweredAfter(60)).join(), /partition fell to 1 while db-0 was away/);
});

test('a partition that falls on what a view could not show yet is none', async () => {
  assert.deepEqual(await loweredAfter(5), []);
});
