/** ZoneAwareUpdates that are taken back while their watch stands still: what is believed of the set may be what is old. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, minutes, seconds } from '#base/units.ts';
import { ZoneUpdateStage } from './zone-update-stage.ts';

test('[found R-15] no slot is taken twice for a version that was taken back, as its pod was made again just as it was [REV-3]', async () => {
  const stage = await ZoneUpdateStage.open();
  // The judge of this stage looks at what was sent.
  stage.isDisturbed = true;
  stage.start();
  await stage.pass(seconds(130));
  await stage.create({ maxUnavailable: 1 });
  await stage.pass(seconds(30));
  await stage.change('db:2');
  await stage.until('the first step', () => stage.steps().length >= 1);
  await stage.until('the second step', () => stage.steps().length >= 2);
  // In the very moment: the pod is made again of the version that the watch does not show.
  await stage.pass(millis(1));
  for (const watch of stage.env.cluster.faults.watches({
    user: 'operator-1',
    resource: 'statefulsets.apps',
  })) {
    watch.pause();
  }
  await stage.change('db:1');
  await stage.pass(minutes(1));
  const taken = stage.env.cluster.eventLog.calls
    .filter(({ user, verb, resource }) => {
      return user === 'operator-1' && verb === 'delete' && resource === 'pods';
    })
    .map(({ name }) => name);
  assert.deepEqual(taken, [...new Set(taken)]);
  await stage.close();
});
