/** A group under a ZoneDisruptionBudget, one of whose nodes is in another zone than the watch of the leader has told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes } from '#base/units.ts';
import { textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { World } from '#support/world/world.ts';
import { images, NAMESPACE } from '#support/world/world-group.ts';
import { OPERATOR_USER } from '#support/world/world-operator.ts';
import { createWeb, createZoneBudget, installZones, openZoned } from './all-zones-stage.ts';

/** In zone a, as long as nobody labels it again. */
const moved = 'node-3';

test('no pod of a group goes in a second zone although the cache of nodes shows the former zone of its node [EXCL-1, D-49]', async () => {
  const world = await openZoned({ kubelet: { nodes: { count: 6 } } });
  await installZones(world);
  await createWeb(world);
  await world.readyOperator();
  await createZoneBudget(world, { maxUnavailable: 4 });
  await world.clock.advance(minutes(3));
  const watches = world.cluster.faults.watches({ user: OPERATOR_USER, resource: 'nodes' });
  assert.ok(watches.length > 0);
  for (const watch of watches) watch.pause();
  await label(world, 'zone-b');
  const web = podsOn(world, 'node-0').find((name) => name.startsWith('web-')) ?? '';
  const behaviour = world.kubelet.behaviours.add({ match: { name: web }, behave: 'neverReady' });
  await deletePod(world, web);
  const from = world.cluster.eventLog.commits.length;
  await world.setImage(images.new);
  await world.clock.advance(minutes(2));
  const gone = world.cluster.eventLog.commits
    .slice(from)
    .filter(({ resource, user, before, after }) => {
      const isGoing = textAt(after, 'metadata', 'deletionTimestamp') !== '';
      if (resource !== 'pods' || !isGoing || user !== OPERATOR_USER) return false;
      return textAt(before, 'spec', 'nodeName') === moved;
    });
  assert.deepEqual(
    gone.map(({ name }) => name),
    [],
  );
  const told = world.record.log.map(({ fields }) => String(fields['because'] ?? ''));
  assert.ok(
    told.some((each) =>
      each.startsWith('Node node-3 is in zone zone-b, and its watch does not show that yet'),
    ),
  );
  for (const watch of watches) watch.resume();
  behaviour.remove();
  await deletePod(world, web);
  await world.untilRolled(images.new);
  await world.close();
});

async function label(world: World, zone: string): Promise<void> {
  const labels = { 'topology.kubernetes.io/zone': zone };
  const body = { kind: 'merge', document: { metadata: { labels } } } as const;
  await world.run(world.admin.patch(resourceTypes.nodes, { name: moved }, { body }));
}

function podsOn(world: World, node: string): readonly string[] {
  const pods = world.cluster.eventLog.commits.filter(({ resource }) => resource === 'pods');
  const names = new Set(pods.map(({ name }) => name));
  return [...names].filter(
    (name) => textAt(world.stored('pods', name), 'spec', 'nodeName') === node,
  );
}

async function deletePod(world: World, name: string): Promise<void> {
  const key = { namespace: NAMESPACE, name };
  await world.run(world.admin.delete(resourceTypes.pods, key, { preconditions: {} }));
}
