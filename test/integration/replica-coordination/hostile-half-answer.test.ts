/** A down-scale that a balancer answered with 502 while the API server still works on it (D-50, rule 7). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonObject } from '#base/json.ts';
import { millis, minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { forceAnnotation } from '#support/objects/scaling.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { images, NAMESPACE, setName } from '#support/world/world-group.ts';
import { OPERATOR_USER, type OperatorRun, usualRenewals } from '#support/world/world-operator.ts';
import { annotateSet, follow } from '../stages/scaling-stage.ts';

const group: WorldOptions = {
  replicas: 8,
  maxUnavailable: '1',
  zones: ['a', 'b'],
  operators: 2,
  flags: usualRenewals,
};

/** A world in which the down-scale of zone b from 8 to 7 is answered 502, and carried out 45 s later. */
async function halfAnswered(
  code: number,
): Promise<{ readonly world: World; readonly operator: OperatorRun }> {
  const world = await World.create(group);
  const operator = await world.readyOperator();
  await annotateSet(world, 'b', follow('a'));
  await world.clock.advance(minutes(1));
  const heal = world.cluster.faults.add({
    match: { client: operator.client, verb: 'patch', resource: 'statefulsets' },
    action: { kind: 'error', code },
  });
  const { uid } = (world.stored('statefulsets.apps', setName('b'))?.['metadata'] ?? {}) as {
    readonly uid: string;
  };
  await annotateSet(world, 'b', forceAnnotation(7));
  const { hits } = world.cluster.faults;
  await world.clock.runUntil(() => hits.length > 0, { maxVirtual: minutes(1) });
  heal();
  // What the balancer had passed on, and gave up.
  const user = { name: OPERATOR_USER, groups: ['system:authenticated'] };
  const passed = world.clientOf({ user, client: operator.client });
  const operations = [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'test', path: '/spec/replicas', value: 8 },
    { op: 'replace', path: '/spec/replicas', value: 7 },
  ];
  const key = { namespace: NAMESPACE, name: setName('b') };
  const land = (): void => {
    const write = { body: { kind: 'json', operations } } as const;
    passed.patch(resourceTypes.statefulSets, key, write).catch(() => undefined);
  };
  world.clock.timer(seconds(45), land);
  await annotateSet(world, 'b', forceAnnotation(undefined));
  return { world, operator };
}

for (const code of [500, 502, 503]) {
  test(`a down-scale that was answered ${code}, and may still be carried out, makes no clean end [D-50]`, async () => {
    const { world, operator } = await halfAnswered(code);
    await world.clock.advance(millis(100));
    await world.run(operator.stop());
    const lease = world.stored('leases.coordination.k8s.io', 'rollout-operator');
    const metadata = isJsonObject(lease?.['metadata']) ? lease['metadata'] : {};
    await world.close();
    assert.deepEqual(metadata['annotations'] ?? {}, {});
  });
}

test('a down-scale that was answered 502, and is carried out 45 s later, finds no pod of another zone taken away [EXCL-2]', async () => {
  const { world } = await halfAnswered(502);
  await world.clock.advance(seconds(1));
  await world.setImage(images.new, ['a']);
  await world.clock.advance(minutes(4));
  const ids = world.judge().violations.map(({ id }) => id);
  const broken = ids.filter((id) => id.startsWith('EXCL'));
  await world.close();
  assert.deepEqual(broken, []);
});
