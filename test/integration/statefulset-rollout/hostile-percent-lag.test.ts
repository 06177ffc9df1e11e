/** StatefulsetRollouts that are paused, lowered or deleted in the middle of a batch, while their watch says nothing of that. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { percentFaults } from './percent-judge.ts';
import { PercentStage } from './percent-stage.ts';

const resource = 'statefulsetrollouts.bedrock.operator.slack.com';
const replicas = 60;
/** So long a view may be that a request rests on. */
const oldest = seconds(10);

/** Times of the evictions that have left, from the start of the stage. */
function sentAt({ env }: PercentStage): readonly number[] {
  const start = env.clock.now() - env.clock.monotonic();
  return env.cluster.eventLog.calls
    .filter(({ user, subresource }) => user === 'operator-1' && subresource === 'eviction')
    .filter(({ name }) => name.startsWith('db-'))
    .map(({ startedAt }) => startedAt - start);
}

/** Another set, of which a pod goes every 11 s: what is read for it proves the views of all. */
async function besideAnother(stage: PercentStage): Promise<void> {
  const labels = { app: 'kv' };
  const statefulset = (image: string): JsonObject => ({
    ...stage.carried(image, {
      replicas: 4,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } },
    }),
    metadata: { name: 'kv' },
  });
  const spec = { minPodEvictionIntervalSeconds: 11 };
  await stage.create('', { ...spec, statefulset: statefulset('kv:1') }, 'kv');
  await stage.until('it is there', () => stage.phase('kv') === 'RolloutDone');
  await stage.edit({ statefulset: statefulset('kv:2') }, 'kv');
  await stage.until('one has gone', () => stage.evictions().includes('kv-3'));
}

/** A batch of all pods that takes half a minute, of which the first ten have gone; the watch of the resource is silent. */
async function underWay(isBesideAnother: boolean): Promise<PercentStage> {
  const stage = await PercentStage.open(replicas);
  const { client, cluster } = stage.env;
  const key = { namespace: 'demo', name: 'db' };
  const body = { kind: 'merge', document: { spec: { maxUnavailable: '100%' } } } as const;
  await client.patch(resourceTypes.podDisruptionBudgets, key, { body });
  stage.start();
  await stage.create('db:1');
  await stage.ended();
  await stage.env.clock.advance(seconds(20));
  cluster.faults.add({
    match: { user: 'operator-1', resource: 'pods', subresource: 'eviction', name: 'db-*' },
    action: { kind: 'delay', delay: seconds(4), when: 'after' },
  });
  if (isBesideAnother) await besideAnother(stage);
  await stage.edit({ statefulset: stage.carried('db:2') });
  await stage.until('the first have gone', () => sentAt(stage).length >= 10);
  for (const watch of cluster.faults.watches({ user: 'operator-1', resource })) watch.pause();
  return stage;
}

const edits: Readonly<Record<string, (stage: PercentStage) => Promise<void>>> = {
  'is paused': (stage) => stage.edit({ pauseRequested: true }),
  'is to reach fewer pods': (stage) => stage.edit({ percent: 10 }),
  'is deleted': (stage) => stage.remove(),
};

for (const [what, edit] of Object.entries(edits)) {
  test(`a resource that ${what} while its watch is silent lets no pod go 10 s later [B-56, GATE-2]`, async () => {
    const stage = await underWay(true);
    const { clock } = stage.env;
    await edit(stage);
    const editedAt = clock.monotonic();
    await clock.advance(minutes(1));
    const late = sentAt(stage).filter((at) => at > editedAt + oldest);
    assert.equal(late.length, 0, `${late.length} of ${sentAt(stage).length} pods`);
    await stage.close();
  });
}

test('a batch that takes longer than a view may be old goes on where the resource stays as it is', async () => {
  const stage = await underWay(false);
  const [first = 0] = sentAt(stage);
  const { cluster } = stage.env;
  for (const watch of cluster.faults.watches({ resource })) watch.resume();
  await stage.until('all have gone', () => sentAt(stage).length === replicas);
  // Six times ten at once, each of them for 4 s.
  assert.ok((sentAt(stage).at(-1) ?? 0) - first < seconds(25));
  assert.deepEqual(stage.messages('ViewNotFresh'), []);
  await stage.ended();
  assert.deepEqual(percentFaults(cluster.eventLog), []);
  await stage.close();
});
