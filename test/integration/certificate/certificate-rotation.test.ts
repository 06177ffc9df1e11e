import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { millis, minutes, seconds } from '#base/units.ts';
import { certificateBlocks } from '#certificate/x509/pem.ts';
import type { PolicyRule } from '#cluster/auth/authorizer.ts';
import { DNS_NAME, NAMESPACE, type Replica, SECRET } from './certificate-replica.ts';
import { CertificateWorld } from './certificate-world.ts';

const plainKeys = ['ca', 'cert', 'key'];
const rotatingKeys = ['ca', 'cert', 'key', 'next-cert', 'next-from', 'next-key'];

// With a backdate of five minutes a certificate of 110 minutes lives for 115 of them.
const renewal = minutes((115 * 2) / 3 - 5);
const change = minutes((115 * 5) / 6 - 5);

async function keys(world: CertificateWorld): Promise<readonly string[]> {
  return Object.keys((await world.secret()) ?? {}).toSorted();
}

function prints(replica: Replica): readonly string[] {
  return replica.served.map(({ fingerprint256 }) => fingerprint256);
}

function print(pem: string | undefined): string {
  return new X509Certificate(pem ?? '').fingerprint256;
}

/** The members of the Secret. @throws when there is none */
async function stored(world: CertificateWorld): Promise<Record<Member, string>> {
  const { ca = '', cert = '', key = '', ...next } = (await world.secret()) ?? {};
  return { ca, cert, key, next: next['next-cert'] ?? '' };
}

type Member = 'ca' | 'cert' | 'key' | 'next';

async function gauge(replica: Replica, name: string): Promise<readonly string[]> {
  const lines = (await replica.registry.expose()).split('\n');
  return lines.filter((line) => line.startsWith(`rollout_operator_${name}`));
}

test('[admission 83] [admission 93] the first start makes the Secret, and all bundles carry its CA', async () => {
  const world = await CertificateWorld.create();
  await world.createConfiguration('no-downscale-test', { webhooks: 2 });
  await world.createConfiguration('prepare-downscale-test', { kind: 'mutating' });
  const replica = await world.ready();
  const secret = await world.secret();
  assert.deepEqual(Object.keys(secret ?? {}).toSorted(), plainKeys);
  const leaf = new X509Certificate(secret?.['cert'] ?? '');
  assert.equal(leaf.subjectAltName, `DNS:${DNS_NAME}`);
  assert.equal(leaf.verify(new X509Certificate(secret?.['ca'] ?? '').publicKey), true);
  assert.deepEqual(prints(replica), [leaf.fingerprint256]);
  assert.deepEqual(await world.bundles('no-downscale-test'), [secret?.['ca'], secret?.['ca']]);
  assert.deepEqual(await world.bundles('prepare-downscale-test', 'mutating'), [secret?.['ca']]);
  assert.deepEqual(world.writes().toSorted(), [
    'operator-1 create secrets 201',
    'operator-1 patch mutatingwebhookconfigurations 200',
    'operator-1 patch validatingwebhookconfigurations 200',
  ]);
  await world.close();
});

test('[admission 84] [admission 97] a restart serves the same certificate and writes nothing', async () => {
  const world = await CertificateWorld.create();
  await world.createConfiguration('no-downscale-test');
  const first = await world.ready();
  await world.run(first.stop());
  const before = world.writes().length;
  const second = await world.ready();
  await world.clock.advance(minutes(30));
  assert.deepEqual(prints(second), prints(first));
  assert.deepEqual(world.writes().slice(before), []);
  await world.close();
});

test('[admission 85] an empty Secret is filled, and keeps its labels', async () => {
  const world = await CertificateWorld.create();
  await world.createSecret({}, { labels: { team: 'metrics' } });
  await world.ready();
  assert.deepEqual(await keys(world), plainKeys);
  assert.deepEqual(world.writes(), ['operator-1 update secrets 200']);
  const stored = world.cluster.eventLog.commits.at(-1)?.after ?? {};
  assert.deepEqual((stored['metadata'] as { readonly labels?: object }).labels, {
    team: 'metrics',
  });
  await world.close();
});

test('[admission 86] [admission 87] a Secret that cannot be used ends the start, and is left alone', async () => {
  const world = await CertificateWorld.create();
  const [one, two] = await world.run(Promise.all([world.issue(), world.issue()]));
  await world.createSecret({ cert: one.cert, key: one.key });
  await assert.rejects(
    world.ready(),
    /^Error: Secret "test\/rollout-operator-self-signed-certificate" has data, but lacks "ca"; delete it/,
  );
  await world.deleteSecret();
  await world.createSecret({ ca: one.ca, cert: one.cert, key: two.key });
  await assert.rejects(world.ready(), /its "key" must be the key of the certificate in "cert"/);
  assert.deepEqual(world.writes(), []);
  await world.close();
});

test('[admission 88] an expired certificate is replaced at the start, and its CA goes with it', async () => {
  const world = await CertificateWorld.create();
  await world.createConfiguration('no-downscale-test');
  const old = await world.ready();
  await world.run(old.stop());
  const before = await world.secret();
  await world.clock.advance(minutes(120));
  await world.ready();
  const after = await world.secret();
  assert.notEqual(after?.['cert'], before?.['cert']);
  assert.equal(certificateBlocks(after?.['ca'] ?? '').length, 1);
  assert.deepEqual(await world.bundles('no-downscale-test'), [after?.['ca']]);
  await world.close();
});

test('[admission 89] of two replicas that start at once the first writer wins, and both serve its certificate', async () => {
  const world = await CertificateWorld.create();
  const [one, two] = [world.start(), world.start()];
  await world.clock.runUntil(() => one.isReady() && two.isReady());
  assert.deepEqual(prints(one), prints(two));
  // Which of them is first depends on how long its key takes.
  const outcomes = world.writes().map((write) => write.replace(/^operator-[12] /, ''));
  assert.deepEqual(outcomes.toSorted(), ['create secrets 201', 'create secrets 409']);
  await world.close();
});

test('[admission 90] [admission 91] D-28 two replicas rotate without a restart, and every bundle trusts what each serves', async () => {
  const world = await CertificateWorld.create();
  await world.createConfiguration('no-downscale-test');
  const replicas = [await world.ready(), await world.ready()];
  await world.clock.advance(millis(renewal - 60_000));
  assert.deepEqual(await keys(world), plainKeys);
  await world.clock.advance(minutes(3));
  assert.deepEqual(await keys(world), rotatingKeys);
  const rotating = await stored(world);
  assert.equal(certificateBlocks(rotating.ca).length, 2);
  assert.deepEqual(await world.bundles('no-downscale-test'), [rotating.ca]);
  await world.clock.advance(millis(change - renewal - 4 * 60_000));
  for (const replica of replicas) assert.deepEqual(prints(replica), [print(rotating.cert)]);
  await world.clock.advance(minutes(3));
  assert.deepEqual(await keys(world), plainKeys);
  const switched = await stored(world);
  assert.equal(switched.cert, rotating.next);
  for (const replica of replicas) {
    assert.deepEqual(prints(replica), [print(rotating.cert), print(switched.cert)]);
  }
  assert.deepEqual(world.distrust, []);
  await world.close();
});

test('D-28 three lives later there were three rotations, and no failed write but lost races', async () => {
  const world = await CertificateWorld.create();
  await world.createConfiguration('no-downscale-test');
  const replicas = [await world.ready(), await world.ready()];
  await world.clock.advance(millis(change * 3 + 600_000));
  assert.deepEqual(
    replicas.map(({ served }) => served.length),
    [4, 4],
  );
  assert.deepEqual(world.distrust, []);
  const refused = world.writes().filter((write) => !/ 20[01]$| 409$/.test(write));
  assert.deepEqual(refused, []);
  assert.ok(certificateBlocks((await world.secret())?.['ca'] ?? '').length <= 2);
  await world.close();
});

test('D-28 the switch waits, with a gauge, while a labelled configuration lacks the new CA', async () => {
  const world = await CertificateWorld.create();
  await world.createConfiguration('no-downscale-test');
  const replica = await world.ready();
  const disarm = world.cluster.faults.add({
    match: { verb: 'patch', resource: 'validatingwebhookconfigurations' },
    action: { kind: 'error', code: 500 },
  });
  await world.clock.advance(millis(change + 60_000));
  assert.equal(replica.served.length, 1);
  assert.deepEqual(await gauge(replica, 'certificate_rotation_waiting{'), [
    'rollout_operator_certificate_rotation_waiting{reason="CaNotPublished"} 1',
  ]);
  assert.deepEqual(await gauge(replica, 'webhook_configurations_without_ca '), [
    'rollout_operator_webhook_configurations_without_ca 1',
  ]);
  disarm();
  await world.clock.advance(minutes(2));
  assert.equal(replica.served.length, 2);
  assert.deepEqual(await gauge(replica, 'certificate_rotation_waiting{'), []);
  assert.deepEqual(await gauge(replica, 'webhook_configurations_without_ca '), [
    'rollout_operator_webhook_configurations_without_ca 0',
  ]);
  assert.deepEqual(world.distrust, []);
  await world.close();
});

test('D-28 a replica that was cut off during the rotation stays trusted until its certificate expires', async () => {
  const world = await CertificateWorld.create();
  await world.createConfiguration('no-downscale-test');
  const [near, far] = [await world.ready(), await world.ready()];
  const disarm = world.cluster.faults.add({
    match: { client: far.name },
    action: { kind: 'error', code: 503 },
  });
  await world.clock.advance(minutes(105));
  assert.equal(near.served.length, 2);
  assert.equal(far.served.length, 1);
  assert.deepEqual(world.distrust, []);
  disarm();
  await world.clock.advance(minutes(4));
  assert.deepEqual(prints(far), prints(near));
  assert.deepEqual(world.distrust, []);
  await world.close();
});

test('[admission 94] [admission 96] a configuration made later gets the CA, one of another operator does not', async () => {
  const world = await CertificateWorld.create();
  await world.ready();
  const inject = 'grafana.com/inject-rollout-operator-ca';
  await world.createConfiguration('ours');
  await world.createConfiguration('theirs', {
    labels: { [inject]: 'true', 'grafana.com/namespace': 'other' },
  });
  await world.createConfiguration('manual', { labels: { 'grafana.com/namespace': NAMESPACE } });
  await world.createConfiguration('off', {
    labels: { [inject]: 'false', 'grafana.com/namespace': NAMESPACE },
  });
  await world.clock.advance(seconds(5));
  const { ca } = (await world.secret()) ?? {};
  assert.deepEqual(await world.bundles('ours'), [ca]);
  for (const name of ['theirs', 'manual', 'off']) assert.deepEqual(await world.bundles(name), ['']);
  await world.close();
});

test('[admission 95] a bundle that a user clears or overwrites is restored', async () => {
  const world = await CertificateWorld.create();
  await world.createConfiguration('no-downscale-test');
  await world.ready();
  const { ca } = (await world.secret()) ?? {};
  const stranger = await world.run(world.issue({ organization: 'Somebody' }));
  for (const text of ['', 'garbage', stranger.cert]) {
    await world.setBundle('no-downscale-test', text);
    await world.clock.advance(seconds(5));
    assert.deepEqual(await world.bundles('no-downscale-test'), [ca]);
  }
  await world.close();
});

test('a CA of the form of ours that no Secret names leaves the bundles within five minutes', async () => {
  const world = await CertificateWorld.create();
  await world.createConfiguration('no-downscale-test');
  await world.ready();
  const { ca } = await stored(world);
  const forged = await world.run(world.issue());
  await world.setBundle('no-downscale-test', `${ca}${forged.ca}`);
  // Another replica that serves by it would have it named by the Secret first.
  await world.clock.advance(minutes(2));
  assert.deepEqual(await world.bundles('no-downscale-test'), [`${ca}${forged.ca}`]);
  await world.clock.advance(minutes(3));
  assert.deepEqual(await world.bundles('no-downscale-test'), [ca]);
  await world.close();
});

test('a CA of the form of ours stays while what the Secret names cannot be read', async () => {
  const world = await CertificateWorld.create();
  await world.createConfiguration('no-downscale-test');
  await world.ready();
  const { ca } = await stored(world);
  const other = await world.run(world.issue());
  const disarm = world.cluster.faults.add({
    match: { client: 'operator-1', verb: 'get', resource: 'secrets' },
    action: { kind: 'error', code: 500 },
  });
  await world.setBundle('no-downscale-test', `${ca}${other.ca}`);
  await world.clock.advance(minutes(20));
  assert.deepEqual(await world.bundles('no-downscale-test'), [`${ca}${other.ca}`]);
  disarm();
  await world.clock.advance(minutes(5));
  assert.deepEqual(await world.bundles('no-downscale-test'), [ca]);
  await world.close();
});

test('a replica whose CA a new Secret does not name adds it there, and stays trusted', async () => {
  const world = await CertificateWorld.create();
  await world.createConfiguration('no-downscale-test');
  const first = await world.ready();
  const { ca } = await stored(world);
  const other = await world.run(world.issue());
  await world.deleteSecret();
  await world.createSecret({ ca: other.ca, cert: other.cert, key: other.key });
  await world.clock.advance(minutes(2));
  const named = certificateBlocks((await stored(world)).ca).map(({ pem }) => pem);
  assert.deepEqual(named, [other.ca, ca]);
  await world.clock.advance(minutes(10));
  assert.deepEqual(prints(first), [print(first.served[0]?.toString()), print(other.cert)]);
  assert.deepEqual(world.distrust, []);
  await world.close();
});

test('[admission 98] a bundle whose write failed is written again without any event', async () => {
  const world = await CertificateWorld.create();
  await world.createConfiguration('no-downscale-test');
  world.cluster.faults.add({
    match: { verb: 'patch', resource: 'validatingwebhookconfigurations' },
    count: 1,
    action: { kind: 'error', code: 500 },
  });
  await world.ready();
  await world.clock.advance(seconds(5));
  assert.deepEqual(await world.bundles('no-downscale-test'), [(await world.secret())?.['ca']]);
  await world.close();
});

test('a bundle that two replicas write at once keeps the CAs of both', async () => {
  const world = await CertificateWorld.create();
  await world.createConfiguration('no-downscale-test');
  const [one, two] = [world.start(), world.start()];
  await world.clock.runUntil(() => one.isReady() && two.isReady());
  await world.clock.advance(seconds(5));
  assert.deepEqual(await world.bundles('no-downscale-test'), [(await world.secret())?.['ca']]);
  assert.deepEqual(world.distrust, []);
  await world.close();
});

test('a Secret deleted under running replicas comes back, and leads to another certificate that all trust', async () => {
  const world = await CertificateWorld.create();
  await world.createConfiguration('no-downscale-test');
  const replicas = [await world.ready(), await world.ready()];
  const before = await world.secret();
  await world.deleteSecret();
  await world.clock.advance(minutes(4));
  const after = await world.secret();
  assert.notEqual(after?.['cert'], before?.['cert']);
  for (const replica of replicas) {
    assert.deepEqual(prints(replica), [print(before?.['cert']), print(after?.['cert'])]);
  }
  assert.deepEqual(world.distrust, []);
  await world.close();
});

test('a Secret deleted just before another replica starts leads both to one certificate that all trust', async () => {
  const world = await CertificateWorld.create();
  await world.createConfiguration('no-downscale-test');
  const first = await world.ready();
  await world.deleteSecret();
  const second = await world.ready();
  assert.notDeepEqual(prints(first), prints(second));
  await world.clock.advance(minutes(3));
  assert.equal(prints(first).at(-1), prints(second).at(-1));
  assert.deepEqual(world.distrust, []);
  await world.close();
});

test('a replica that is called by another name rotates at once, and both names are served', async () => {
  const world = await CertificateWorld.create();
  await world.createConfiguration('no-downscale-test');
  const first = await world.ready();
  const second = await world.ready({ dnsName: 'renamed.test.svc' });
  await world.clock.advance(minutes(5));
  const names = `DNS:renamed.test.svc, DNS:${DNS_NAME}`;
  assert.equal(first.served.at(-1)?.subjectAltName, names);
  assert.equal(second.served.at(-1)?.subjectAltName, names);
  const writes = world.writes().length;
  await world.clock.advance(minutes(20));
  assert.equal(world.writes().length, writes);
  assert.deepEqual(world.distrust, []);
  await world.close();
});

test('a Secret that becomes unusable keeps the certificate served, with a gauge, and is left alone', async () => {
  const world = await CertificateWorld.create();
  const replica = await world.ready();
  const before = world.writes().length;
  await world.deleteSecret();
  await world.createSecret({ 'tls.crt': 'x' });
  await world.clock.advance(minutes(5));
  assert.equal(replica.served.length, 1);
  assert.deepEqual(await gauge(replica, 'certificate_rotation_waiting{'), [
    'rollout_operator_certificate_rotation_waiting{reason="SecretRefused"} 1',
  ]);
  assert.equal(world.writes().length, before);
  assert.equal(replica.log.lines.filter((line) => line.includes('"tls.crt"')).length, 0);
  assert.equal(replica.log.lines.filter((line) => line.includes('lacks "ca"')).length, 1);
  await world.close();
});

test('where the bundles are not its own, it writes none and switches at the last moment', async () => {
  const world = await CertificateWorld.create();
  await world.createConfiguration('no-downscale-test');
  const replica = await world.ready({ updatesCaBundle: false });
  await world.clock.advance(millis(change + 60_000));
  assert.equal(replica.served.length, 1);
  assert.deepEqual(await keys(world), rotatingKeys);
  await world.clock.advance(minutes(110 - 95));
  assert.equal(replica.served.length, 2);
  assert.deepEqual(
    world.writes().filter((write) => !write.includes('secrets')),
    [],
  );
  await world.close();
});

/** As our Roles: the Secret is shipped empty. */
const shippedSecret: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'update'], resourceNames: [SECRET] },
];

test('a Secret that is shipped empty is filled and renewed where the Role permits creating none', async () => {
  const world = await CertificateWorld.create();
  const rules = shippedSecret;
  world.cluster.authorizer.restrict([{ user: 'operator-1', namespace: NAMESPACE, rules }]);
  await world.createSecret({});
  const replica = await world.ready({ updatesCaBundle: false });
  await world.clock.advance(minutes(120));
  assert.equal(replica.served.length, 2);
  assert.ok(world.writes().every((write) => write === 'operator-1 update secrets 200'));
  await world.close();
});

test('a Secret that is missing and may not be created ends the start with a sentence that says what to do', async () => {
  const world = await CertificateWorld.create();
  const rules = shippedSecret;
  world.cluster.authorizer.restrict([{ user: 'operator-1', namespace: NAMESPACE, rules }]);
  await assert.rejects(
    world.ready({ updatesCaBundle: false }),
    /^Error: Secret "test\/rollout-operator-self-signed-certificate" is missing, and the Role does not permit creating it: create it without data /,
  );
  await world.close();
});

test('emptying the Secret as the runbook says leads to another certificate that all trust, where none may be created', async () => {
  const runbook = '../../../docs/runbooks/RolloutOperatorCertificateExpiring.md';
  const text = await readFile(join(import.meta.dirname, runbook), 'utf8');
  const [, patch = ''] = /patch secret \S+ --type=json --patch='([^']+)'/.exec(text) ?? [];
  const world = await CertificateWorld.create();
  const [, clusterRole = { rules: [] }] = peerRoles;
  world.cluster.authorizer.restrict([
    { user: 'operator-1', namespace: NAMESPACE, rules: shippedSecret },
    { user: 'operator-1', ...clusterRole },
  ]);
  await world.createConfiguration('no-downscale-test');
  await world.createSecret({});
  const replica = await world.ready();
  const before = await world.secret();
  await world.patchSecret(JSON.parse(patch) as readonly JsonObject[]);
  await world.clock.advance(minutes(4));
  const after = await world.secret();
  assert.deepEqual(prints(replica), [print(before?.['cert']), print(after?.['cert'])]);
  assert.deepEqual([replica.served.length, world.distrust], [2, []]);
  await world.close();
});

/** The Roles of an existing installation. */
const peerRoles: readonly { readonly namespace?: string; readonly rules: readonly PolicyRule[] }[] =
  [
    {
      namespace: NAMESPACE,
      rules: [
        { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
        {
          apiGroups: [''],
          resources: ['secrets'],
          verbs: ['update', 'get'],
          resourceNames: [SECRET],
        },
      ],
    },
    {
      rules: [
        {
          apiGroups: ['admissionregistration.k8s.io'],
          resources: ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'],
          verbs: ['list', 'patch', 'watch'],
        },
      ],
    },
  ];

test('D-1 the Roles of an existing installation are enough for a whole rotation', async () => {
  const world = await CertificateWorld.create();
  world.cluster.authorizer.restrict(peerRoles.map((role) => ({ user: 'operator-1', ...role })));
  await world.createConfiguration('no-downscale-test');
  await world.createConfiguration('prepare-downscale-test', { kind: 'mutating' });
  const replica = await world.ready();
  await world.clock.advance(minutes(120));
  assert.equal(replica.served.length, 2);
  const refused = world.cluster.eventLog.calls.filter(({ outcome }) => outcome === 403);
  assert.deepEqual(refused, []);
  await world.close();
});

test('without permission to write bundles it says so once, starts, and asks rarely', async () => {
  const world = await CertificateWorld.create();
  const [secretRole = { rules: [] }] = peerRoles;
  const rules: readonly PolicyRule[] = [
    { apiGroups: ['admissionregistration.k8s.io'], resources: ['*'], verbs: ['list', 'watch'] },
  ];
  world.cluster.authorizer.restrict([
    { user: 'operator-1', ...secretRole },
    { user: 'operator-1', rules },
  ]);
  await world.createConfiguration('no-downscale-test');
  const replica = await world.ready();
  await world.clock.advance(minutes(30));
  const said = replica.log.lines.filter((line) =>
    line.includes('does not permit writing CA bundles'),
  );
  assert.equal(said.length, 1);
  assert.match(said[0] ?? '', /grant list, watch and patch on webhook configurations/);
  const tries = world.cluster.eventLog.calls.filter(({ outcome }) => outcome === 403).length;
  assert.ok(tries <= 8, `${tries} tries in 30 min`);
  await world.close();
});

test('without permission to read the Secret the start ends with a sentence that names it', async () => {
  const world = await CertificateWorld.create();
  world.cluster.authorizer.restrict([{ user: 'operator-1', namespace: NAMESPACE, rules: [] }]);
  await assert.rejects(
    world.ready({ updatesCaBundle: false }),
    /Cannot get Secret "test\/rollout-operator-self-signed-certificate": .*forbidden/,
  );
  await world.close();
});

test('an API server that is away for a moment at the start is waited for', async () => {
  const world = await CertificateWorld.create();
  world.cluster.faults.add({
    match: { resource: 'secrets', verb: 'get' },
    count: 3,
    action: { kind: 'error', code: 503 },
  });
  const replica = await world.ready();
  assert.equal(replica.served.length, 1);
  await world.close();
});

test('a write whose answer is lost is found again, and nothing is written twice', async () => {
  const world = await CertificateWorld.create();
  world.cluster.faults.add({
    match: { resource: 'secrets', verb: 'create' },
    count: 1,
    action: { kind: 'error', code: 500, when: 'after' },
  });
  const replica = await world.ready();
  assert.deepEqual(prints(replica), [print((await world.secret())?.['cert'])]);
  assert.equal(world.writes().length, 1);
  await world.close();
});

for (const ahead of [minutes(-4), minutes(4)]) {
  test(`clocks that differ by ${ahead / 60_000} min cost no trust in a rotation`, async () => {
    const world = await CertificateWorld.create();
    await world.createConfiguration('no-downscale-test');
    const replicas = [await world.ready({ ahead }), await world.ready()];
    await world.clock.advance(minutes(240));
    assert.deepEqual(world.distrust, []);
    assert.deepEqual(prints(replicas[0] as Replica), prints(replicas[1] as Replica));
    await world.close();
  });
}
