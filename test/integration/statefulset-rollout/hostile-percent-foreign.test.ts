/** StatefulsetRollouts whose set somebody else made, or makes in the very moment: what is theirs is never taken from them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { minutes, seconds } from '#base/units.ts';
import { objectsAt, textAt } from '#cluster/json/read-json.ts';
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

test('a set that a user makes while ours is on its way is theirs, and stays when the resource goes [B-68, B-81]', async () => {
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

test('a set that a user makes after the program was killed before it made its own stays when the resource goes [B-68, B-81]', async () => {
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

const broker = { apiVersion: 'example.com/v1', kind: 'Kafka', name: 'broker', uid: 'u-broker' };

/** A set of others that is adopted, of which two pods have gone. */
async function adopted(spec: JsonObject = {}): Promise<PercentStage> {
  const stage = await PercentStage.open(6);
  const body = stage.carried('db:1');
  await stage.env.client.create(resourceTypes.statefulSets, { namespace }, { body });
  await stage.env.clock.advance(minutes(1));
  stage.start();
  await stage.create('db:2', spec);
  return stage;
}

test('a set that another one comes to control in the middle of a rollout is moved no more [B-69, T-13]', async () => {
  const stage = await adopted();
  await stage.until('two have gone', () => stage.evictions().length === 2);
  const ownerReferences = [{ ...broker, controller: true }];
  await stage.env.patchSet({ metadata: { ownerReferences } });
  await stage.ended('RolloutFailed');
  assert.match(stage.reason(), /db belongs to Kafka broker/);
  assert.equal(stage.evictions().length, 2);
  await stage.close();
});

test('a set that another one comes to control after the end stays when the resource goes, whatever that says [B-81]', async () => {
  const stage = await adopted({ deletionPolicy: 'Delete' });
  await stage.ended();
  await stage.running[0]?.stop();
  const ownerReferences = [{ ...broker, controller: true }];
  await stage.env.patchSet({ metadata: { ownerReferences } });
  stage.start();
  await stage.remove();
  await stage.until('the resource is gone', () => stage.rollout() === undefined);
  await stage.env.clock.advance(minutes(1));
  assert.deepEqual(objectsAt(stage.set(), 'metadata', 'ownerReferences'), ownerReferences);
  await stage.close();
});

test('a set of others that is recreated over its pods stays when the resource goes [B-66, B-81]', async () => {
  const stage = await adopted();
  await stage.ended();
  const statefulset = stage.carried('db:2', { serviceName: 'other' });
  await stage.edit({ immutableFieldPolicy: 'RecreateOrphan', statefulset });
  await stage.ended();
  assert.equal(textAt(stage.set(), 'spec', 'serviceName'), 'other');
  await assertKept(stage, 'made anew');
  await stage.close();
});

test('a set of others that is recreated is owned by nobody, so that no cascade takes it along [B-66, B-69]', async () => {
  const stage = await adopted({ immutableFieldPolicy: 'RecreateOrphan' });
  await stage.ended();
  await stage.edit({ statefulset: stage.carried('db:2', { serviceName: 'other' }) });
  await stage.ended();
  assert.deepEqual(objectsAt(stage.set(), 'metadata', 'ownerReferences'), []);
  await stage.close();
});

test('a set that was made, and whose answer was lost, stays where it is to, although its watch does not show it [B-81]', async () => {
  const stage = await PercentStage.open(3);
  stage.start();
  await stage.env.clock.advance(seconds(5));
  const { faults } = stage.env.cluster;
  const resource = 'statefulsets.apps';
  const watches = faults.watches({ user: 'operator-1', resource });
  for (const watch of watches) watch.pause();
  // The first one only asks whether it would be taken.
  const match = { user: 'operator-1', verb: 'create', resource: 'statefulsets' };
  faults.add({ match, nth: 2, action: { kind: 'drop', when: 'after' } });
  await stage.create('db:1', { deletionPolicy: 'Orphan' });
  await stage.until('it is made', () => stage.set() !== undefined);
  await stage.env.clock.advance(seconds(20));
  stage.env.clock.timer(seconds(20), () => {
    for (const watch of watches) watch.resume();
  });
  await assertKept(stage, 'made without an answer');
  await stage.close();
});
