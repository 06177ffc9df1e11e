/** StatefulsetRollouts whose set is to stay: however they are deleted, no garbage collector takes it along. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { objectsAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { PercentStage } from './percent-stage.ts';

const key = { namespace: 'demo', name: 'db' };

/** Deletes the resource as GitOps tools do, so that the garbage collector deletes first what it owns. */
async function removeInForeground(stage: PercentStage): Promise<void> {
  const options = { preconditions: {}, propagationPolicy: 'Foreground' } as const;
  await stage.env.client.delete(resourceTypes.statefulsetRollouts, key, options);
  await stage.until('the resource is gone', () => stage.rollout() === undefined);
  await stage.env.clock.advance(minutes(2));
}

function podUids(stage: PercentStage): readonly string[] {
  return stage.pods().map((pod) => stage.env.uidOf('pods', pod));
}

/** How many owner references the set has had, by each of its states since it was made. */
function owners(stage: PercentStage): readonly number[] {
  return stage.env.cluster.eventLog.commits
    .filter(({ resource, after }) => resource === 'statefulsets.apps' && after !== undefined)
    .map(({ after }) => objectsAt(after, 'metadata', 'ownerReferences').length);
}

test('[found S-1] a set that was made to stay never has an owner, and outlives a foreground deletion', async () => {
  const stage = await PercentStage.open(6);
  stage.start();
  await stage.create('db:1', { deletionPolicy: 'Orphan' });
  await stage.ended();
  const uids = podUids(stage);
  assert.equal(uids.length, 6);
  assert.deepEqual(new Set(owners(stage)), new Set([0]));
  await removeInForeground(stage);
  assert.deepEqual(podUids(stage), uids);
  await stage.close();
});

for (const [when, spec] of [
  ['in mid-rollout', {}],
  ['while it is paused', { pauseRequested: true }],
] as const) {
  test(`[found S-1] a set whose policy becomes Orphan ${when} loses its owner before another pod goes`, async () => {
    const stage = await PercentStage.open(6);
    stage.start();
    await stage.create('db:1');
    await stage.ended();
    assert.equal(objectsAt(stage.set(), 'metadata', 'ownerReferences').length, 1);
    await stage.edit({ statefulset: stage.carried('db:2') });
    await stage.until('two have gone', () => stage.evictions().length === 2);
    await stage.edit({ deletionPolicy: 'Orphan', ...spec });
    await stage.until(
      'it has no owner',
      () => objectsAt(stage.set(), 'metadata', 'ownerReferences').length === 0,
      seconds(5),
    );
    assert.equal(stage.evictions().length, 2);
    // The two with the highest ordinals are on their way back.
    const kept = podUids(stage).slice(0, 4);
    await removeInForeground(stage);
    assert.ok(stage.set() !== undefined);
    assert.equal(stage.pods().length, 6);
    assert.deepEqual(podUids(stage).slice(0, 4), kept);
    await stage.close();
  });
}

test('[found S-1] an edit that changes the policy and the replicas at rest does both', async () => {
  const stage = await PercentStage.open(3);
  stage.start();
  await stage.create('db:1');
  await stage.ended();
  await stage.edit({
    deletionPolicy: 'Orphan',
    statefulset: stage.carried('db:1', { replicas: 4 }),
  });
  await stage.until('a fourth pod is there', () => stage.pods().length === 4);
  assert.deepEqual(objectsAt(stage.set(), 'metadata', 'ownerReferences'), []);
  await stage.close();
});

test('[found S-1] owners of others stay, and a policy of Delete still deletes a set that has lost its owner', async () => {
  const stage = await PercentStage.open(3);
  stage.start();
  await stage.create('db:1');
  await stage.ended();
  const other = { apiVersion: 'example.com/v1', kind: 'Backup', name: 'nightly', uid: 'u-backup' };
  const own = objectsAt(stage.set(), 'metadata', 'ownerReferences');
  await stage.env.patchSet({ metadata: { ownerReferences: [...own, other] } });
  await stage.edit({ deletionPolicy: 'Orphan' });
  await stage.until(
    'its own is off',
    () => objectsAt(stage.set(), 'metadata', 'ownerReferences').length === 1,
  );
  assert.deepEqual(objectsAt(stage.set(), 'metadata', 'ownerReferences'), [other]);
  await stage.edit({ deletionPolicy: 'Delete' });
  await stage.env.clock.advance(seconds(5));
  await stage.remove();
  await stage.until('the resource is gone', () => stage.rollout() === undefined);
  await stage.env.clock.advance(minutes(1));
  assert.equal(stage.set(), undefined);
  await stage.close();
});
