/** A pod that came back in another zone, which a proven list shows, and the cache of pods (or that of nodes) does not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ZoneUpdateStage } from './zone-update-stage.ts';

function patchNode(stage: ZoneUpdateStage, name: string, document: JsonObject): Promise<unknown> {
  const body = { kind: 'merge', document } as const;
  return stage.env.client.patch(resourceTypes.nodes, { name }, { body });
}

/** The watches of `resource` tell nothing more. @returns what lets them tell it all */
function silence(stage: ZoneUpdateStage, resource: string): () => void {
  const watches = stage.env.cluster.faults.watches({ user: 'operator-1', resource });
  assert.ok(watches.length > 0);
  for (const watch of watches) watch.pause();
  return () => watches.forEach((watch) => watch.resume());
}

async function settled(maxUnavailable: number, nodes = 3): Promise<ZoneUpdateStage> {
  const stage = await ZoneUpdateStage.open({}, { nodes });
  stage.start();
  await stage.create({ maxUnavailable, exponentialFactor: '0' });
  await stage.until('it is settled', () => stage.condition() === 'True Updated');
  await stage.pass(seconds(30));
  return stage;
}

test('no step takes pods of two zones although the cache of pods shows the former node of one of them [EXCL-1, D-49]', async () => {
  const stage = await settled(4);
  silence(stage, 'pods');
  await patchNode(stage, 'node-0', { spec: { unschedulable: true } });
  await stage.env.deletePod('db-9');
  await stage.pass(seconds(15));
  assert.notEqual(stage.zoneOf('db-9'), 'zone-a');
  assert.ok(stage.env.isReady('db-9'));
  await patchNode(stage, 'node-0', { spec: { unschedulable: null } });
  await stage.change('db:2');
  await stage.pass(seconds(10));
  assert.deepEqual(stage.faults().slice(0, 1), [], stage.steps().join(', '));
  await stage.close();
});

test('no step takes pods of two zones although the cache of nodes shows the former zone of one of them [EXCL-1, D-49]', async () => {
  const stage = await settled(4, 6);
  const tell = silence(stage, 'nodes');
  const labels = { 'topology.kubernetes.io/zone': 'zone-b' };
  await patchNode(stage, 'node-3', { metadata: { labels } });
  await stage.change('db:2');
  await stage.pass(seconds(10));
  assert.deepEqual(stage.steps(), []);
  tell();
  await stage.until('it is updated', () => stage.on('db:2') === 12);
  assert.deepEqual(stage.faults().slice(0, 1), [], stage.steps().join(', '));
  await stage.close();
});
