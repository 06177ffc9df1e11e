/** Hostile: nobody leads, and nobody says so; a stranger writes into our log (LIVE-2, D-54). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { images, NAMESPACE } from '#support/world/world-group.ts';
import { OPERATOR_USER, usualRenewals } from '#support/world/world-operator.ts';
import { logSince, textOf } from '../stages/hostile-stage.ts';

const group: WorldOptions = {
  replicas: 2,
  maxUnavailable: '1',
  operators: 2,
  flags: usualRenewals,
};

/** A policy that is before the Lease is broken for an hour: nobody leads, and a rollout waits. */
async function anHourWithoutLease(): Promise<{ readonly world: World; readonly from: number }> {
  const world = await World.create(group);
  world.onEnded.add(() => world.replaceOperator(seconds(1)));
  await world.readyOperator();
  await world.readyOperator();
  const message = 'failed calling webhook "policy.example": no endpoints available';
  world.cluster.faults.add({
    match: { user: OPERATOR_USER, verb: ['create', 'update'], resource: 'leases' },
    action: { kind: 'error', code: 500, message },
  });
  await world.setImage(images.new);
  await world.clock.advance(minutes(60));
  return { world, from: world.clock.now() - minutes(30) };
}

test('two replicas that cannot write the Lease say so once, and again every 10 minutes: at most 20 lines in half an hour (D-54)', async () => {
  const { world, from } = await anHourWithoutLease();
  const lines = logSince(world, from).map((entry) => textOf(entry));
  await world.close();
  assert.ok(lines.length > 0 && lines.length <= 20, `${lines.length} lines, such as ${lines[0]}`);
});

test('while no replica can lead, a gauge says so at each replica, and the log why [LIVE-2]', async () => {
  const { world, from } = await anHourWithoutLease();
  const lines = logSince(world, from).map((entry) => textOf(entry));
  const shown: (string | undefined)[] = [];
  for (const operator of world.operators.filter(({ isAlive }) => isAlive)) {
    const text = await world.run(operator.registry.expose());
    shown.push(text.split('\n').find((line) => line.startsWith('leader_election_master_status')));
  }
  await world.close();
  const standsBy = 'leader_election_master_status{name="rollout-operator"} 0';
  assert.deepEqual(shown, [standsBy, standsBy]);
  assert.match(lines.join('\n'), /policy\.example/);
});

test('a gauge says which of two replicas leads', async () => {
  const world = await World.create(group);
  await world.readyOperator();
  await world.readyOperator();
  const shown: (string | undefined)[] = [];
  for (const operator of world.operators) {
    const text = await world.run(operator.registry.expose());
    shown.push(text.split('\n').find((line) => line.startsWith('leader_election_master_status')));
  }
  await world.close();
  const lead = 'leader_election_master_status{name="rollout-operator"}';
  assert.deepEqual(shown, [`${lead} 1`, `${lead} 0`]);
});

test('who edits the Lease each second with a name of 100,000 characters makes no more than 64 KiB of log a minute', async () => {
  const world = await World.create(group);
  world.onEnded.add(() => world.replaceOperator(seconds(1)));
  await world.readyOperator();
  await world.readyOperator();
  const key = { namespace: NAMESPACE, name: 'rollout-operator' };
  const from = world.clock.now();
  for (let turn = 0; turn < 60; turn += 1) {
    const document = { spec: { holderIdentity: `${turn}${'x'.repeat(100_000)}` } };
    const edit = world.admin.patch(resourceTypes.leases, key, {
      body: { kind: 'merge', document },
    });
    await world.run(edit.then(() => undefined));
    await world.clock.advance(seconds(1));
  }
  const size = logSince(world, from).reduce((sum, entry) => sum + textOf(entry).length, 0);
  await world.close();
  assert.ok(size <= 65_536, `${size} characters`);
});
