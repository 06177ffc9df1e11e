/** Hostile: one forged review of 1 KB against a server that routes as the real one does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ZoneBudgetStage } from './zone-budget-stage.ts';

test('a forged eviction of a pod without a name lists no namespace', async () => {
  const stage = await ZoneBudgetStage.open();
  const replica = await stage.start();
  const before = stage.env.cluster.eventLog.calls.length;
  const answer = await stage.finish(replica.review(''));
  const calls = stage.env.cluster.eventLog.calls
    .slice(before)
    .filter(({ user }) => user === 'replica-1')
    .map(({ verb, resource, namespace }) => `${verb} ${resource} of ${namespace}`);
  assert.deepEqual(
    calls.filter((each) => each.startsWith('list pods')),
    [],
    answer,
  );
  await stage.close();
});
