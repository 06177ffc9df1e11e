/** Hostile: a Lease that vouches for processes which had none, and a successor whose view is older than its predecessor's last answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Millis, minutes, seconds } from '#base/units.ts';
import { forbidLeases } from '#support/world/lease-role.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { images } from '#support/world/world-group.ts';
import { type OperatorRun, usualRenewals } from '#support/world/world-operator.ts';

const large: WorldOptions = { replicas: 30, maxUnavailable: '1', operators: 1 };

/** Has `leader` send a deletion in zone c, and kills it; the deletion arrives a minute later, and zone c is taken back meanwhile. */
async function killInZoneC(world: World, leader: OperatorRun): Promise<void> {
  world.cluster.faults.add({
    match: { client: leader.client, verb: 'delete', resource: 'pods' },
    action: { kind: 'delay', delay: seconds(1) },
  });
  await world.setImage(images.new, ['c']);
  await world.clock.runUntil(() => world.record.statements.length === 1, {
    maxVirtual: minutes(5),
  });
  leader.kill({ late: seconds(60) });
  await world.setImage(images.old, ['c']);
}

/** Lets `span` pass, and ends the world. @returns the promises that were broken */
async function broken(world: World, span: Millis): Promise<readonly string[]> {
  await world.clock.advance(span);
  const { violations } = world.judge();
  await world.close();
  return violations.map(({ id }) => id);
}

/** How a process comes to lead without a Lease after one had it. @returns what lets the next one have it */
const ways: Readonly<
  Record<string, (world: World, options: { flags: readonly string[] }) => () => void>
> = {
  'the Role loses update for good': (world) => {
    forbidLeases(world, 'update');
    return () => undefined;
  },
  'the Role loses leases for a while': (world) => forbidLeases(world, 'get', 'create', 'update'),
  'leader election is switched off for a while': (_, options) => {
    options.flags = [...usualRenewals, '-leader-election.enabled=false'];
    return () => {
      options.flags = usualRenewals;
    };
  },
};

for (const [what, withoutLease] of Object.entries(ways)) {
  for (const how of ['was killed', 'ended in good order'] as const) {
    test(`a Lease whose holder ${how} says nothing of the process that led without it, where ${what} [found S-6]`, async () => {
      const options: { flags: readonly string[] } & WorldOptions = {
        ...large,
        flags: usualRenewals,
      };
      const world = await World.create(options);
      const first = await world.readyOperator();
      await world.clock.advance(minutes(3));
      if (how === 'was killed') first.kill();
      else await world.run(first.stop());
      const permit = withoutLease(world, options);
      await world.clock.advance(seconds(20));
      const second = await world.readyOperator();
      await world.clock.advance(minutes(4));
      await killInZoneC(world, second);
      permit();
      await world.setImage(images.new, ['a']);
      world.startOperator();
      assert.deepEqual(await broken(world, minutes(5)), []);
    });
  }
}

for (const lacking of [['create'], ['get', 'create', 'update']] as const) {
  test(`a Role that lacks ${lacking.join(' and ')} on Leases is no proof that no process led before [found S-6]`, async () => {
    const world = await World.create({ ...large, flags: usualRenewals });
    forbidLeases(world, ...lacking);
    const first = await world.readyOperator();
    await world.clock.advance(minutes(4));
    await killInZoneC(world, first);
    await world.clock.advance(seconds(2));
    await world.readyOperator();
    await world.clock.advance(seconds(5));
    await world.setImage(images.new, ['a']);
    assert.deepEqual(await broken(world, minutes(4)), []);
  });
}

const short = [
  '-leader-election.lease-duration=4s',
  '-leader-election.renew-deadline=3s',
  '-leader-election.retry-period=1s',
];
const successors = {
  'is killed under a Lease of 4 s': { flags: short, isKilled: true, silentFor: seconds(8) },
  'is killed under a Lease of 15 s': {
    flags: usualRenewals,
    isKilled: true,
    silentFor: seconds(60),
  },
  'ends in good order': { flags: usualRenewals, isKilled: false, silentFor: seconds(4) },
} as const;
for (const [what, { flags, isKilled, silentFor }] of Object.entries(successors)) {
  test(`a successor that has just begun, and whose watch of pods is late, sees what a predecessor did last that ${what} [found S-6]`, async () => {
    const kubelet = { delays: { stop: seconds(4) } };
    const world = await World.create({ ...large, replicas: 8, operators: 2, flags, kubelet });
    const first = await world.readyOperator();
    await world.clock.advance(minutes(3));
    const second = world.startOperator();
    await world.clock.runUntil(() => second.readiness.isReady());
    const watches = world.cluster.faults
      .watches({ client: second.client })
      .filter(({ options }) => options.resource === 'pods');
    for (const watch of watches) watch.pause();
    const heal = (): void => {
      for (const watch of watches) watch.resume();
    };
    world.clock.timer(silentFor, heal, { owner: 'test' });
    await world.setImage(images.new, ['c']);
    await world.clock.runUntil(() => world.record.statements.length === 1, {
      maxVirtual: seconds(3),
    });
    await world.setImage(images.old, ['c']);
    await world.clock.advance(seconds(isKilled ? 1.2 : 0.2));
    if (isKilled) first.kill();
    else await world.run(first.stop());
    await world.setImage(images.new, ['a']);
    assert.deepEqual(await broken(world, seconds(25)), []);
  });
}
