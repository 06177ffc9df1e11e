/** Zones of pods as real watches tell them, of a server that sends whole objects. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis } from '#base/units.ts';
import { createCluster } from '#cluster/create-cluster.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { createInformer } from '#kubernetes/informer/shared-informer.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { parseNode } from '#statefulset/parse-node.ts';
import { parsePod } from '#statefulset/parse-pod.ts';
import { FakeClock } from '#support/clocks/fake-clock.ts';
import { PodZones } from './pod-zones.ts';

test('PodZones follow a pod from its node to where it was', async () => {
  const clock = new FakeClock(Date.UTC(2026, 0, 31));
  const cluster = await createCluster({ clock, seed: 1 });
  const transport = cluster.transport({ user: 'user', client: 'user' });
  const client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
  const common = { client, clock, indexers: {}, report: () => undefined };
  const nodes = createInformer({ ...common, type: resourceTypes.nodes, project: parseNode });
  const pods = createInformer({
    ...common,
    type: resourceTypes.pods,
    project: parsePod,
    isSpecRead: 'node-name',
  });
  const zones = new PodZones({ clock, nodes, pods });
  const stop = new AbortController();
  const ended = Promise.all([nodes.run(stop.signal), pods.run(stop.signal)]);
  const told: (string | undefined)[] = [];
  const tell = async (): Promise<void> => {
    await clock.advance(1_000);
    told.push(zones.zoneOf('default', 'web-0'));
  };
  const labels = { 'topology.kubernetes.io/zone': 'a' };
  const nodeBody = { metadata: { name: 'node-a', labels } };
  const node = await client.create(resourceTypes.nodes, {}, { body: nodeBody });
  const spec = {
    nodeName: 'node-a',
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'main', image: 'main:1' }],
  };
  const body = { metadata: { name: 'web-0' }, spec };
  const pod = await client.create(resourceTypes.pods, { namespace: 'default' }, { body });
  await tell();
  const key = { namespace: 'default', name: 'web-0' };
  await client.delete(resourceTypes.pods, key, { preconditions: { uid: pod.metadata.uid } });
  const preconditions = { uid: node.metadata.uid };
  await client.delete(resourceTypes.nodes, { name: 'node-a' }, { preconditions });
  await tell();
  assert.deepEqual([pods.lister.size, nodes.lister.size], [0, 0]);
  assert.deepEqual(told, ['a', 'a']);
  stop.abort();
  await clock.advance(1_000);
  await ended;
  await cluster.close();
});
