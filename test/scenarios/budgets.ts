/** Budgets that rollouts and evictions share, for every cluster whose operator reviews evictions. */
import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Env } from './env.ts';
import { images, isComplete, setImage, setName } from './group.ts';
import { installBudgets, type Scenario } from './rollouts.ts';

const type = resourceTypes.zoneAwarePodDisruptionBudgets;
const podNamePartitionRegex = '[a-z\\-]+-zone-[a-z]-([0-9]+)';

/** Has a budget obeyed: its definition is there, its operator runs, and the API server has evictions reviewed by it. */
async function obeyed(env: Env, spec: JsonObject): Promise<void> {
  await installBudgets(env);
  for (const zone of env.zones) {
    const key = { namespace: env.namespace, name: setName(zone) };
    const document = { metadata: { labels: { app: 'ingester' } } };
    await env.run(
      env.admin.patch(resourceTypes.statefulSets, key, { body: { kind: 'merge', document } }),
    );
  }
  await env.startReviewingOperator();
  const body = {
    apiVersion: `${type.group}/${type.version}`,
    kind: type.kind,
    metadata: { name: 'ingester' },
    spec: { selector: { matchLabels: { app: 'ingester' } }, ...spec },
  };
  await env.run(env.admin.create(type, { namespace: env.namespace }, { body }));
  const ledger = 'rollout-operator-ledger-ingester';
  await env.until('its ledger is there', () => env.stored('configmaps', ledger) !== undefined);
}

/** Asks for the eviction of `slot`, such as `a-0`. @returns 201, or the code and what the webhook says of the pods */
async function evict(env: Env, slot: string): Promise<string> {
  const name = `ingester-zone-${slot}`;
  const path = `/api/v1/namespaces/${env.namespace}/pods/${name}/eviction`;
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } };
  const answer = await env.run(env.ask('POST', path, eviction));
  const { status } = answer;
  const { message = '' } = answer.body as { readonly message?: string };
  const [, told = ''] = /denied the request: (.*?) \(ZoneAware/.exec(message) ?? [];
  return told === '' ? `${status}` : `${status} ${told}`;
}

/** Waits until all pods are back after an eviction. */
async function untilBack(env: Env): Promise<void> {
  await env.until('all pods are back', () => isComplete(env, images.old));
}

/** Names of the pods that went, in order, from the change `since` on. */
function gone(env: Env, since: number): readonly string[] {
  return env
    .history()
    .slice(since)
    .filter(({ resource, verb }) => resource === 'pods' && verb === 'delete')
    .map(({ name }) => name);
}

/** Evicts `slot`, which must be allowed, and keeps its successor from being ready until the answer is called. */
async function evictForLong(env: Env, slot: string): Promise<() => void> {
  assert.equal(await evict(env, slot), '201');
  const match = { namespace: env.namespace, name: `ingester-zone-${slot}` };
  const rule = env.kubelet.behaviours.add({ behave: 'neverReady', match });
  return () => rule.remove();
}

/** Keyed by a sentence. */
export const budgets: Readonly<Record<string, Scenario>> = {
  '[scenario 84] a rollout under a budget of 1, with webhooks on, takes the pods in the same order as without':
    {
      options: { maxUnavailable: 1 },
      act: async (env) => {
        await obeyed(env, { maxUnavailable: 1 });
        const since = env.history().length;
        await setImage(env, images.new);
        await env.until('the rollout is complete', () => isComplete(env, images.new));
        const wanted = env.zones.flatMap((zone) =>
          [0, 1, 2].map((each) => `${setName(zone)}-${each}`),
        );
        assert.deepEqual(gone(env, since), wanted);
      },
    },
  '[scenario 85] under a budget of 1 an eviction in one zone blocks another there and in the others':
    {
      act: async (env) => {
        await obeyed(env, { maxUnavailable: 1 });
        const release = await evictForLong(env, 'a-0');
        assert.match(
          await evict(env, 'a-1'),
          /^429 1 pod (?:not ready|unknown) in ingester-zone-a$/,
        );
        assert.match(
          await evict(env, 'b-0'),
          /^429 1 pod (?:not ready|unknown) in ingester-zone-a$/,
        );
        release();
        await untilBack(env);
        assert.equal(await evict(env, 'b-0'), '201');
      },
    },
  '[scenario 85] under a budget of 2 two evictions in one zone are allowed, and none in the others':
    {
      act: async (env) => {
        await obeyed(env, { maxUnavailable: 2 });
        const first = await evictForLong(env, 'a-0');
        const second = await evictForLong(env, 'a-1');
        assert.match(await evict(env, 'a-2'), /^429 .* in ingester-zone-a$/);
        assert.match(await evict(env, 'b-0'), /^429 .* in ingester-zone-a$/);
        first();
        second();
        await untilBack(env);
      },
    },
  '[scenario 85] under a budget with partitions an eviction blocks the same partition alone': {
    act: async (env) => {
      await obeyed(env, { maxUnavailable: 1, podNamePartitionRegex });
      const release = await evictForLong(env, 'a-0');
      assert.match(await evict(env, 'b-0'), /^429 .* in partition 0$/);
      assert.equal(await evict(env, 'b-1'), '201');
      release();
      await untilBack(env);
    },
  },
  '[scenario 85] with a delay of 15 s a partition stays blocked until it has passed since its pod is back':
    {
      act: async (env) => {
        await obeyed(env, {
          maxUnavailable: 1,
          podNamePartitionRegex,
          crossZoneEvictionDelay: '15s',
        });
        await env.pass(seconds(17));
        assert.equal(await evict(env, 'a-0'), '201');
        await env.until('the pod is gone', () => gone(env, 0).length > 0);
        await untilBack(env);
        assert.match(await evict(env, 'b-0'), /^429 1 pod not ready in partition 0$/);
        assert.equal(await evict(env, 'c-1'), '201');
        await env.pass(seconds(17));
        assert.equal(await evict(env, 'b-0'), '201');
      },
    },
};
