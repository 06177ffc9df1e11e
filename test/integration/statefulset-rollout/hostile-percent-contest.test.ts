/** StatefulsetRollouts against another client who changes back what they store, and against time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { objectAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { PercentStage } from './percent-stage.ts';

const resource = 'statefulsetrollouts.bedrock.operator.slack.com';
const key = { namespace: 'demo', name: 'db' };

async function settled(replicas: number, spec = {}): Promise<PercentStage> {
  const stage = await PercentStage.open(replicas);
  stage.start();
  await stage.create('db:1', spec);
  await stage.ended();
  return stage;
}

/** Calls of the operator since call number `from`, but for the Lease and Events. */
function callsSince(stage: PercentStage, from: number): number {
  return stage.env.cluster.eventLog.calls
    .slice(from)
    .filter(({ user, resource: of }) => user === 'operator-1' && !/^(?:leases|events)/.test(of))
    .length;
}

/** Ends a fight that no time passes in. */
function limited(stage: PercentStage, most: number): { isOver: boolean } {
  const fight = { isOver: false };
  stage.env.cluster.faults.beforeWrite({ user: 'operator-1' }, most, () => {
    fight.isOver = true;
  });
  return fight;
}

test('a client that changes status.phase back is answered once a second, and not at once each time', async () => {
  const stage = await settled(4);
  const from = stage.env.cluster.eventLog.calls.length;
  const fight = limited(stage, 300);
  const status = { phase: 'Pending' };
  const change = (): unknown =>
    stage.env.client
      .patch(resourceTypes.statefulsetRollouts, key, {
        subresource: 'status',
        body: { kind: 'merge', document: { status } },
      })
      .catch(() => undefined);
  stage.env.cluster.eventLog.onCommit(({ resource: of, after }) => {
    if (fight.isOver || of !== resource || textAt(after, 'status', 'phase') === 'Pending') return;
    void change();
  });
  void change();
  await stage.env.clock.advance(minutes(1));
  assert.ok(callsSince(stage, from) < 300, `${callsSince(stage, from)} calls`);
  await stage.close();
});

test('a client that changes the template back is answered once a second, and not at once each time', async () => {
  const stage = await settled(6);
  const from = stage.env.cluster.eventLog.calls.length;
  const fight = limited(stage, 900);
  const template = { spec: { containers: [{ name: 'main', image: 'theirs:1' }] } };
  stage.env.cluster.eventLog.onCommit(({ resource: of, after }) => {
    const isTheirs = JSON.stringify(objectAt(after, 'spec', 'template')).includes('theirs');
    if (fight.isOver || of !== 'statefulsets.apps' || isTheirs) return;
    void stage.env.patchSet({ spec: { template } }).catch(() => undefined);
  });
  await stage.edit({ statefulset: stage.carried('db:2') });
  await stage.env.clock.advance(minutes(1));
  assert.ok(!fight.isOver, `${callsSince(stage, from)} calls`);
  await stage.close();
});

test('a set that was made, and that its watch does not show, is waited for', async () => {
  const stage = await PercentStage.open(3);
  stage.start();
  await stage.env.clock.advance(seconds(5));
  const watches = stage.env.cluster.faults.watches({
    user: 'operator-1',
    resource: 'statefulsets.apps',
  });
  for (const watch of watches) watch.pause();
  const from = stage.env.cluster.eventLog.calls.length;
  const fight = limited(stage, 100);
  await stage.create('db:1');
  await stage.env.clock.advance(seconds(5));
  assert.ok(!fight.isOver, `${callsSince(stage, from)} calls`);
  for (const watch of watches) watch.resume();
  await stage.ended();
  assert.equal(stage.phase(), 'RolloutDone');
  await stage.close();
});

test('an eviction that lies ahead, as the clock was set back, holds the next for the interval and no longer', async () => {
  const stage = await settled(4, { minPodEvictionIntervalSeconds: 10 });
  await stage.running[0]?.stop();
  const ahead = new Date(stage.env.clock.now() + 3_600_000).toISOString().replace(/\.\d+Z/, 'Z');
  await stage.env.client.patch(resourceTypes.statefulsetRollouts, key, {
    subresource: 'status',
    body: { kind: 'merge', document: { status: { rollout: { lastEvictionTime: ahead } } } },
  });
  stage.start();
  await stage.edit({ statefulset: stage.carried('db:2') });
  await stage.env.clock.advance(minutes(10));
  assert.equal(`${stage.phase()} ${stage.evictions().length}`, 'RolloutDone 4');
  await stage.close();
});

test('an eviction without an answer is looked at again once it counts for nothing any more', async () => {
  const stage = await settled(4);
  stage.env.cluster.faults.add({
    match: { user: 'operator-1', verb: 'create', resource: 'pods', subresource: 'eviction' },
    count: 1,
    action: { kind: 'drop' },
  });
  await stage.edit({ statefulset: stage.carried('db:2') });
  await stage.env.clock.advance(minutes(4));
  assert.equal(stage.phase(), 'RolloutDone', stage.reason());
  await stage.close();
});
