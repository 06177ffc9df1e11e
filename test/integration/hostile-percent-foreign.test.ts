/** StatefulsetRollouts whose set somebody else made, or makes in the very moment: what is theirs is never taken from them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { objectsAt } from '#embedded-cluster/controllers/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { PercentStage } from './percent-stage.ts';

const namespace = 'demo';

async function assertKept(stage: PercentStage, what: string): Promise<void> {
  const uids = stage.pods().map((pod) => stage.env.uidOf('pods', pod));
  await stage.remove();
  await stage.until('the resource is gone', () => stage.rollout() === undefined);
  await stage.env.clock.advance(minutes(5));
  assert.deepEqual(
    stage.pods().map((pod) => stage.env.uidOf('pods', pod)),
    uids,
    what,
  );
  assert.deepEqual(objectsAt(stage.set(), 'metadata', 'ownerReferences'), [], what);
}

test('a set that somebody makes while ours is on its way is theirs, and stays when the resource goes [B-68, B-81]', async () => {
  const stage = await PercentStage.open(3);
  stage.start();
  const match = { user: 'operator-1', verb: 'create', resource: 'statefulsets' };
  // The first one only asks whether it would be taken.
  const action = { kind: 'delay', delay: seconds(3) } as const;
  stage.env.cluster.faults.add({ match, nth: 2, action });
  await stage.create('db:1');
  await stage.until('it is being made', () => stage.phase() === 'WaitingForReady');
  await stage.env.client.create(
    resourceTypes.statefulSets,
    { namespace },
    { body: stage.carried('db:1') },
  );
  await stage.ended();
  await assertKept(stage, 'made at the same time');
  await stage.close();
});

test('a set that somebody makes after the program was killed before it made its own stays when the resource goes [B-68, B-81]', async () => {
  const stage = await PercentStage.open(3);
  const first = stage.start();
  const match = { user: 'operator-1', verb: 'create', resource: 'statefulsets' };
  stage.env.cluster.faults.beforeWrite(match, 2, () => first.die());
  await stage.create('db:1');
  await stage.until('it is being made', () => stage.phase() === 'WaitingForReady');
  await stage.env.clock.advance(seconds(1));
  await stage.env.client.create(
    resourceTypes.statefulSets,
    { namespace },
    { body: stage.carried('db:1') },
  );
  stage.start();
  await stage.ended();
  await assertKept(stage, 'made after a kill');
  await stage.close();
});
