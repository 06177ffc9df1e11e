/** PhasedRollouts that are disturbed: by users, by pods, by the API server, and by the end of the program. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, seconds } from '#base/units.ts';
import { numberAt } from '#cluster/json/read-json.ts';
import { PhasedStage, usualCheck } from './phased-stage.ts';

function passes(stage: PhasedStage): number | undefined {
  return numberAt(stage.rollout(), 'status', 'rollingPodStatus', 'consecutiveSuccessfulChecks');
}

/** A rollout to `db:2` that is blocked, or under way with two pods let go. */
async function rolling(partition: number, spec = {}): Promise<PhasedStage> {
  const stage = await PhasedStage.open(spec);
  stage.start();
  await stage.create();
  await stage.settled();
  await stage.change('db:2');
  await stage.until('it is under way', () => stage.partition() === partition);
  return stage;
}

test('a template that is taken back brings every pod back before it counts as updated [phased 53]', async () => {
  const stage = await rolling(1);
  await stage.until(
    'two are new',
    () => stage.env.imageOf('db-1') === 'db:2' && stage.env.isReady('db-1'),
  );
  await stage.change('db:1');
  await stage.until('it is updated', () => stage.phase() === 'Updated');
  assert.deepEqual(
    ['db-0', 'db-1', 'db-2'].map((pod) => stage.env.imageOf(pod)),
    ['db:1', 'db:1', 'db:1'],
  );
  await stage.close();
});

test('a corrected template reaches a pod that cannot start [phased 54]', async () => {
  const stage = await PhasedStage.open();
  stage.env.kubelet.behaviours.add({ match: { image: '*:broken' }, behave: 'imagePullBackOff' });
  stage.start();
  await stage.create();
  await stage.settled();
  await stage.change('db:broken');
  await stage.until('a pod is broken', () => stage.env.imageOf('db-2') === 'db:broken');
  await stage.env.clock.advance(seconds(120));
  assert.equal(stage.partition(), 2);
  await stage.change('db:3');
  await stage.completed('db:3');
  assert.ok(stage.events().includes('StuckPodReplaced'));
  await stage.close();
});

test('pods that are made above the partition run the new revision, and it goes on [phased 55]', async () => {
  const stage = await rolling(2);
  await stage.env.patchSet({ spec: { replicas: 5 } });
  await stage.until('it is complete', () => stage.phase() === 'Updated' && stage.partition() === 5);
  assert.equal(stage.env.imageOf('db-0'), 'db:2');
  assert.ok(!stage.partitions().slice(2, -1).includes(5));
  await stage.close();
});

test('a set that shrinks below its partition is blocked where its pods end [phased 56]', async () => {
  const stage = await PhasedStage.open({ replicas: 5 });
  stage.start();
  await stage.create();
  await stage.until('it is blocked', () => stage.phase() === 'Updated' && stage.partition() === 5);
  await stage.change('db:2');
  await stage.until('it is under way', () => stage.partition() === 3);
  await stage.env.patchSet({ spec: { replicas: 2 } });
  await stage.until('it is clamped', () => stage.partition() === 2, seconds(5));
  await stage.until('it is complete', () => stage.env.imageOf('db-0') === 'db:2');
  await stage.close();
});

test('a set without replicas is updated at once [phased 57]', async () => {
  const stage = await rolling(2);
  await stage.env.patchSet({ spec: { replicas: 0 } });
  await stage.until('it is complete', () => stage.phase() === 'Updated' && stage.partition() === 0);
  assert.ok(stage.events().includes('RolloutCompleted'));
  await stage.close();
});

test('a partition that a user lowers to 0 in mid-rollout lets all go; one that is raised is checked again [phased 60]', async () => {
  const stage = await rolling(2);
  await stage.movePartition(3);
  await stage.until(
    'it is in the step before',
    () =>
      stage.step() !== '' &&
      numberAt(stage.rollout(), 'status', 'rollingPodStatus', 'partition') === 3,
  );
  await stage.until('it goes on', () => stage.partition() === 2);
  await stage.movePartition(0);
  const asked = stage.prometheus.asked.length;
  await stage.completed('db:2');
  assert.equal(stage.prometheus.asked.length, asked);
  // Without a word it would look like a rollout that has passed its checks.
  const told = stage.messages('GateBypassed').join();
  assert.match(told, /The partition of db went from 2 to 0, .*: db-0 to db-1 may run /);
  await stage.close();
});

test('a resource that comes in mid-update gates nothing of it [phased 64]', async () => {
  const stage = await PhasedStage.open();
  stage.start();
  await stage.change('db:2');
  await stage.create();
  await stage.completed('db:2');
  assert.equal(stage.prometheus.asked.length, 0);
  assert.ok(stage.events().includes('RolloutStarted'));
  await stage.close();
});

test('ordinals that do not begin at 0 are counted from where they begin [phased 65]', async () => {
  const stage = await PhasedStage.open({ ordinals: { start: 5 } });
  stage.start();
  await stage.create();
  await stage.settled();
  await stage.change('db:2');
  await stage.until('all are new', () => stage.env.imageOf('db-5') === 'db:2');
  assert.deepEqual(stage.partitions().slice(0, 5), [0, 3, 2, 1, 0]);
  await stage.close();
});

test('a pod that is not available keeps the analysis from beginning [phased 26]', async () => {
  const stage = await PhasedStage.open();
  stage.start();
  await stage.create();
  await stage.settled();
  const notReady = stage.env.kubelet.behaviours.add({
    match: { name: 'db-0' },
    behave: 'neverReady',
  });
  await stage.env.deletePod('db-0');
  await stage.change('db:2');
  await stage.env.clock.advance(seconds(60));
  assert.equal(stage.step(), 'WaitForAllPodsToBeAvailable');
  assert.equal(stage.prometheus.asked.length, 0);
  notReady.remove();
  await stage.env.deletePod('db-0');
  await stage.completed('db:2');
  await stage.close();
});

test('a process that ended in good order costs no wait, and what was counted goes on [phased 62, 72]', async () => {
  const stage = await PhasedStage.open();
  const first = stage.start();
  await stage.create({ check: { ...usualCheck, successThreshold: 3 } });
  await stage.settled();
  await stage.change('db:2');
  await stage.until('one has passed', () => passes(stage) === 1);
  await first.stop();
  await stage.env.clock.advance(seconds(60));
  const asked = stage.prometheus.asked.length;
  stage.start();
  const begun = stage.env.clock.monotonic();
  await stage.until('it goes on', () => stage.partition() === 2);
  const took = stage.env.clock.monotonic() - begun;
  assert.equal(stage.prometheus.asked.length - asked, 2);
  assert.ok(took < 12_000, `let go after ${took} ms`);
  await stage.completed('db:2');
  await stage.close();
});

test('a process that is killed right after it let a pod go does not let another go for it [phased 63, 72]', async () => {
  const stage = await PhasedStage.open();
  const first = stage.start();
  await stage.create();
  await stage.settled();
  await stage.change('db:2');
  await stage.until('one is let go', () => stage.partition() === 2);
  first.die();
  stage.start();
  const begun = stage.env.clock.monotonic();
  await stage.until('the next is let go', () => stage.partition() === 1);
  const took = stage.env.clock.monotonic() - begun;
  assert.ok(took > 120_000, `let go after ${took} ms`);
  assert.equal(stage.messages('AwaitingPredecessor').length, 1);
  await stage.completed('db:2');
  assert.deepEqual(stage.partitions(), [0, 3, 2, 1, 0, 3]);
  await stage.close();
});

test('a process that ends while it is unknown whether its partition was stored leaves one that waits for it [phased 72]', async () => {
  const stage = await PhasedStage.open();
  const first = stage.start();
  await stage.create();
  await stage.settled();
  stage.env.cluster.faults.add({
    match: { user: 'operator-1', verb: 'patch', resource: 'statefulsets' },
    action: { kind: 'drop', when: 'after' },
    count: 1,
  });
  await stage.change('db:2');
  await stage.until('one is let go', () => stage.partition() === 2);
  await stage.env.clock.advance(seconds(1));
  await first.stop();
  stage.start();
  await stage.completed('db:2');
  assert.equal(stage.messages('AwaitingPredecessor').length, 1);
  assert.deepEqual(stage.partitions(), [0, 3, 2, 1, 0, 3]);
  await stage.close();
});

test('of two replicas only one writes [phased 72]', async () => {
  const stage = await PhasedStage.open();
  stage.start();
  await stage.create();
  await stage.settled();
  stage.start();
  await stage.change('db:2');
  await stage.completed('db:2');
  const users = new Set(
    stage.env.cluster.eventLog.calls
      .filter(
        ({ user, verb, resource }) =>
          user.startsWith('operator-') && verb === 'patch' && resource === 'statefulsets.apps',
      )
      .map(({ user }) => user),
  );
  assert.deepEqual([...users], ['operator-1']);
  await stage.close();
});

test('a write that lost a race is recreated, and the partition goes down by one [phased 33, 34]', async () => {
  const stage = await PhasedStage.open();
  stage.start();
  await stage.create();
  await stage.settled();
  await stage.change('db:2');
  await stage.until('all but one passed', () => passes(stage) === 1);
  stage.env.cluster.faults.add({
    match: { user: 'operator-1', verb: 'patch', resource: 'statefulsets' },
    action: { kind: 'conflict' },
    count: 1,
  });
  await stage.completed('db:2');
  const lost = stage.env.cluster.eventLog.calls.filter(
    ({ user, resource, outcome }) =>
      user === 'operator-1' && resource === 'statefulsets.apps' && outcome === 409,
  );
  assert.equal(lost.length, 1);
  assert.deepEqual(stage.partitions(), [0, 3, 2, 1, 0, 3]);
  await stage.close();
});

test('fifty that ask a server which hangs delay no other [phased 74]', async () => {
  const stage = await PhasedStage.open();
  stage.start();
  await stage.create();
  const slow = { expr: 'up', url: 'http://hangs' };
  for (let at = 0; at < 50; at += 1) {
    await stage.env.createSet({ replicas: 1 }, `slow-${at}`);
    await stage.create(
      { targetRef: `slow-${at}`, check: { ...usualCheck, query: slow } },
      `slow-${at}`,
    );
  }
  await stage.settled();
  stage.prometheus.latencyOf = ({ url }) => millis(url.includes('hangs') ? 5_000 : 5);
  stage.prometheus.answer = ({ url }) =>
    url.includes('hangs')
      ? { kind: 'error', reason: 'TimedOut', message: 'no whole answer in 5 s' }
      : { kind: 'vector', samples: [{ value: 1, text: '1' }], warnings: [] };
  for (let at = 0; at < 50; at += 1) {
    await stage.env.patchSet(
      { spec: { template: { metadata: { labels: { app: 'db', v: '2' } } } } },
      `slow-${at}`,
    );
  }
  await stage.change('db:2');
  const begun = stage.env.clock.monotonic();
  await stage.until('it goes on', () => stage.partition() === 2);
  const took = stage.env.clock.monotonic() - begun;
  assert.ok(took < 17_000, `let go after ${took} ms`);
  await stage.completed('db:2');
  assert.equal(stage.partition('slow-0'), 1);
  await stage.close();
});

test('a status that could not be stored, its Event written already, is stored by the next pass [phased 73]', async () => {
  const stage = await PhasedStage.open();
  stage.start();
  await stage.create();
  await stage.settled();
  stage.env.cluster.faults.add({
    match: { user: 'operator-1', resource: 'phasedrollouts', subresource: 'status' },
    action: { kind: 'conflict' },
    count: 3,
  });
  await stage.change('db:2');
  await stage.completed('db:2');
  assert.deepEqual(stage.partitions(), [0, 3, 2, 1, 0, 3]);
  assert.equal(stage.condition('Updated'), 'True Updated');
  await stage.close();
});

test('a stuck pod that may not be deleted is reported, with what the Role lacks, and is not tried at each change [phased 54]', async () => {
  const stage = await PhasedStage.open();
  stage.env.kubelet.behaviours.add({ match: { image: '*:broken' }, behave: 'imagePullBackOff' });
  stage.env.cluster.faults.add({
    match: { user: 'operator-1', verb: 'delete', resource: 'pods' },
    action: { kind: 'error', code: 403, reason: 'Forbidden', message: 'pods is forbidden' },
  });
  stage.start();
  await stage.create();
  await stage.settled();
  await stage.change('db:broken');
  await stage.until('a pod is broken', () => stage.env.imageOf('db-2') === 'db:broken');
  await stage.change('db:3');
  for (let at = 0; at < 100; at += 1) {
    await stage.env.patchSet({ metadata: { labels: { touched: `t${at}` } } });
    await stage.env.clock.advance(seconds(1));
  }
  const tried = stage.env.cluster.eventLog.calls.filter(
    ({ user, verb, resource }) => user === 'operator-1' && verb === 'delete' && resource === 'pods',
  ).length;
  assert.ok(tried >= 5 && tried <= 20, `tried ${tried} times`);
  assert.match(stage.messages('RequestRefused').join(), /pods is forbidden/);
  await stage.close();
});
