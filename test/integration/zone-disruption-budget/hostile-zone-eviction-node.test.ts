/** A node that is in another zone by now, which the cache of nodes of a replica does not show. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ZoneBudgetStage } from './zone-budget-stage.ts';

test('no eviction is allowed in a second zone although the cache of nodes shows the former zone of its node [EXCL-1, D-49]', async () => {
  const stage = await ZoneBudgetStage.open({ nodes: 6 });
  stage.cap = 4;
  const replica = await stage.start();
  replica.lead();
  await stage.create({ maxUnavailable: 4 });
  await stage.pass(seconds(130));
  const { env } = stage;
  const podOn = (node: string): string => {
    const found = [...env.stored('pods')].find(
      ([, pod]) => textAt(pod, 'spec', 'nodeName') === node,
    );
    return found?.[0] ?? '';
  };
  const [first, second] = [podOn('node-0'), podOn('node-3')];
  const watches = env.cluster.faults.watches({ user: 'replica-1', resource: 'nodes' });
  assert.equal(watches.length, 1);
  for (const watch of watches) watch.pause();
  const labels = { 'topology.kubernetes.io/zone': 'zone-b' };
  const body = { kind: 'merge', document: { metadata: { labels } } } as const;
  await env.client.patch(resourceTypes.nodes, { name: 'node-3' }, { body });
  env.kubelet.behaviours.add({ match: { name: first }, behave: 'neverReady' });
  assert.equal(await stage.finish(replica.evict(first)), '');
  await stage.pass(seconds(12));
  const refusal = await stage.finish(replica.review(second));
  assert.match(refusal, /^429 .*node-3 is in zone zone-b, and its watch does not show that yet/);
  for (const watch of watches) watch.resume();
  await stage.pass(seconds(1));
  assert.match(await stage.finish(replica.review(second)), /^429 .*zone-a/);
  await stage.close();
});
