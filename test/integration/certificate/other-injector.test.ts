import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Millis, millis, minutes, seconds } from '#base/units.ts';
import { webhookTypes } from '#certificate/webhook-configuration.ts';
import { createClient } from '#kubernetes/http-client.ts';
import type { Replica } from './certificate-replica.ts';
import { bundlesIn, CertificateWorld } from './certificate-world.ts';

const name = 'no-downscale-test';

/** Writes what `next` makes of the bundle 50 ms after each write of a replica, until it is stopped. */
function inject(world: CertificateWorld, next: (bundle: string) => string): () => void {
  const { cluster, clock } = world;
  const transport = cluster.transport({ client: 'cainjector', user: 'cainjector' });
  const client = createClient({ transport, clock, timeout: seconds(10), userAgent: 'cainjector' });
  let isOver = false;
  const act = async (): Promise<void> => {
    const object = await client.get(webhookTypes.validating, { name });
    const [bundle = ''] = bundlesIn(object);
    const wanted = next(bundle);
    if (isOver || wanted === bundle) return;
    const value = Buffer.from(wanted).toString('base64');
    const operations = [{ op: 'add', path: '/webhooks/0/clientConfig/caBundle', value }];
    await client.patch(webhookTypes.validating, { name }, { body: { kind: 'json', operations } });
  };
  cluster.eventLog.onCommit(({ resource, user }) => {
    if (!resource.startsWith('validatingwebhook') || !user.startsWith('operator')) return;
    clock.timer(millis(50), () => void act());
  });
  return () => {
    isOver = true;
  };
}

async function withoutCa({ registry }: Replica): Promise<string | undefined> {
  const text = await registry.expose();
  return /rollout_operator_webhook_configurations_without_ca (\d+)/.exec(text)?.[1];
}

function writesWithin(world: CertificateWorld, span: Millis): number {
  const since = world.clock.now() - span;
  return world.cluster.eventLog.calls.filter(
    ({ client, verb, resource, startedAt }) =>
      client.startsWith('operator') &&
      verb === 'patch' &&
      resource.startsWith('validatingwebhook') &&
      startedAt >= since,
  ).length;
}

test('[found R-7] a CA bundle that another client replaces each time is written ever more rarely, and that is said', async () => {
  const world = await CertificateWorld.create();
  const other = await world.run(world.issue({ organization: 'Somebody' }));
  const stop = inject(world, () => other.cert);
  await world.createConfiguration(name);
  const replica = await world.ready();
  await world.clock.advance(minutes(10));
  const written = writesWithin(world, minutes(10));
  assert.ok(written <= 9, `${written} writes`);
  const said = replica.log.lines.filter((line) => line.includes('another client'));
  assert.ok(said.length >= 1 && said.length <= 6, said.join(''));
  assert.match(said[0] ?? '', /^warn .*configuration=validating\/no-downscale-test .*writes=3/);
  assert.equal(await withoutCa(replica), '1');
  stop();
  await world.clock.advance(minutes(6));
  const { ca = '' } = (await world.secret()) ?? {};
  const [bundle = ''] = await world.bundles(name);
  assert.ok(bundle.includes(ca.trim()), bundle);
  assert.equal(await withoutCa(replica), '0');
  await world.close();
});

test('[found R-7] a CA that another client adds each time stays next to ours, and nobody writes any more', async () => {
  const world = await CertificateWorld.create();
  const other = await world.run(world.issue({ organization: 'Somebody' }));
  inject(world, (bundle) => (bundle.includes(other.cert) ? bundle : `${bundle}${other.cert}`));
  await world.createConfiguration(name);
  const replica = await world.ready();
  await world.clock.advance(minutes(1));
  const { ca = '' } = (await world.secret()) ?? {};
  assert.deepEqual(await world.bundles(name), [`${ca}${other.cert}`]);
  await world.clock.advance(minutes(20));
  assert.equal(writesWithin(world, minutes(20)), 0);
  assert.deepEqual(await world.bundles(name), [`${ca}${other.cert}`]);
  assert.equal(await withoutCa(replica), '0');
  await world.close();
});

test('[found R-7] the gauge of configurations without our CA is 1 while another client has taken it away', async () => {
  const world = await CertificateWorld.create();
  const other = await world.run(world.issue({ organization: 'Somebody' }));
  inject(world, () => other.cert);
  await world.createConfiguration(name);
  const replica = await world.ready();
  const shown: (string | undefined)[] = [];
  for (let look = 0; look < 5; look += 1) {
    await world.clock.advance(millis(730));
    shown.push(await withoutCa(replica));
  }
  assert.deepEqual(shown, ['1', '1', '1', '1', '1']);
  await world.close();
});
