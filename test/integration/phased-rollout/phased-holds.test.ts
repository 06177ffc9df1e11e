/** What a PhasedRollout waits for, and says, while nothing may go on, on the embedded cluster. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { numberAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { PhasedStage, usualCheck } from './phased-stage.ts';

const namespace = 'demo';

/** A rollout that has let the first pods go, down to `partition`. */
async function rolledTo(partition: number): Promise<PhasedStage> {
  const stage = await PhasedStage.open();
  stage.start();
  await stage.create();
  await stage.settled();
  await stage.change('db:2');
  await stage.until('pods are let go', () => stage.partition() === partition);
  return stage;
}

/** The StatefulSet controller has seen the newest spec, and done nothing yet. */
async function observed(stage: PhasedStage): Promise<void> {
  const observedGeneration = stage.set()?.metadata.generation ?? 0;
  const key = { namespace, name: 'db' };
  const body = { kind: 'merge', document: { status: { observedGeneration } } } as const;
  await stage.env.client.patch(resourceTypes.statefulSets, key, { body, subresource: 'status' });
}

function stepPartition(stage: PhasedStage): number | undefined {
  return numberAt(stage.rollout(), 'status', 'rollingPodStatus', 'partition');
}

test('a resource without a spec says what is missing, and does its work once it is there', async () => {
  const stage = await PhasedStage.open();
  stage.start();
  const body = {
    apiVersion: 'sts.plus/v1alpha1',
    kind: 'PhasedRollout',
    metadata: { name: 'pr1', namespace },
  };
  await stage.env.client.create(resourceTypes.phasedRollouts, { namespace }, { body });
  await stage.env.clock.advance(minutes(5));
  assert.equal(stage.messages('InvalidSpec').length, 1);
  assert.match(stage.messages('InvalidSpec')[0] ?? '', /spec/);
  assert.equal(stage.owner(), '');
  assert.deepEqual(stage.writes(), ['patch phasedrollouts.sts.plus pr1']);
  await stage.edit({ spec: { targetRef: 'db', check: usualCheck } });
  await stage.settled();
  await stage.close();
});

test('a resource without a spec is gone when it is deleted', async () => {
  const stage = await PhasedStage.open();
  stage.start();
  const body = {
    apiVersion: 'sts.plus/v1alpha1',
    kind: 'PhasedRollout',
    metadata: { name: 'pr1', namespace },
  };
  await stage.env.client.create(resourceTypes.phasedRollouts, { namespace }, { body });
  await stage.until('it is told', () => stage.messages('InvalidSpec').length === 1);
  await stage.remove();
  await stage.until('it is gone', () => stage.rollout() === undefined);
  await stage.close();
});

test('a set of more than 20,000 replicas is left as it is, and goes on once it has fewer', async () => {
  const stage = await rolledTo(2);
  await stage.env.patchSet({ spec: { replicas: 20_001 } });
  await stage.env.clock.advance(seconds(1));
  const asked = stage.prometheus.asked.length;
  await stage.env.clock.advance(seconds(40));
  assert.equal(stage.partition(), 2);
  assert.equal(stage.prometheus.asked.length, asked);
  assert.equal(stage.messages('SetTooLarge').length, 1);
  await stage.env.patchSet({ spec: { replicas: 3 } });
  await stage.completed('db:2');
  await stage.close();
});

test('a query that gives a scalar neither passes nor fails [phased 6]', async () => {
  const stage = await PhasedStage.open();
  stage.start();
  stage.prometheus.answer = () => ({
    kind: 'scalar',
    sample: { value: 1, text: '1' },
    warnings: [],
  });
  await stage.create();
  await stage.settled();
  await stage.change('db:2');
  await stage.env.clock.advance(minutes(5));
  assert.equal(stage.step(), 'PrometheusError');
  for (const field of ['consecutiveSuccessfulChecks', 'totalFailedChecks']) {
    assert.equal(numberAt(stage.rollout(), 'status', 'rollingPodStatus', field), 0);
  }
  assert.match(stage.conditionMessage('Updated'), /scalar/);
  assert.deepEqual(stage.partitions(), [0, 3]);
  await stage.close();
});

test('a pod that says no revision, or is missing, is waited for, and nothing is written [phased 25]', async () => {
  const stage = await PhasedStage.open();
  stage.start();
  await stage.create();
  await stage.settled();
  await stage.change('db:2');
  await stage.until('one has passed', () => stage.prometheus.asked.length === 1);
  // Nobody replaces the pod that is let go.
  await stage.env.controllers.stop();
  await stage.until('one is let go', () => stage.partition() === 2);
  await observed(stage);
  await stage.env.patchPod('db-2', {
    metadata: { labels: { 'controller-revision-hash': null } },
  });
  await stage.until('it waits', () => stage.step() === 'WaitForPodToBeUpdated');
  await stage.env.clock.advance(seconds(1));
  const before = stage.writes();
  await stage.env.clock.advance(seconds(90));
  assert.equal(stage.env.stored('pods').has('db-2'), true);
  await stage.env.deletePod('db-2');
  await stage.env.clock.advance(seconds(90));
  assert.equal(stage.env.stored('pods').has('db-2'), false);
  assert.equal(stage.messages('AwaitingPod').length, 1);
  assert.equal(stage.step(), 'WaitForPodToBeUpdated');
  assert.equal(stepPartition(stage), 2);
  assert.deepEqual(stage.writes(), before);
  await stage.close();
});

test('the last pod is waited for without a check and without a write [phased 28]', async () => {
  const stage = await rolledTo(1);
  await stage.until('all are let go', () => stage.partition() === 0);
  const notReady = stage.env.kubelet.behaviours.add({
    match: { name: 'db-0' },
    behave: 'neverReady',
  });
  await stage.until('the last one runs', () => stage.env.imageOf('db-0') === 'db:2');
  const [written, asked] = [stage.writes().length, stage.prometheus.asked.length];
  await stage.env.clock.advance(minutes(10));
  assert.equal(stage.phase(), 'Rolling');
  assert.equal(stepPartition(stage), 1);
  assert.equal(stage.step(), 'WaitForChecks');
  assert.equal(stage.writes().length, written);
  assert.equal(stage.prometheus.asked.length, asked);
  notReady.remove();
  await stage.env.deletePod('db-0');
  await stage.completed('db:2');
  await stage.close();
});

test('a check that was due while no process ran is asked at once, although nothing changes [phased 35]', async () => {
  const stage = await PhasedStage.open();
  const first = stage.start();
  await stage.create();
  await stage.settled();
  await stage.change('db:2');
  await stage.until('it is asked', () => stage.prometheus.asked.length === 1);
  await stage.env.clock.advance(seconds(1));
  await first.stop();
  // Longer, and a Lease says nothing of its last holder any more, so that the start waits.
  await stage.env.clock.advance(seconds(100));
  stage.start();
  await stage.until('it is asked', () => stage.prometheus.asked.length === 2, seconds(3));
  await stage.completed('db:2');
  await stage.close();
});

test('what is not wanted any more when its turn comes is not sent [D-49]', async () => {
  const stage = await PhasedStage.open();
  await stage.env.createSet({}, 'other');
  stage.start();
  await stage.create();
  await stage.settled();
  stage.env.cluster.faults.add({
    match: { user: 'operator-1', verb: 'patch', resource: 'statefulsets' },
    nth: 1,
    action: { kind: 'delay', delay: seconds(3), when: 'after' },
  });
  await stage.edit({ spec: { targetRef: 'other' } });
  await stage.until('the former set is let go', () => stage.owner() === '');
  await stage.edit({ spec: { targetRef: 'db' } });
  await stage.settled();
  assert.equal(stage.owner(), 'pr1');
  assert.ok(!stage.writes().includes('patch statefulsets.apps other'));
  await stage.close();
});

test('what a late watch does not show yet is neither written nor reported again [phased 34]', async () => {
  const stage = await PhasedStage.open();
  for (const resource of ['phasedrollouts', 'statefulsets']) {
    stage.env.cluster.faults.add({
      match: { user: 'operator-1', verb: 'watch', resource },
      action: { kind: 'watch', action: { delay: seconds(3) } },
    });
  }
  stage.start();
  await stage.create();
  await stage.settled();
  await stage.change('db:2');
  await stage.completed('db:2');
  const { calls, commits } = stage.env.cluster.eventLog;
  const refused = calls.filter(({ user, outcome }) => user === 'operator-1' && outcome === 409);
  const started = commits.filter(
    ({ resource, after }) =>
      resource === 'events' && after !== undefined && textAt(after, 'reason') === 'RolloutStarted',
  );
  assert.deepEqual([refused.length, started.length], [0, 1]);
  assert.deepEqual(stage.partitions(), [0, 3, 2, 1, 0, 3]);
  await stage.close();
});

test('a set under OnDelete with the label of a rollout group is not taken over, which is said with the group, until the label goes [D-63]', async () => {
  const stage = await PhasedStage.open({ updateStrategy: { type: 'OnDelete' } });
  await stage.env.patchSet({ metadata: { labels: { 'rollout-group': 'ingester' } } });
  stage.start();
  await stage.create();
  await stage.until('it says so', () => stage.phase() === 'ErrorCannotManage');
  await stage.env.clock.advance(minutes(5));
  assert.equal(stage.owner(), '');
  const conflict = 'db is left alone, as rollout group ingester would move it, too';
  assert.equal(stage.conditionMessage('Ready'), conflict);
  assert.deepEqual(stage.messages('ConflictingOwners'), [conflict]);
  await stage.env.patchSet({ metadata: { labels: { 'rollout-group': null } } });
  await stage.until('it is taken over', () => stage.owner() === 'pr1');
  await stage.until('it says that', () => /OnDelete/.test(stage.conditionMessage('Ready')));
  await stage.close();
});

test('a PhasedRollout releases a set at deletion that it owned before a group came to name it, too [D-63]', async () => {
  const stage = await PhasedStage.open();
  stage.start();
  await stage.create();
  await stage.settled();
  await stage.env.patchSet({
    metadata: { labels: { 'rollout-group': 'ingester' } },
    spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } },
  });
  await stage.until('it says so', () => stage.phase() === 'ErrorCannotManage');
  assert.equal(stage.owner(), 'pr1');
  await stage.remove();
  await stage.until('it is gone', () => stage.rollout() === undefined);
  assert.equal(stage.owner(), '');
  await stage.close();
});

test('a spec that cannot be read any more gives up no set, in the middle of a rollout or not', async () => {
  const stage = await PhasedStage.open();
  stage.start();
  await stage.create();
  await stage.settled();
  await stage.change('db:2');
  await stage.until('one pod was let go', () => stage.partition() === 2);
  const thresholdRange = { min: 2, max: 1 };
  await stage.edit({ spec: { check: { query: { thresholdRange } } } });
  await stage.until('it is told', () => stage.messages('InvalidSpec').length === 1);
  await stage.env.clock.advance(seconds(60));
  assert.deepEqual([stage.owner(), stage.partition()], ['pr1', 2]);
  await stage.edit({ spec: { check: { query: { thresholdRange: null } } } });
  await stage.completed('db:2');
  assert.deepEqual(stage.partitions(), [0, 3, 2, 1, 0, 3]);
  await stage.close();
});
