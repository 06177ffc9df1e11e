/** StatefulsetRollouts from their beginning to their end, on the embedded cluster. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { numberAt, objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { PercentStage } from './percent-stage.ts';

/** A set of four ready pods on `db:1`, made by a resource that has ended. */
async function settled(replicas = 4): Promise<PercentStage> {
  const stage = await PercentStage.open(replicas);
  stage.start();
  await stage.create('db:1');
  await stage.ended();
  return stage;
}

test('a set that is not there is made, belongs to its resource, and is ready at the end [T-10, T-11]', async () => {
  const stage = await PercentStage.open();
  stage.start();
  await stage.create('db:1', { percent: 25 });
  await stage.ended();
  assert.deepEqual(stage.images(), ['db:1', 'db:1', 'db:1', 'db:1']);
  assert.equal(numberAt(stage.status(), 'percentDeployed'), 25);
  assert.equal(stage.status()['statefulsetSpecCurrent'], true);
  assert.equal(textAt(stage.status(), 'statefulsetName'), 'db');
  assert.equal(textAt(stage.set(), 'spec', 'updateStrategy', 'type'), 'OnDelete');
  const [owner] = objectsAt(stage.set(), 'metadata', 'ownerReferences');
  assert.equal(textAt(owner, 'kind'), 'StatefulsetRollout');
  assert.deepEqual(stage.evictions(), []);
  await stage.close();
});

test('1, 50 and 100 percent evict the highest pods first, each once, two at a time [T-23, T-24, T-29]', async () => {
  const stage = await settled();
  await stage.edit({ percent: 1, statefulset: stage.carried('db:2') });
  await stage.ended();
  assert.deepEqual(stage.images(), ['db:1', 'db:1', 'db:1', 'db:2']);
  await stage.edit({ percent: 50 });
  await stage.ended();
  assert.deepEqual(stage.images(), ['db:1', 'db:1', 'db:2', 'db:2']);
  await stage.edit({ percent: 100 });
  await stage.ended();
  assert.deepEqual(stage.images(), ['db:2', 'db:2', 'db:2', 'db:2']);
  assert.deepEqual(stage.evictions(), ['db-3', 'db-2', 'db-1', 'db-0']);
  assert.equal(stage.mostDown(), 2);
  assert.equal(numberAt(stage.status(), 'percentDeployed'), 100);
  assert.equal(stage.condition('Ready'), 'True RolloutDone');
  await stage.close();
});

test('a rollout that has ended asks nothing and writes nothing for ten minutes [T-45]', async () => {
  const stage = await settled();
  await stage.env.clock.advance(seconds(5));
  const { calls } = stage.env.cluster.eventLog;
  const before = calls.length;
  await stage.env.clock.advance(minutes(10));
  const made = calls
    .slice(before)
    .filter(({ user, verb }) => user.startsWith('operator-') && verb !== 'watch')
    .filter(({ resource }) => !/^(?:leases|events)\b/.test(resource));
  assert.deepEqual(
    made.map(({ verb, resource }) => `${verb} ${resource}`),
    [],
  );
  await stage.close();
});

test('an interval keeps evictions apart [T-40]', async () => {
  const stage = await settled();
  await stage.edit({
    minPodEvictionIntervalSeconds: 40,
    percent: 100,
    statefulset: stage.carried('db:2'),
  });
  await stage.ended();
  const { calls } = stage.env.cluster.eventLog;
  const times = calls
    .filter(({ subresource }) => subresource === 'eviction')
    .map(({ startedAt }) => startedAt);
  assert.equal(times.length, 4);
  for (const [at, time] of times.slice(1).entries()) {
    assert.ok(time - (times[at] ?? 0) >= 40_000, `${time - (times[at] ?? 0)} ms`);
  }
  await stage.close();
});

test('a budget that lets none go is reported, and obeyed, and the rollout goes on once it lets one [T-34]', async () => {
  const stage = await settled();
  const key = { namespace: 'demo', name: 'db' };
  const { podDisruptionBudgets } = resourceTypes;
  const lets = async (maxUnavailable: number): Promise<void> => {
    const body = { kind: 'merge', document: { spec: { maxUnavailable } } } as const;
    await stage.env.client.patch(podDisruptionBudgets, key, { body });
  };
  await lets(0);
  await stage.env.clock.advance(seconds(5));
  await stage.edit({ statefulset: stage.carried('db:2') });
  await stage.env.clock.advance(minutes(5));
  assert.match(stage.reason(), /^PDBBlocked: 0 disruptions allowed by budget db/);
  assert.deepEqual(stage.evictions(), []);
  await lets(1);
  await stage.ended();
  assert.equal(stage.mostDown(), 1);
  await stage.close();
});

test('two budgets over the pods let none go, and both are named [T-33]', async () => {
  const stage = await settled();
  await stage.createBudget(1, 'second');
  await stage.edit({ statefulset: stage.carried('db:2'), progressDeadlineSeconds: 60 });
  await stage.ended('RolloutFailed');
  assert.match(stage.reason(), /MultipleBudgets: .*db and second/);
  assert.deepEqual(stage.evictions(), []);
  await stage.close();
});

test('a pause lets no further pod go, and the set is not written in one [T-50, T-51]', async () => {
  const stage = await settled();
  await stage.edit({ pauseRequested: true, statefulset: stage.carried('db:2') });
  await stage.until('it is paused', () => stage.phase() === 'Paused');
  await stage.env.clock.advance(minutes(5));
  assert.equal(stage.env.imageOfSet('db'), 'db:1');
  await stage.edit({ pauseRequested: false });
  await stage.until('two have gone', () => stage.evictions().length === 2);
  await stage.edit({ pauseRequested: true });
  await stage.env.clock.advance(minutes(5));
  assert.equal(stage.evictions().length, 2);
  assert.equal(stage.status()['paused'], true);
  await stage.edit({ pauseRequested: false });
  await stage.ended();
  assert.deepEqual(stage.images(), ['db:2', 'db:2', 'db:2', 'db:2']);
  await stage.close();
});

test('an image that cannot be pulled breaks no more pods than the budget lets be away, and fails by the deadline with its name [T-53, T-54]', async () => {
  const stage = await settled();
  const broken = stage.env.kubelet.behaviours.add({
    match: { image: '*:2' },
    behave: 'imagePullBackOff',
  });
  await stage.edit({ statefulset: stage.carried('db:2'), progressDeadlineSeconds: 120 });
  await stage.ended('RolloutFailed');
  assert.match(stage.reason(), /db-3, db-2.*ImagePullBackOff/);
  assert.deepEqual(stage.images(), ['db:1', 'db:1', 'db:2', 'db:2']);
  broken.remove();
  const uids = ['db-3', 'db-2'].map((pod) => stage.env.uidOf('pods', pod));
  await stage.until('the image is there', () =>
    ['db-3', 'db-2'].every((pod) => stage.env.isReady(pod)),
  );
  await stage.edit({ rolloutIdentity: 'again' });
  await stage.ended();
  assert.deepEqual(
    ['db-3', 'db-2'].map((pod) => stage.env.uidOf('pods', pod)),
    uids,
  );
  assert.deepEqual(stage.images(), ['db:2', 'db:2', 'db:2', 'db:2']);
  await stage.close();
});

test('a former version takes the broken pods back at once, and leaves the old ones alone [T-56]', async () => {
  const stage = await settled();
  stage.env.kubelet.behaviours.add({ match: { image: '*:2' }, behave: 'crashLoop' });
  const kept = ['db-0', 'db-1'].map((pod) => stage.env.uidOf('pods', pod));
  await stage.edit({ percent: 50, statefulset: stage.carried('db:2') });
  await stage.until(
    'two are broken',
    () => stage.images().filter((image) => image === 'db:2').length === 2,
  );
  await stage.env.clock.advance(minutes(2));
  await stage.edit({ percent: 100, statefulset: stage.carried('db:1') });
  await stage.ended();
  assert.deepEqual(stage.images(), ['db:1', 'db:1', 'db:1', 'db:1']);
  assert.deepEqual(
    ['db-0', 'db-1'].map((pod) => stage.env.uidOf('pods', pod)),
    kept,
  );
  assert.equal(objectAt(stage.status(), 'rollout')['rollback'], true);
  await stage.close();
});

test('only the number of replicas changes the set, and begins nothing [T-18]', async () => {
  const stage = await settled();
  const { startedAt } = objectAt(stage.status(), 'rollout');
  await stage.edit({ statefulset: { spec: { replicas: 6 } } });
  await stage.until('it has six pods', () => numberAt(stage.status(), 'readyReplicas') === 6);
  assert.equal(objectAt(stage.status(), 'rollout')['startedAt'], startedAt);
  assert.equal(stage.phase(), 'RolloutDone');
  assert.deepEqual(stage.evictions(), []);
  await stage.close();
});

test('a set that is found is taken over without an owner, and its strategy changed with its template [T-12, T-60]', async () => {
  const stage = await PercentStage.open(3);
  await stage.env.createSet({ podManagementPolicy: 'Parallel' });
  await stage.until('it is ready', () => stage.pods().every((pod) => stage.env.isReady(pod)));
  const strategies = new Set<string>();
  stage.env.cluster.eventLog.onCommit(({ resource, after }) => {
    if (resource !== 'statefulsets.apps') return;
    const [container] = objectsAt(objectAt(after, 'spec', 'template', 'spec'), 'containers');
    strategies.add(
      `${textAt(container, 'image')} ${textAt(after, 'spec', 'updateStrategy', 'type')}`,
    );
  });
  stage.start();
  const carried = stage.carried('db:2');
  const { serviceName: _service, ...spec } = objectAt(carried, 'spec');
  await stage.create('db:2', { statefulset: { ...carried, spec } });
  await stage.ended();
  assert.deepEqual(stage.images(), ['db:2', 'db:2', 'db:2']);
  assert.deepEqual([...strategies], ['db:2 OnDelete']);
  assert.deepEqual(objectsAt(stage.set(), 'metadata', 'ownerReferences'), []);
  await stage.remove();
  await stage.until('the resource is gone', () => stage.rollout() === undefined);
  assert.equal(
    textAt(stage.set(), 'metadata', 'annotations', 'bedrock.operator.slack.com/rollout'),
    '',
  );
  assert.deepEqual(stage.images(), ['db:2', 'db:2', 'db:2']);
  await stage.close();
});

test('a set that was made goes with its resource [T-59]', async () => {
  const stage = await settled();
  await stage.remove();
  await stage.until(
    'both are gone',
    () => stage.rollout() === undefined && stage.set() === undefined,
  );
  await stage.close();
});

test('a set that a user deletes in the middle is recreated, and the rollout ends [T-58]', async () => {
  const stage = await settled();
  await stage.edit({ statefulset: stage.carried('db:2') });
  await stage.until('one has gone', () => stage.evictions().length > 0);
  const { statefulSets } = resourceTypes;
  await stage.env.client.delete(
    statefulSets,
    { namespace: 'demo', name: 'db' },
    { preconditions: {} },
  );
  await stage.ended();
  assert.deepEqual(stage.images(), ['db:2', 'db:2', 'db:2', 'db:2']);
  assert.equal(stage.status()['deleted'], false);
  await stage.close();
});

test('what nobody may change fails at once with its path, and nothing is written [T-15]', async () => {
  const stage = await settled();
  const generation = numberAt(stage.set(), 'metadata', 'generation');
  await stage.edit({ statefulset: stage.carried('db:2', { serviceName: 'other' }) });
  await stage.ended('RolloutFailed');
  assert.match(stage.reason(), /spec\.serviceName/);
  assert.equal(numberAt(stage.set(), 'metadata', 'generation'), generation);
  await stage.close();
});

test('a set is recreated over its pods where that is wanted, which keep running [T-16]', async () => {
  const stage = await settled();
  const uids = stage.pods().map((pod) => stage.env.uidOf('pods', pod));
  const statefulset = stage.carried('db:1', { serviceName: 'other' });
  await stage.edit({ immutableFieldPolicy: 'RecreateOrphan', statefulset });
  await stage.ended();
  assert.equal(textAt(stage.set(), 'spec', 'serviceName'), 'other');
  assert.deepEqual(
    stage.pods().map((pod) => stage.env.uidOf('pods', pod)),
    uids,
  );
  await stage.close();
});

test('a template that the API server refuses fails with its words [T-21]', async () => {
  const stage = await settled();
  const template = { metadata: { labels: { app: 'other' } }, spec: { containers: [] } };
  await stage.edit({ statefulset: stage.carried('db:2', { template }) });
  await stage.ended('RolloutFailed');
  assert.match(stage.reason(), /InvalidStatefulSet|Cannot patch StatefulSet/);
  await stage.close();
});

test('of two resources over one set the older one has it, and the other fails [T-14]', async () => {
  const stage = await settled();
  await stage.create('db:2', {}, 'second');
  await stage.until('it has failed', () => stage.phase('second') === 'RolloutFailed');
  assert.match(stage.reason('second'), /StatefulsetRollout db/);
  assert.deepEqual(stage.images(), ['db:1', 'db:1', 'db:1', 'db:1']);
  await stage.close();
});

test('a version that arrives in the middle begins without waiting, and no more pods are away [T-57]', async () => {
  const stage = await settled(6);
  await stage.edit({ statefulset: stage.carried('db:2') });
  await stage.until('two have gone', () => stage.evictions().length === 2);
  await stage.edit({ statefulset: stage.carried('db:3') });
  await stage.ended();
  assert.deepEqual([...new Set(stage.images())], ['db:3']);
  assert.equal(stage.mostDown(), 2);
  await stage.close();
});

test('a template that a user edits in the middle is written back [T-19]', async () => {
  const stage = await settled(6);
  await stage.edit({ statefulset: stage.carried('db:2') });
  await stage.until('two have gone', () => stage.evictions().length === 2);
  const containers = [{ name: 'main', image: 'theirs:1' }];
  await stage.env.patchSet({ spec: { template: { spec: { containers } } } });
  await stage.ended();
  assert.equal(stage.env.imageOfSet('db'), 'db:2');
  assert.deepEqual([...new Set(stage.images())], ['db:2']);
  await stage.close();
});
