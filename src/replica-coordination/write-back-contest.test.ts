import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Instant, millis, minutes } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { numberAt } from '#support/objects/json-path.ts';
import { autoscale } from '#support/objects/scaling.ts';
import { mirroredTemplate, mirroredZone } from '#support/world/mirrored-zone.ts';
import type { World } from '#support/world/world.ts';
import { setName } from '#support/world/world-group.ts';
import { OPERATOR_USER } from '#support/world/world-operator.ts';

/** One set of three pods that mirrors a ReplicaTemplate, which was told so, so long ago that it does not count any more. */
async function mirroring(): Promise<World> {
  const world = await mirroredZone();
  await world.clock.advance(minutes(12));
  return world;
}

/** Reports `replicas` to the ReplicaTemplate as another client. */
async function report(world: World, replicas: number): Promise<void> {
  const body = { kind: 'merge', document: { status: { replicas } } } as const;
  await world.admin.patch(resourceTypes.replicaTemplates, mirroredTemplate, {
    body,
    subresource: 'status',
  });
}

/** From now on, another client answers each report of the operator with 7, 5 ms later. */
function contest(world: World): void {
  world.cluster.eventLog.onCommit(({ user, resource, after }) => {
    if (user !== OPERATOR_USER || !resource.startsWith('replicatemplates')) return;
    if (numberAt(after ?? {}, 'status', 'replicas') === 7) return;
    world.clock.timer(millis(5), () => void report(world, 7));
  });
}

/** Requests of the operator about the ReplicaTemplate in each minute since `start`, as `PATCHes/GETs`. */
function perMinute(world: World, start: Instant, count: number): readonly string[] {
  const calls = world.cluster.eventLog.calls.filter(
    ({ user, resource }) => user === OPERATOR_USER && resource.startsWith('replicatemplates'),
  );
  const within = (verb: string, minute: number): number =>
    calls.filter((call) => {
      const at = call.startedAt - start;
      return call.verb === verb && at >= minutes(minute) && at < minutes(minute + 1);
    }).length;
  return Array.from({ length: count }, (_, minute) =>
    [within('patch', minute), within('get', minute)].join('/'),
  );
}

function reasonsOf(world: World): readonly string[] {
  return world.names('events').flatMap((name) => {
    const reason = world.stored('events', name)?.['reason'];
    return typeof reason === 'string' ? [reason] : [];
  });
}

test('two writers of one status that disagree for ever cost a few requests a minute, and are named', async () => {
  const world = await mirroring();
  contest(world);
  const start = world.clock.now();
  await world.run(report(world, 7));
  await world.clock.advance(minutes(15));
  // Three writes at once, then after 10, 20, 40, 80, 160 and 300 s; each is answered, and the answer read.
  assert.deepEqual(perMinute(world, start, 15), [
    '5/6',
    '1/1',
    '1/1',
    '0/0',
    '0/0',
    '1/1',
    '0/0',
    '0/0',
    '0/0',
    '0/0',
    '1/1',
    '0/0',
    '0/0',
    '0/0',
    '0/0',
  ]);
  assert.ok(reasonsOf(world).includes('ReplicasContested'));
  await world.close();
});

test('what a resource asks for is acted on at once while its status is contested', async () => {
  const world = await mirroring();
  contest(world);
  await world.run(report(world, 7));
  await world.clock.advance(minutes(3));
  const target = { type: resourceTypes.replicaTemplates, ...mirroredTemplate };
  const changedAt = world.clock.now();
  await world.run(autoscale(world.admin, target, () => 4));
  const replicas = (): number | undefined =>
    numberAt(world.stored('statefulsets.apps', setName('a')) ?? {}, 'spec', 'replicas');
  await world.clock.runUntil(() => replicas() === 4);
  assert.ok(world.clock.now() - changedAt < 100, `${world.clock.now() - changedAt} ms`);
  await world.close();
});

test('a status that another client rewrites without end is read a few times a minute', async () => {
  const world = await mirroring();
  const start = world.clock.now();
  for (let turn = 0; turn < 900; turn += 1) {
    await world.run(report(world, turn % 2 === 0 ? 3 : 8));
    await world.clock.advance(millis(200));
  }
  const gets = perMinute(world, start, 3).map((each) => Number(each.split('/')[1]));
  // Five at once, then one every 15 s.
  for (const [minute, most] of [9, 4, 4].entries()) {
    assert.ok((gets[minute] ?? 0) <= most, `${gets[minute]} reads in minute ${minute}`);
  }
  await world.close();
});
