/** StatefulsetRollouts that pin pods, and share one native budget: what a controller deletes itself asks no budget. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { minutes } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { mostDown } from '../phased-rollout/phased-judge.ts';
import { PercentStage } from './percent-stage.ts';

const names = ['db', 'kv'];
const replicas = 3;

function carried(stage: PercentStage, name: string, image: string): JsonObject {
  const labels = { app: 'db', set: name };
  const more = {
    selector: { matchLabels: { set: name } },
    template: { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } },
  };
  return { ...stage.carried(image, more), metadata: { name } };
}

/** Sets of ready pods that are pinned, all under one budget. */
async function pinned(maxUnavailable: number): Promise<PercentStage> {
  const stage = await PercentStage.open(replicas);
  const key = { namespace: 'demo', name: 'db' };
  const body = { kind: 'merge', document: { spec: { maxUnavailable } } } as const;
  await stage.env.client.patch(resourceTypes.podDisruptionBudgets, key, { body });
  stage.start();
  for (const name of names) {
    const statefulset = carried(stage, name, 'app:1');
    await stage.create('', { versionLeak: { policy: 'Pin' }, statefulset }, name);
  }
  await stage.env.clock.advance(minutes(2));
  for (const name of names) assert.equal(stage.phase(name), 'RolloutDone');
  return stage;
}

for (const most of [1, 2]) {
  test(`of sets that are pinned under one budget no more than ${most} pods are away at a time [BUDG-1, B-92]`, async () => {
    const stage = await pinned(most);
    const pods = names.flatMap((name) =>
      Array.from({ length: replicas }, (_, ordinal) => `${name}-${ordinal}`),
    );
    await Promise.all(
      names.map((name) => stage.edit({ statefulset: carried(stage, name, 'app:2') }, name)),
    );
    const isNew = (pod: string): boolean =>
      stage.env.stored('pods').has(pod) && stage.env.imageOf(pod) === 'app:2';
    await stage.until('all are new', () => pods.every(isNew));
    assert.equal(mostDown(stage.env.cluster.eventLog.commits, pods), most);
    await stage.close();
  });
}
