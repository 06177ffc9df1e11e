/** Scenarios of StatefulsetRollouts that no other file tells, on the embedded cluster. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis, minutes, seconds } from '#base/units.ts';
import type { Call } from '#cluster/event-log.ts';
import { numberAt, objectAt, textAt } from '#cluster/json/read-json.ts';
import { type ResourceType, resourceTypes } from '#kubernetes/resource-type.ts';
import { PercentStage } from './percent-stage.ts';

/** A set of ready pods on `db:1`, made by a resource that has ended. */
async function settled(replicas = 4, spec: JsonObject = {}): Promise<PercentStage> {
  const stage = await PercentStage.open(replicas);
  stage.start();
  await stage.create('db:1', spec);
  await stage.ended();
  return stage;
}

/** What the program sent to change anything, but for its Lease and Events; dry runs left out. */
function writesOf(stage: PercentStage, since = 0): readonly Call[] {
  return stage.env.cluster.eventLog.calls
    .slice(since)
    .filter(({ user }) => user.startsWith('operator-'))
    .filter(({ verb }) => /^(?:create|update|patch|delete)$/.test(verb))
    .filter(({ resource }) => !/^(?:leases|events)\b/.test(resource));
}

function evictionsIn(calls: readonly Call[]): readonly Call[] {
  return calls.filter(({ subresource }) => subresource === 'eviction');
}

/** Kinds that are served here by a definition, as they are not built in. */
const autoscalers: ResourceType = {
  group: 'autoscaling',
  version: 'v2',
  plural: 'horizontalpodautoscalers',
  kind: 'HorizontalPodAutoscaler',
  isNamespaced: true,
};

async function defineAutoscalers({ env }: PercentStage): Promise<void> {
  const { group, version, plural, kind } = autoscalers;
  const schema = {
    openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  };
  const body = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  };
  await env.client.create(resourceTypes.customResourceDefinitions, {}, { body });
  await env.clock.advance(seconds(1));
}

test('a number of replicas that an autoscaler has set stays, and the percentage is of that number [T-17]', async () => {
  const stage = await settled(10);
  await defineAutoscalers(stage);
  const { client } = stage.env;
  const body = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'db', namespace: 'demo' },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db' } },
  };
  await client.create(autoscalers, { namespace: 'demo' }, { body });
  await stage.env.patchSet({ spec: { replicas: 14 } });
  await stage.until('14 are ready', () => numberAt(stage.set(), 'status', 'readyReplicas') === 14);
  await stage.edit({ percent: 50, statefulset: stage.carried('db:2') });
  await stage.ended();
  assert.equal(numberAt(stage.set(), 'spec', 'replicas'), 14);
  assert.equal(numberAt(stage.status(), 'rollout', 'targetReplicas'), 7);
  assert.deepEqual(stage.evictions().toSorted(), [
    'db-10',
    'db-11',
    'db-12',
    'db-13',
    'db-7',
    'db-8',
    'db-9',
  ]);
  await stage.close();
});

test('ordinals that begin with 5 are rotated from the highest, half of the four [T-27]', async () => {
  const stage = await PercentStage.open(4);
  stage.start();
  const ordinals = { start: 5 };
  await stage.create('db:1', { statefulset: stage.carried('db:1', { ordinals }) });
  await stage.ended();
  await stage.edit({ percent: 50, statefulset: stage.carried('db:2', { ordinals }) });
  await stage.ended();
  assert.deepEqual(stage.evictions(), ['db-8', 'db-7']);
  assert.deepEqual(
    ['db-5', 'db-6', 'db-7', 'db-8'].map((pod) => stage.env.imageOf(pod)),
    ['db:1', 'db:1', 'db:2', 'db:2'],
  );
  await stage.close();
});

test('a batch is as large as the budget, and no more than ten of its evictions are under way at once [T-31]', async () => {
  const stage = await PercentStage.open(60);
  const key = { namespace: 'demo', name: 'db' };
  const body = { kind: 'merge', document: { spec: { maxUnavailable: '50%' } } } as const;
  await stage.env.client.patch(resourceTypes.podDisruptionBudgets, key, { body });
  stage.start();
  await stage.create('db:1');
  await stage.ended();
  await stage.env.clock.advance(seconds(5));
  const before = stage.env.cluster.eventLog.calls.length;
  stage.env.cluster.faults.add({
    match: { user: 'operator-1', resource: 'pods', subresource: 'eviction' },
    action: { kind: 'delay', delay: millis(100), when: 'after' },
  });
  await stage.edit({ statefulset: stage.carried('db:2') });
  await stage.until('thirty have gone', () => stage.evictions().length >= 30);
  const sent = evictionsIn(writesOf(stage, before)).slice(0, 30);
  assert.deepEqual(
    sent.map(({ name }) => name).toSorted(),
    Array.from({ length: 30 }, (_, index) => `db-${30 + index}`),
  );
  const atOnce = sent.map(
    ({ startedAt }) =>
      sent.filter((each) => each.startedAt <= startedAt && each.endedAt > startedAt).length,
  );
  assert.equal(Math.max(...atOnce), 10);
  await stage.close();
});

for (const code of [404, 409]) {
  test(`a pod whose eviction is answered ${code} counts as let go, and the set is looked at again [T-38]`, async () => {
    const stage = await settled();
    stage.env.cluster.faults.add({
      match: { user: 'operator-1', resource: 'pods', subresource: 'eviction', name: 'db-3' },
      action: { kind: 'error', code },
      count: 1,
    });
    // It is another one by the time that the request arrives.
    stage.env.cluster.faults.onHit.add(() => void stage.env.deletePod('db-3'));
    await stage.edit({ statefulset: stage.carried('db:2') });
    await stage.ended();
    assert.deepEqual(stage.images(), ['db:2', 'db:2', 'db:2', 'db:2']);
    assert.deepEqual(stage.evictions(), ['db-2', 'db-1', 'db-0']);
    assert.ok(stage.mostDown() <= 2);
    await stage.close();
  });
}

test('a pod that has been ready for less than minReadySeconds is not healthy yet [T-42]', async () => {
  const stage = await PercentStage.open(4);
  stage.start();
  const more = { minReadySeconds: 30 };
  await stage.create('db:1', { statefulset: stage.carried('db:1', more) });
  await stage.ended();
  await stage.edit({ percent: 75, statefulset: stage.carried('db:2', more) });
  await stage.until('two have gone', () => stage.evictions().length === 2);
  const { env } = stage;
  const isNewAndReady = (pod: string): boolean =>
    env.stored('pods').has(pod) && env.imageOf(pod) === 'db:2' && env.isReady(pod);
  await stage.until('both are ready', () => ['db-3', 'db-2'].every(isNewAndReady));
  await stage.env.clock.advance(seconds(10));
  assert.equal(stage.evictions().length, 2);
  assert.equal(stage.phase(), 'WaitingForReady');
  assert.equal(numberAt(stage.status(), 'percentDeployed'), 0);
  await stage.env.clock.advance(seconds(21));
  assert.equal(stage.evictions().length, 3);
  await stage.ended();
  await stage.close();
});

test('between two records of the status there is one change at most of the set, or one batch of pods [T-43]', async () => {
  const stage = await settled(6);
  const before = stage.env.cluster.eventLog.calls.length;
  await stage.edit({ percent: 50, statefulset: stage.carried('db:2') });
  await stage.ended();
  await stage.edit({ percent: 100, statefulset: stage.carried('db:3') });
  await stage.ended();
  const kinds = writesOf(stage, before).map(({ resource, subresource }) => {
    if (resource.startsWith('statefulsetrollouts')) return '|';
    return subresource === 'eviction' ? 'evict' : resource;
  });
  const between = kinds
    .join(' ')
    .split('|')
    .map((each) => [...new Set(each.trim().split(' ').filter(Boolean))].join(' '));
  const wrong = between.filter((each) => each.includes(' '));
  assert.deepEqual(wrong, []);
  assert.ok(between.filter((each) => each === 'evict').length >= 4);
  await stage.close();
});

test('five edits during one pass are followed by one rollout of the newest, and no pass runs along with it [T-44]', async () => {
  const stage = await settled();
  const match = { user: 'operator-1', resource: 'statefulsets', verb: 'patch' };
  const delay = { kind: 'delay', delay: seconds(3) } as const;
  stage.env.cluster.faults.add({ match, action: delay, count: 1 });
  let isUnderWay = false;
  stage.env.cluster.faults.onHit.add(() => {
    isUnderWay = true;
  });
  const from = stage.env.cluster.eventLog.calls.length;
  await stage.edit({ statefulset: stage.carried('db:2') });
  await stage.until('a request of the pass is under way', () => isUnderWay);
  await stage.env.clock.advance(seconds(1));
  for (const image of ['db:3', 'db:4', 'db:5', 'db:6', 'db:7']) {
    await stage.edit({ statefulset: stage.carried(image) });
  }
  await stage.ended();
  assert.deepEqual([...new Set(stage.images())], ['db:7']);
  const written = stage.env.cluster.eventLog.commits.flatMap(({ resource, after }) =>
    resource === 'statefulsets.apps' && after !== undefined
      ? [JSON.stringify(objectAt(after, 'spec', 'template', 'spec')).match(/db:\d/)?.[0] ?? '']
      : [],
  );
  const images = [...new Set(written)];
  assert.ok(['db:1 db:2 db:7', 'db:1 db:7'].includes(images.join(' ')), images.join(' '));
  // Requests of one pass follow one another: but for a batch of evictions none begins before the one before has ended.
  const calls = writesOf(stage, from).filter(({ subresource }) => subresource !== 'eviction');
  for (const [at, { startedAt }] of calls.slice(1).entries()) {
    assert.ok(startedAt >= (calls[at]?.endedAt ?? 0));
  }
  assert.ok(stage.mostDown() <= 2);
  await stage.close();
});

test('what another client writes into the status alone changes nothing, and is answered by nothing [T-46]', async () => {
  const stage = await settled();
  await stage.env.clock.advance(seconds(5));
  const { client, clock, cluster } = stage.env;
  const before = cluster.eventLog.calls.length;
  const key = { namespace: 'demo', name: 'db' };
  const body = {
    kind: 'merge',
    document: { status: { foreign: 'field', slackMessage: { ts: '1' } } },
  } as const;
  await client.patch(resourceTypes.statefulsetRollouts, key, { body, subresource: 'status' });
  await clock.advance(minutes(5));
  assert.deepEqual(
    writesOf(stage, before).map(({ verb, resource }) => `${verb} ${resource}`),
    [],
  );
  assert.equal(stage.phase(), 'RolloutDone');
  assert.equal(textAt(stage.status(), 'slackMessage', 'ts'), '1');
  await stage.close();
});

test('where the record of a batch is refused as it is outdated, no pod goes until it is stored [T-47]', async () => {
  const stage = await settled();
  const { faults, eventLog } = stage.env.cluster;
  const match = { user: 'operator-1', verb: 'update', resource: 'statefulsetrollouts' };
  const from = eventLog.calls.length;
  // Somebody else is faster with each of the first records.
  faults.add({ match, action: { kind: 'conflict' }, count: 12 });
  await stage.edit({ statefulset: stage.carried('db:2') });
  await stage.ended();
  assert.ok(writesOf(stage, from).filter(({ outcome }) => outcome === 409).length >= 12);
  let isStored = true;
  for (const { subresource, resource, outcome } of writesOf(stage, from)) {
    if (resource.startsWith('statefulsetrollouts')) isStored = outcome === 200;
    else if (subresource === 'eviction') assert.ok(isStored, 'a pod went after a refused record');
  }
  await stage.close();
});
