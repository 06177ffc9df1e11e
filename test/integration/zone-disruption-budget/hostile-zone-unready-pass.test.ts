/** Pods that are not ready when their eviction is reviewed, and serve by the time that the API server acts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { ZoneBudgetStage } from './zone-budget-stage.ts';

test('[found S-3] a pod that was let through as it was not ready keeps other zones, as it may serve by the time that it goes [BUDG-2, EXCL-1]', async () => {
  const stage = await ZoneBudgetStage.open();
  const replica = await stage.start();
  replica.lead();
  await stage.create({ selector: { matchLabels: { app: 'db' } }, maxUnavailable: 1 });
  await stage.pass(seconds(130));
  const broken = stage.env.kubelet.behaviours.add({
    behave: 'neverReady',
    match: { name: 'db-0' },
  });
  await stage.pass(seconds(5));
  // Another webhook takes its time: the pod is not deleted yet.
  assert.equal(await replica.review('db-0'), '');
  broken.remove();
  await stage.pass(seconds(3));
  assert.match(await replica.review('db-1'), /^429 .*db-0 is given to an eviction/);
  await stage.pass(seconds(130));
  assert.equal(await replica.review('db-1'), '');
});
