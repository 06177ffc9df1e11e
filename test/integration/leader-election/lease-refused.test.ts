/** A 403 for the Lease that is not about the Role: nobody leads without one (WRIT-1, LIVE-2). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, minutes } from '#base/units.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { OPERATOR_USER, usualRenewals } from '#support/world/world-operator.ts';

const group: WorldOptions = {
  replicas: 8,
  maxUnavailable: '1',
  operators: 2,
  flags: usualRenewals,
};

const refusals = {
  'a quota':
    'exceeded quota: leases, requested: count/leases.coordination.k8s.io=1, used: 5, limited: 5',
  'a policy': 'admission webhook "policy.example" denied the request: no leases today',
} as const;

for (const [what, reason] of Object.entries(refusals)) {
  test(`where ${what} refuses the Lease, although the Role permits it, two replicas do not both roll [WRIT-1]`, async () => {
    const world = await World.create(group);
    const message = `leases.coordination.k8s.io "rollout-operator" is forbidden: ${reason}`;
    world.cluster.faults.add({
      match: { user: OPERATOR_USER, verb: ['create', 'update'], resource: 'leases' },
      action: { kind: 'error', code: 403, reason: 'Forbidden', message },
    });
    const operators = [world.startOperator(), world.startOperator()];
    await world.clock.advance(minutes(3));
    await world.setImage(images.new);
    await world.clock.advance(minutes(5));
    const writers = operators.filter(({ client }) =>
      world.cluster.eventLog.calls.some(
        (call) => call.client === client && call.verb === 'delete' && call.resource === 'pods',
      ),
    );
    await world.close();
    assert.ok(writers.length <= 1, `${writers.length} replicas delete pods at once`);
  });
}

test('a policy that refuses renewals for 5 minutes does not make two replicas roll at once [WRIT-1]', async () => {
  const world = await World.create({ ...group, replicas: 30 });
  world.onEnded.add(() => world.replaceOperator(millis(1_000)));
  await world.readyOperator();
  await world.readyOperator();
  await world.setImage(images.new);
  await world.clock.advance(minutes(1));
  const from = world.clock.now();
  const message =
    'leases.coordination.k8s.io "rollout-operator" is forbidden: admission webhook "policy.example" denied the request';
  const heal = world.cluster.faults.add({
    match: { user: OPERATOR_USER, verb: ['create', 'update'], resource: 'leases' },
    action: { kind: 'error', code: 403, reason: 'Forbidden', message },
  });
  await world.clock.advance(minutes(5));
  heal();
  const late = world.cluster.eventLog.calls.filter(
    ({ verb, resource, startedAt }) =>
      verb === 'delete' && resource === 'pods' && startedAt > from + 130_000,
  );
  const writers = [...new Set(late.map(({ client }) => client))].filter((c) => c.startsWith('op'));
  await world.close();
  assert.ok(writers.length <= 1, `${writers.join(' and ')} delete pods at once`);
});
