/** Rotations with faults, kills, starts and strangers' writes, each run drawn from its seed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutes, seconds } from '#base/units.ts';
import type { FaultAction } from '#cluster/faults.ts';
import { SeededRandom } from '#cluster/seeded-random.ts';
import { CertificateWorld } from './certificate-world.ts';

const actions: readonly FaultAction[] = [
  { kind: 'error', code: 500, when: 'before' },
  { kind: 'error', code: 503, when: 'after' },
  { kind: 'error', code: 409, reason: 'Conflict', when: 'before' },
  { kind: 'conflict' },
  { kind: 'delay', delay: seconds(20), when: 'before' },
  { kind: 'delay', delay: seconds(20), when: 'after' },
  { kind: 'throttle', retryAfterSeconds: 3 },
];

const resources = ['secrets', 'validatingwebhookconfigurations', 'mutatingwebhookconfigurations'];

function pick<T>(random: SeededRandom, list: readonly T[]): T {
  const chosen = list[random.below(list.length)];
  if (chosen === undefined) throw new Error('nothing to choose from');
  return chosen;
}

/** One thing that happens to the world. */
async function happen(world: CertificateWorld, random: SeededRandom): Promise<void> {
  const choice = random.below(10);
  if (choice < 6) {
    world.cluster.faults.add({
      match: {
        client: pick(random, world.replicas).name,
        resource: pick(random, resources),
        verb: pick(random, ['get', 'update', 'create', 'patch']),
      },
      count: 1 + random.below(3),
      action: pick(random, actions),
    });
  } else if (choice === 6) await world.setBundle('no-downscale-test', 'garbage');
  else if (choice === 7) await world.deleteSecret().catch(() => undefined);
  else {
    const index = random.below(world.replicas.length);
    const [gone] = world.replicas.splice(index, 1);
    gone?.transport.revoke();
    world.start({ ahead: minutes(random.below(7) - 3) });
  }
}

for (const seed of [1, 2, 3]) {
  test(`D-28 no bundle distrusts what is served, whatever fails (seed ${seed})`, async () => {
    const world = await CertificateWorld.create();
    const random = new SeededRandom(seed);
    await world.createConfiguration('no-downscale-test');
    await world.createConfiguration('prepare-downscale-test', { kind: 'mutating', webhooks: 2 });
    await world.ready({ ahead: minutes(2) });
    await world.ready();
    for (let step = 0; step < 20; step += 1) {
      await happen(world, random);
      await world.clock.advance(minutes(random.below(15)));
    }
    await world.clock.advance(minutes(15));
    assert.deepEqual(world.distrust, []);
    assert.ok(world.replicas.every(({ isReady }) => isReady()));
    const leaves = new Set(world.replicas.map(({ served }) => served.at(-1)?.fingerprint256));
    assert.equal(leaves.size, 1, 'all replicas serve one certificate in the end');
    await world.close();
  });
}
