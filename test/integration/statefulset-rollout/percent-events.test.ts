/** What is reported of StatefulsetRollouts besides their status: Events, on the embedded cluster. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { minutes, seconds } from '#base/units.ts';
import { numberAt, objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { rolloutReasons } from '#statefulset-rollout/rollout-reasons.ts';
import { type PercentRun, PercentStage } from './percent-stage.ts';

interface Settled {
  readonly stage: PercentStage;
  readonly run: PercentRun;
}

/** A set of four ready pods on `db:1`, made by a resource that has ended. */
async function settled(replicas = 4, set: JsonObject = {}): Promise<Settled> {
  const stage = await PercentStage.open(replicas);
  const run = stage.start();
  await stage.create('db:1', { statefulset: stage.carried('db:1', set) });
  await stage.ended();
  return { stage, run };
}

/** Types and messages of the Events with `reason`, once all of them are written. */
async function told(stage: PercentStage, reason: string): Promise<readonly string[]> {
  await stage.env.clock.advance(seconds(20));
  return [...stage.env.stored('events').values()]
    .filter((event) => textAt(event, 'reason') === reason)
    .filter((event) => textAt(event, 'involvedObject', 'kind') === 'StatefulsetRollout')
    .map((event) => `${textAt(event, 'type')} ${textAt(event, 'message')}`);
}

/** How often something with `reason` was told. */
function times(stage: PercentStage, reason: string): number {
  return [...stage.env.stored('events').values()]
    .filter((event) => textAt(event, 'reason') === reason)
    .reduce((sum, event) => sum + (numberAt(event, 'count') ?? 0), 0);
}

/** Another client has the pod evicted, as when its node is drained. */
async function drain(stage: PercentStage, name: string): Promise<void> {
  const key = { namespace: 'demo', name };
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: key };
  await stage.env.client.create(resourceTypes.pods, key, { body, subresource: 'eviction' });
}

async function removeBudget(stage: PercentStage): Promise<void> {
  const key = { namespace: 'demo', name: 'db' };
  await stage.env.client.delete(resourceTypes.podDisruptionBudgets, key, { preconditions: {} });
}

test('a set that is written is reported with what has changed, and without the marks of this program', async () => {
  const { stage } = await settled();
  await stage.edit({ statefulset: stage.carried('db:2') });
  await stage.ended();
  assert.deepEqual(await told(stage, 'StatefulSetUpdated'), [
    'Normal spec.template.spec.containers[main].image of db',
  ]);
  await stage.close();
});

test('a pod that comes back new after a stop is a leak: status, condition, metric and one Event, and the phase stays [T-62] [B-86, B-87]', async () => {
  const { stage, run } = await settled(6);
  await stage.edit({ percent: 50, statefulset: stage.carried('db:2') });
  await stage.ended();
  assert.equal(stage.condition('VersionLeak'), 'False NoLeak');
  assert.equal((await run.series()).get('leaked_replicas'), 0);
  await drain(stage, 'db-2');
  await stage.until(
    'db-2 is back',
    () => numberAt(stage.status(), 'readyReplicas') === 6 && stage.status()['leak'] !== undefined,
    minutes(5),
  );
  const { since, ...leak } = objectAt(stage.status(), 'leak');
  assert.deepEqual(leak, { policy: 'Report', leakedReplicas: 1, pods: ['db-2'] });
  const leaked = objectsAt(stage.status(), 'pods').filter((pod) => pod['leaked'] === true);
  assert.deepEqual(
    leaked.map((pod) => textAt(pod, 'name')),
    ['db-2'],
  );
  assert.equal(stage.phase(), 'RolloutDone');
  assert.equal(stage.condition('VersionLeak'), 'True PodsLeaked');
  assert.equal((await run.series()).get('leaked_replicas'), 1);
  assert.match((await told(stage, 'VersionLeak')).join('\n'), /^Warning db-2 came back on the new/);
  await stage.env.clock.advance(minutes(11));
  assert.equal(times(stage, 'VersionLeak'), 1);
  assert.match(typeof since === 'string' ? since : '', /^\d{4}-.*Z$/);
  assert.equal(objectAt(stage.status(), 'leak')['since'], since);
  await stage.close();
});

test('a leaked pod is not let go again, and the leak ends with the rollout that reaches it [T-63] [B-86]', async () => {
  const { stage, run } = await settled(6);
  await stage.edit({ percent: 50, statefulset: stage.carried('db:2') });
  await stage.ended();
  await drain(stage, 'db-2');
  await stage.until('it is a leak', () => stage.status()['leak'] !== undefined);
  await stage.until('it is ready', () => stage.env.isReady('db-2'));
  const uid = stage.env.uidOf('pods', 'db-2');
  await stage.edit({ percent: 100 });
  await stage.ended();
  assert.equal(stage.env.uidOf('pods', 'db-2'), uid);
  assert.deepEqual(stage.evictions(), ['db-5', 'db-4', 'db-3', 'db-1', 'db-0']);
  assert.equal(stage.status()['leak'], undefined);
  assert.equal((await run.series()).get('leaked_replicas'), 0);
  assert.equal(times(stage, 'VersionLeak'), 1);
  await stage.close();
});

test('where all are new by leaking the condition says so, and the phase stays [B-88]', async () => {
  const { stage } = await settled(2);
  await stage.edit({ percent: 50, statefulset: stage.carried('db:2') });
  await stage.ended();
  await stage.env.deletePod('db-0');
  await stage.until('it is told', () => stage.condition('VersionLeak') === 'True FullyLeaked');
  assert.equal(stage.phase(), 'RolloutDone');
  await stage.close();
});

test('no rollout from its beginning to its end, nor one that is created paused, is taken for a leak [T-51] [B-86]', async () => {
  const { stage } = await settled();
  const seen = new Set<string>();
  stage.env.cluster.eventLog.onCommit(() => void seen.add(stage.condition('VersionLeak')));
  await stage.edit({ pauseRequested: true, statefulset: stage.carried('db:2') });
  await stage.until('it is paused', () => stage.phase() === 'Paused');
  await stage.env.clock.advance(minutes(5));
  await stage.edit({ pauseRequested: false, percent: 50 });
  await stage.ended();
  await stage.edit({ statefulset: stage.carried('db:3') });
  await stage.ended();
  await stage.edit({ statefulset: stage.carried('db:1'), percent: 25 });
  await stage.ended();
  assert.deepEqual([...seen], ['False NoLeak']);
  assert.deepEqual(await told(stage, 'VersionLeak'), []);
  await stage.close();
});

test('0 percent writes the set, lets no pod go, and warns that a lost one comes back new [T-26] [B-37]', async () => {
  const { stage } = await settled();
  await stage.edit({ percent: 0, statefulset: stage.carried('db:2') });
  await stage.ended();
  assert.equal(stage.env.imageOfSet('db'), 'db:2');
  assert.deepEqual(stage.evictions(), []);
  assert.deepEqual(stage.images(), ['db:1', 'db:1', 'db:1', 'db:1']);
  assert.match(
    (await told(stage, 'NewVersionStaged')).join('\n'),
    /^Warning the new version is written, and 4 pods/,
  );
  assert.equal(times(stage, 'NewVersionStaged'), 1);
  await stage.close();
});

test('OrderedReady is followed by the budget all the same, shown, and told once a rollout [T-41] [B-52]', async () => {
  const { stage } = await settled(4, { podManagementPolicy: 'OrderedReady' });
  const ordered = { podManagementPolicy: 'OrderedReady' };
  await stage.edit({ statefulset: stage.carried('db:2', ordered) });
  await stage.ended();
  assert.equal(stage.condition('ParallelismLimited'), 'True OrderedReady');
  assert.equal(stage.mostDown(), 2);
  const events = await told(stage, 'OrderedReadyLimitsParallelism');
  assert.match(events.join('\n'), /^Warning podManagementPolicy OrderedReady of db/);
  assert.equal(times(stage, 'OrderedReadyLimitsParallelism'), 1);
  await stage.edit({ statefulset: stage.carried('db:3', ordered) });
  await stage.ended();
  await stage.env.clock.advance(seconds(20));
  assert.equal(times(stage, 'OrderedReadyLimitsParallelism'), 2);
  await stage.close();
});

test('without a budget pods go one at a time, which is reported once a rollout [T-32] [G-11]', async () => {
  const { stage } = await settled();
  await removeBudget(stage);
  await stage.edit({ statefulset: stage.carried('db:2') });
  await stage.ended();
  assert.equal(stage.mostDown(), 1);
  assert.match((await told(stage, 'NoBudget')).join('\n'), /^Warning no PodDisruptionBudget/);
  assert.equal(times(stage, 'NoBudget'), 1);
  await stage.close();
});

test('of a rollout of many batches five are reported [F-7]', async () => {
  const { stage } = await settled(16);
  await stage.edit({ statefulset: stage.carried('db:2') });
  await stage.ended();
  await stage.env.clock.advance(seconds(20));
  assert.ok(stage.evictions().length === 16);
  assert.equal(times(stage, 'PodsEvicted'), 5);
  await stage.close();
});

test('a set that is adopted is reported, and a warning where it was in an update of its own [B-69, B-70]', async () => {
  for (const isMidway of [false, true]) {
    const stage = await PercentStage.open(3);
    await stage.env.createSet({ podManagementPolicy: 'Parallel' });
    await stage.until('it is ready', () => stage.pods().every((pod) => stage.env.isReady(pod)));
    if (isMidway) {
      const containers = [{ name: 'main', image: 'db:9' }];
      await stage.env.patchSet({ spec: { template: { spec: { containers } } } });
      await stage.until('it is midway', () => stage.images().includes('db:9'));
    }
    stage.start();
    await stage.create('db:2');
    await stage.ended();
    assert.match((await told(stage, 'StatefulSetAdopted')).join('\n'), /^Normal db was there/);
    const warnings = await told(stage, 'AdoptedDuringRollingUpdate');
    assert.equal(warnings.length, Number(isMidway), warnings.join('\n'));
    assert.deepEqual(await told(stage, 'VersionLeak'), []);
    await stage.close();
  }
});

test('a rollback is reported, and a warning where pods of what is given up stay [B-53, B-55]', async () => {
  for (const percent of [100, 25]) {
    const { stage } = await settled();
    await stage.env.clock.advance(minutes(1));
    await stage.edit({ percent: 50, statefulset: stage.carried('db:2') });
    await stage.ended();
    await stage.edit({ percent, statefulset: stage.carried('db:1') });
    await stage.ended();
    assert.match((await told(stage, 'RollbackDetected')).join('\n'), /^Normal .* is given up$/);
    const left = await told(stage, 'PartialRollback');
    assert.deepEqual(
      left,
      percent === 100 ? [] : ['Warning db-2 keep the version that is given up at 25 percent'],
    );
    await stage.close();
  }
});

test('a pause and its end are reported [G-10]', async () => {
  const { stage } = await settled();
  await stage.edit({ pauseRequested: true, statefulset: stage.carried('db:2') });
  await stage.until('it is paused', () => stage.phase() === 'Paused');
  await stage.edit({ pauseRequested: false });
  await stage.ended();
  assert.equal((await told(stage, 'RolloutPaused')).length, 1);
  assert.match((await told(stage, 'RolloutResumed')).join('\n'), /^Normal goes on after a pause/);
  await stage.close();
});

test('a percentage that fell is a warning [B-36, G-11]', async () => {
  const { stage } = await settled();
  await stage.edit({ percent: 50, statefulset: stage.carried('db:2') });
  await stage.ended();
  await stage.edit({ percent: 25 });
  await stage.ended();
  assert.match((await told(stage, 'PercentBelowActual')).join('\n'), /^Warning 2 of 4 pods/);
  await stage.close();
});

test('a set that stays when its resource goes in the middle is reported with its stale pods [B-84]', async () => {
  const { stage } = await settled();
  await stage.edit({ deletionPolicy: 'Orphan', percent: 50, statefulset: stage.carried('db:2') });
  await stage.ended();
  await stage.remove();
  await stage.until('the resource is gone', () => stage.rollout() === undefined);
  assert.equal(textAt(stage.set(), 'spec', 'updateStrategy', 'type'), 'OnDelete');
  assert.match(
    (await told(stage, 'StalePodsLeft')).join('\n'),
    /^Warning db-1, db-0 of db run an old/,
  );
  await stage.close();
});

test('a rollout that is left partial for long is reported, and no longer once it is finished [B-89]', async () => {
  const stage = await PercentStage.open();
  stage.start(stage.env.clock, { partialAging: minutes(5) });
  await stage.create('db:1');
  await stage.ended();
  await stage.edit({ percent: 50, statefulset: stage.carried('db:2') });
  await stage.ended();
  await stage.env.clock.advance(minutes(4));
  assert.deepEqual(await told(stage, 'PartialRolloutAging'), []);
  await stage.env.clock.advance(minutes(1));
  assert.match((await told(stage, 'PartialRolloutAging')).join('\n'), /^Warning partial for 5 min/);
  await stage.edit({ percent: 100 });
  await stage.ended();
  await stage.env.clock.advance(minutes(6));
  assert.equal(times(stage, 'PartialRolloutAging'), 1);
  await stage.close();
});

test('every reason that is reported of a StatefulsetRollout stands in the catalogue', async () => {
  const { stage } = await settled();
  await removeBudget(stage);
  await stage.edit({ percent: 50, statefulset: stage.carried('db:2') });
  await stage.ended();
  await stage.env.clock.advance(seconds(20));
  const reasons = [...stage.env.stored('events').values()]
    .filter((event) => textAt(event, 'involvedObject', 'kind') === 'StatefulsetRollout')
    .map((event) => textAt(event, 'reason'));
  assert.ok(reasons.length > 4, reasons.join(' '));
  assert.deepEqual(
    reasons.filter((reason) => !Object.hasOwn(rolloutReasons, reason)),
    [],
  );
  await stage.close();
});
