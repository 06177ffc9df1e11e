/** PhasedRollouts whose partition somebody else writes, too. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, seconds } from '#base/units.ts';
import { PhasedStage } from './phased-stage.ts';

test('a client that takes the partition back each time is answered ever more rarely, and named by an Event [WRIT-1]', async () => {
  const stage = await PhasedStage.open();
  stage.start();
  await stage.create();
  await stage.settled();
  const { env } = stage;
  const before = stage.writes().length;
  env.cluster.eventLog.onCommit(({ resource, name, user }) => {
    if (resource !== 'statefulsets.apps' || name !== 'db' || !user.startsWith('operator-')) return;
    env.clock.timer(millis(5), () => void stage.movePartition(0));
  });
  await stage.movePartition(0);
  await env.clock.advance(seconds(600));
  const written = stage.writes().length - before;
  assert.ok(written >= 4 && written <= 30, `${written} writes in ten minutes`);
  assert.equal(stage.messages('PartitionContested').length, 1);
  await stage.close();
});
