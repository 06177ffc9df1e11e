import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { millis, minutes } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { mirrorAnnotations } from '#support/objects/scaling.ts';
import { World } from '#support/world/world.ts';
import { NAMESPACE, setName } from '#support/world/world-group.ts';
import { OPERATOR_USER } from '#support/world/world-operator.ts';
import { callsWithin } from '../stages/hostile-stage.ts';
import { eventReasons, small } from '../stages/rollout-stage.ts';
import { annotateSet, createTemplate } from '../stages/scaling-stage.ts';
import type { LargeSetOutcome } from './hostile-large-set.ts';

const reported = 'replicatemplates.rollout-operator.grafana.com';

/** Has another program write 7 to the status of the template, 50 ms after each write of an operator. */
function contest(world: World): void {
  const document = { status: { replicas: 7 } };
  const write = { body: { kind: 'merge', document }, subresource: 'status' } as const;
  const key = { namespace: NAMESPACE, name: 'ingester' };
  world.cluster.eventLog.onCommit(({ resource, user, verb }) => {
    if (resource !== reported || user !== OPERATOR_USER || verb !== 'update') return;
    world.clock.timer(millis(50), () => {
      void world.admin.patch(resourceTypes.replicaTemplates, key, write);
    });
  });
}

test('against another writer of a status, at most 20 PATCHes and 40 GETs are sent in the second minute, and it is reported', async () => {
  const world = await World.create(small);
  await createTemplate(world, 'ingester', 2);
  for (const zone of world.zones) await annotateSet(world, zone, mirrorAnnotations('ingester'));
  contest(world);
  await world.readyOperator();
  const from = world.clock.now();
  await world.clock.advance(minutes(2));
  const second = [from + 60_000, minutes(1)] as const;
  const patches = callsWithin(world, ['patch', reported], second);
  const gets = callsWithin(world, ['get', reported], second);
  assert.ok(patches <= 20, `${patches} PATCHes in the second minute`);
  assert.ok(gets <= 40, `${gets} GETs in the second minute`);
  const reasons = world.zones.flatMap((zone) => eventReasons(world, setName(zone)));
  assert.ok(reasons.includes('ReplicasContested'), reasons.join(', '));
  await world.close();
});

/** What comes of a set of `replicas` in a process that may use as much memory as an installation gives it. */
async function outcomeOf(replicas: number): Promise<LargeSetOutcome> {
  const child = fork(join(import.meta.dirname, 'hostile-large-set.ts'), [String(replicas)], {
    execArgv: ['--max-old-space-size=200'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const { promise, resolve, reject } = Promise.withResolvers<LargeSetOutcome>();
  child.once('message', (message) => resolve(message as LargeSetOutcome));
  child.once('exit', (code, signal) => {
    reject(new Error(`The process ended before it could tell: ${signal ?? `exit ${code}`}`));
  });
  return promise;
}

for (const replicas of [20_001, 1_000_000, 2_147_483_647]) {
  test(`a set of ${replicas} replicas is held with a reason, and the rollout of another group goes on`, async () => {
    const { deleted, errors, isAlive, blockedBy, told, grownBy } = await outcomeOf(replicas);
    assert.deepEqual(deleted, ['store-gateway-zone-a-0']);
    assert.deepEqual(errors, []);
    assert.equal(isAlive, true);
    assert.notEqual(blockedBy, undefined);
    assert.ok(grownBy <= 64, `its memory grew by ${grownBy} MiB`);
    assert.ok(
      told.some((message) => /20[,_ ]?000/.test(message)),
      `nothing names the limit of 20000: ${told.join('; ')}`,
    );
  });
}
