/** StatefulsetRollouts that pin the pods which they have not reached, on the embedded cluster. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { minutes, seconds } from '#base/units.ts';
import { numberAt, objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import { PercentStage } from './percent-stage.ts';
import { loweringFaults, partitionsOf, pinFaults } from './pin-judge.ts';

const pinning = { versionLeak: { policy: 'Pin' } };

/** A set of ready pods on `db:1`, made by a resource that pins them and has ended. */
async function settled(replicas = 4, spec: JsonObject = pinning): Promise<PercentStage> {
  const stage = await PercentStage.open(replicas);
  stage.start();
  await stage.create('db:1', spec);
  await stage.ended();
  await stage.env.clock.advance(seconds(5));
  return stage;
}

function strategy(stage: PercentStage): string {
  const found = objectAt(stage.set(), 'spec', 'updateStrategy');
  return `${textAt(found, 'type')} ${JSON.stringify(found['rollingUpdate'])}`;
}

/** `status.leak`: how many leaked, and the partition. */
function leak(stage: PercentStage): string {
  const found = objectAt(stage.status(), 'leak');
  return `${numberAt(found, 'leakedReplicas')} ${numberAt(found, 'partition')}`;
}

function assertPinned(stage: PercentStage): void {
  const { commits } = stage.env.cluster.eventLog;
  assert.deepEqual([...pinFaults(commits), ...loweringFaults(commits, 2)], []);
  assert.ok(stage.mostDown() <= 2, `${stage.mostDown()} away`);
}

test('pods are pinned at the end of the rollout that makes the set, and all of them [B-96]', async () => {
  const stage = await settled();
  assert.equal(strategy(stage), 'RollingUpdate {"partition":4}');
  assert.equal(leak(stage), '0 4');
  assert.equal(stage.condition('VersionLeak'), 'False Pinned');
  await stage.close();
});

test('a pod that is lost below the percentage comes back on the old version [T-64]', async () => {
  const stage = await settled();
  await stage.edit({ percent: 50, statefulset: stage.carried('db:2') });
  await stage.ended();
  assert.deepEqual(stage.images(), ['db:1', 'db:1', 'db:2', 'db:2']);
  await stage.env.deletePod('db-1');
  await stage.env.deletePod('db-3');
  await stage.env.clock.advance(minutes(2));
  assert.deepEqual(stage.images(), ['db:1', 'db:1', 'db:2', 'db:2']);
  assert.equal(leak(stage), '0 2');
  assert.equal(stage.phase(), 'RolloutDone');
  assertPinned(stage);
  await stage.close();
});

test('the template is written with all pods pinned, and each batch goes after as low a partition [T-65, T-66]', async () => {
  const stage = await settled(6);
  const before = stage.env.cluster.eventLog.commits.length;
  await stage.edit({ statefulset: stage.carried('db:2') });
  await stage.ended();
  const commits = stage.env.cluster.eventLog.commits.slice(before);
  assert.deepEqual(partitionsOf(commits), ['db:2 6', 'db:2 4', 'db:2 2', 'db:2 0', 'db:2 6']);
  const status = objectAt(stage.set(), 'status');
  assert.equal(textAt(status, 'currentRevision'), textAt(status, 'updateRevision'));
  assert.deepEqual([...new Set(stage.images())], ['db:2']);
  assertPinned(stage);
  await stage.close();
});

test('another version in the middle is written with all pods pinned, too [B-92]', async () => {
  const stage = await settled();
  await stage.edit({ percent: 50, statefulset: stage.carried('db:2') });
  await stage.ended();
  const before = stage.env.cluster.eventLog.commits.length;
  await stage.edit({ percent: 100, statefulset: stage.carried('db:3') });
  await stage.ended();
  const commits = stage.env.cluster.eventLog.commits.slice(before);
  assert.deepEqual(partitionsOf(commits), ['db:3 4', 'db:3 2', 'db:3 0', 'db:3 4']);
  assert.deepEqual([...new Set(stage.images())], ['db:3']);
  assertPinned(stage);
  await stage.close();
});

test('1, 50 and 100 percent rotate each pod once, and a pause moves nothing [B-93]', async () => {
  const stage = await settled();
  const uids = (): readonly string[] => stage.pods().map((pod) => stage.env.uidOf('pods', pod));
  const seen = new Set(uids());
  await stage.edit({ percent: 1, statefulset: stage.carried('db:2') });
  await stage.ended();
  await stage.edit({ percent: 50 });
  await stage.ended();
  await stage.edit({ pauseRequested: true, percent: 100 });
  await stage.env.clock.advance(minutes(5));
  assert.deepEqual(stage.images(), ['db:1', 'db:1', 'db:2', 'db:2']);
  await stage.edit({ pauseRequested: false });
  await stage.ended();
  for (const uid of uids()) seen.add(uid);
  assert.equal(seen.size, 8);
  assertPinned(stage);
  await stage.close();
});

test('an interval keeps the pods apart [B-94]', async () => {
  const stage = await settled();
  const before = stage.env.cluster.eventLog.commits.length;
  await stage.edit({ minPodEvictionIntervalSeconds: 60, statefulset: stage.carried('db:2') });
  await stage.ended();
  const { commits } = stage.env.cluster.eventLog;
  const moves = partitionsOf(commits.slice(before));
  assert.deepEqual(moves, ['db:2 4', 'db:2 3', 'db:2 2', 'db:2 1', 'db:2 0', 'db:2 4']);
  assert.equal(stage.mostDown(), 1);
  await stage.close();
});

test('pinning over mixed versions is reported, and waits for the next complete rollout [T-67]', async () => {
  const stage = await settled(4, {});
  await stage.edit({ percent: 50, statefulset: stage.carried('db:2') });
  await stage.ended();
  await stage.edit(pinning);
  await stage.env.clock.advance(minutes(5));
  assert.equal(strategy(stage), 'OnDelete undefined');
  assert.equal(stage.condition('VersionLeak'), 'False PinUnavailable');
  assert.equal(stage.messages('PinUnavailable').length, 1);
  await stage.edit({ percent: 100 });
  await stage.ended();
  assert.equal(strategy(stage), 'RollingUpdate {"partition":4}');
  await stage.close();
});

test('pinning is refused before Kubernetes 1.29, unless an administrator says that it works [T-69]', async () => {
  const stage = await PercentStage.open(4, { version: '1.27' });
  const first = stage.start();
  await stage.create('db:1', pinning);
  await stage.ended();
  await stage.env.clock.advance(seconds(5));
  assert.equal(strategy(stage), 'OnDelete undefined');
  assert.equal(stage.condition('VersionLeak'), 'False PinUnavailable');
  assert.match(stage.messages('PinUnavailable').join(), /1\.29 or later.*v1\.27/);
  await first.stop();
  stage.start(stage.env.clock, { isPinAssumed: true });
  await stage.until('it is pinned', () => strategy(stage) === 'RollingUpdate {"partition":4}');
  await stage.close();
});

test('pinning is switched on and off at rest, and moves no pod', async () => {
  const stage = await settled(4, {});
  const uids = stage.pods().map((pod) => stage.env.uidOf('pods', pod));
  await stage.edit(pinning);
  await stage.until('it is on', () => strategy(stage) === 'RollingUpdate {"partition":4}');
  await stage.edit({ versionLeak: { policy: 'Report' } });
  await stage.until('it is off', () => strategy(stage) === 'OnDelete undefined');
  await stage.env.clock.advance(minutes(1));
  assert.deepEqual(objectAt(stage.status(), 'leak'), {});
  assert.equal(stage.condition('VersionLeak'), 'False NoLeak');
  assert.deepEqual(
    stage.pods().map((pod) => stage.env.uidOf('pods', pod)),
    uids,
  );
  await stage.close();
});

test('a lower percentage takes pods back with repair, within the budget [T-68]', async () => {
  const stage = await settled(10);
  await stage.edit({ percent: 50, statefulset: stage.carried('db:2') });
  await stage.ended();
  await stage.edit({ percent: 20, versionLeak: { policy: 'Pin', repair: true } });
  await stage.ended();
  const old = Array.from({ length: 8 }, () => 'db:1');
  assert.deepEqual(stage.images(), [...old, 'db:2', 'db:2']);
  assert.equal(leak(stage), '0 8');
  assert.deepEqual(stage.evictions().slice(-3).toSorted(), ['db-5', 'db-6', 'db-7']);
  assert.ok(stage.mostDown() <= 2, `${stage.mostDown()} away`);
  await stage.close();
});

test('a set that is found is pinned once it runs one version [B-70]', async () => {
  const stage = await PercentStage.open(3);
  await stage.env.createSet({ podManagementPolicy: 'Parallel' });
  await stage.until('it is ready', () => stage.pods().every((pod) => stage.env.isReady(pod)));
  stage.start();
  const carried = stage.carried('db:2');
  const { serviceName: _service, ...spec } = objectAt(carried, 'spec');
  await stage.create('db:2', { ...pinning, statefulset: { ...carried, spec } });
  await stage.ended();
  assert.deepEqual(stage.images(), ['db:2', 'db:2', 'db:2']);
  assert.equal(strategy(stage), 'RollingUpdate {"partition":3}');
  assert.deepEqual(objectsAt(stage.set(), 'metadata', 'ownerReferences'), []);
  await stage.remove();
  await stage.until('the resource is gone', () => stage.rollout() === undefined);
  assert.equal(strategy(stage), 'OnDelete undefined');
  await stage.close();
});

test('a template that a user edits at rest moves no pod', async () => {
  const stage = await settled();
  const containers = [{ name: 'main', image: 'theirs:1' }];
  await stage.env.patchSet({ spec: { template: { spec: { containers } } } });
  await stage.env.clock.advance(minutes(10));
  assert.deepEqual([...new Set(stage.images())], ['db:1']);
  await stage.close();
});

test('a rollout that has ended asks nothing for ten minutes [T-45]', async () => {
  const stage = await settled();
  const { calls } = stage.env.cluster.eventLog;
  const before = calls.length;
  await stage.env.clock.advance(minutes(10));
  const made = calls
    .slice(before)
    .filter(({ user, verb }) => user.startsWith('operator-') && verb !== 'watch')
    .filter(({ resource }) => !/^(?:leases|events)\b/.test(resource));
  assert.deepEqual(made, []);
  await stage.close();
});
