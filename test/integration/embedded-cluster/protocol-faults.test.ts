/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-return -- answers are looked into by path, and a wrong path fails the assertion */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, seconds } from '#base/units.ts';
import { VirtualClock } from '#cluster/clock/virtual-clock.ts';
import { createCluster } from '#cluster/create-cluster.ts';
import { SeededRandom } from '#cluster/seeded-random.ts';
import { TransportError } from '#kubernetes/transport/transport.ts';
import { CONFIG_MAPS, configMap, newEnv, PODS, pod, sendOver, watchOver } from './protocol-env.ts';

test('an injected error before the commit leaves nothing behind; after it, the write stands', async () => {
  const { send, cluster } = await newEnv();
  cluster.faults.add({ match: { verb: 'create' }, nth: 1, action: { kind: 'error', code: 500 } });
  cluster.faults.add({
    match: { verb: 'create' },
    nth: 1,
    action: { kind: 'error', code: 503, when: 'after' },
  });
  assert.equal((await send('POST', CONFIG_MAPS, configMap('a'))).status, 500);
  assert.equal((await send('GET', `${CONFIG_MAPS}/a`)).status, 404);
  assert.equal((await send('POST', CONFIG_MAPS, configMap('a'))).status, 503);
  assert.equal((await send('GET', `${CONFIG_MAPS}/a`)).status, 200);
  assert.deepEqual(
    cluster.faults.hits.map(({ verb, resource }) => [verb, resource]),
    [
      ['create', 'configmaps'],
      ['create', 'configmaps'],
    ],
  );
});

test('a dropped answer is a broken connection, and the write stands', async () => {
  const { send, cluster } = await newEnv();
  cluster.faults.add({
    match: { verb: 'create' },
    count: 1,
    action: { kind: 'drop', when: 'after' },
  });
  await assert.rejects(
    send('POST', CONFIG_MAPS, configMap('a')),
    (error) => error instanceof TransportError && error.failure === 'connection',
  );
  assert.equal((await send('GET', `${CONFIG_MAPS}/a`)).status, 200);
});

test('throttle answers 429 with Retry-After, delay takes virtual time', async () => {
  const { send, cluster, clock } = await newEnv();
  const disarm = cluster.faults.add({
    match: { resource: 'configmaps', name: 'a*' },
    action: { kind: 'throttle', retryAfterSeconds: 7 },
  });
  const throttled = await send('GET', `${CONFIG_MAPS}/abc`);
  assert.deepEqual([throttled.status, throttled.headers['retry-after']], [429, '7']);
  disarm();
  cluster.faults.add({ match: { verb: 'list' }, action: { kind: 'delay', delay: seconds(5) } });
  const before = clock.monotonic();
  const listed = send('GET', CONFIG_MAPS).then(() => clock.monotonic() - before);
  await clock.advance(seconds(10));
  assert.equal(await listed, 5_000);
});

test('conflict lets another writer come first; a duplicate is executed twice', async () => {
  const { send, cluster } = await newEnv();
  const { body } = await send('POST', CONFIG_MAPS, configMap('a'));
  const disarm = cluster.faults.add({ match: { verb: 'update' }, action: { kind: 'conflict' } });
  assert.equal((await send('PUT', `${CONFIG_MAPS}/a`, { ...body, data: { k: 'v' } })).status, 409);
  disarm();
  cluster.faults.add({ match: { verb: 'delete' }, action: { kind: 'duplicate' } });
  assert.equal((await send('DELETE', `${CONFIG_MAPS}/a`)).status, 404);
});

test('stale serves a list from an old revision', async () => {
  const { send, cluster } = await newEnv();
  const old = (await send('GET', CONFIG_MAPS)).body.metadata.resourceVersion;
  await send('POST', CONFIG_MAPS, configMap('a'));
  cluster.faults.add({
    match: { verb: 'list' },
    count: 1,
    action: { kind: 'stale', revision: Number(old) },
  });
  const stale = await send('GET', CONFIG_MAPS);
  assert.deepEqual([stale.body.items, stale.body.metadata.resourceVersion], [[], old]);
  assert.equal((await send('GET', CONFIG_MAPS)).body.items.length, 1);
});

test('watches can be broken, ended, expired, paused and cut into pieces', async () => {
  const { send, watch, cluster, clock } = await newEnv();
  const broken = await watch(`${CONFIG_MAPS}?watch=1`);
  cluster.faults.watches()[0]?.break();
  await clock.quiesce();
  assert.ok(broken.error() instanceof TransportError);
  const ended = await watch(`${CONFIG_MAPS}?watch=1`);
  cluster.faults.watches()[0]?.end();
  await clock.quiesce();
  assert.deepEqual([ended.isOver(), ended.error()], [true, undefined]);
  const expired = await watch(`${CONFIG_MAPS}?watch=1`);
  cluster.faults.watches()[0]?.expire();
  await clock.quiesce();
  assert.equal(expired.objectAt(0).code, 410);
  cluster.faults.add({ match: { verb: 'watch' }, action: { kind: 'watch', action: 'split' } });
  const paused = await watch(`${CONFIG_MAPS}?watch=1`);
  const [session] = cluster.faults.watches({ resource: 'configmaps' });
  session?.pause();
  await send('POST', CONFIG_MAPS, configMap('a', { data: { k: 'äöü€' } }));
  await clock.advance(seconds(5));
  assert.deepEqual(paused.types(), []);
  session?.resume();
  await clock.quiesce();
  assert.equal(paused.objectAt(0).data.k, 'äöü€');
});

test('expireHttp answers 410 as status; garbage is half a line and the end', async () => {
  const { send, watch, cluster } = await newEnv();
  const watches = { verb: 'watch' };
  cluster.faults.add({ match: watches, nth: 1, action: { kind: 'watch', action: 'expireHttp' } });
  cluster.faults.add({ match: watches, nth: 1, action: { kind: 'watch', action: 'garbage' } });
  assert.equal((await send('GET', `${CONFIG_MAPS}?watch=1`)).status, 410);
  const garbage = await watch(`${CONFIG_MAPS}?watch=1`);
  assert.deepEqual([garbage.isOver(), garbage.types()], [true, []]);
});

test('a client can be killed before or after its n-th write', async () => {
  const { cluster, clock } = await newEnv();
  for (const [moment, names] of [
    ['beforeWrite', []],
    ['afterWrite', ['b-afterwrite']],
  ] as const) {
    const victim = cluster.transport('victim');
    cluster.faults[moment]({ client: victim.client }, 2, () => victim.revoke());
    await sendOver(victim, {
      method: 'POST',
      path: CONFIG_MAPS,
      body: configMap(`a-${moment.toLowerCase()}`),
    });
    let isAnswered = false;
    sendOver(victim, {
      method: 'POST',
      path: CONFIG_MAPS,
      body: configMap(`b-${moment.toLowerCase()}`),
    })
      .finally(() => {
        isAnswered = true;
      })
      .catch(() => undefined);
    await clock.advance(seconds(60));
    assert.equal(isAnswered, false);
    const { body } = await sendOver(cluster.transport(), { method: 'GET', path: CONFIG_MAPS });
    const stored = body.items.map((item: { metadata: { name: string } }) => item.metadata.name);
    assert.deepEqual(
      stored.filter((name: string) => name === `b-${moment.toLowerCase()}`),
      names,
    );
  }
});

test('a rewound client reads and watches an old revision until it is released', async () => {
  const { send, cluster, clock } = await newEnv();
  const old = await send('POST', CONFIG_MAPS, configMap('a'));
  await send('POST', CONFIG_MAPS, configMap('b'));
  const lagging = cluster.transport({ client: 'lagging' });
  const release = cluster.faults.rewind('lagging', Number(old.body.metadata.resourceVersion));
  const listed = await sendOver(lagging, { method: 'GET', path: CONFIG_MAPS });
  assert.equal(listed.body.items.length, 1);
  assert.equal((await sendOver(lagging, { method: 'GET', path: `${CONFIG_MAPS}/b` })).status, 404);
  const { resourceVersion } = listed.body.metadata;
  const watched = await watchOver(
    lagging,
    `${CONFIG_MAPS}?watch=1&resourceVersion=${resourceVersion}`,
    clock,
  );
  await clock.advance(seconds(30));
  assert.deepEqual(watched.types(), []);
  release();
  await clock.quiesce();
  assert.equal(watched.objectAt(0).metadata.name, 'b');
});

test('a delivery profile delays events in order, and revoking a transport silences it', async () => {
  const { send, cluster, clock } = await newEnv();
  const delivery = { minimum: millis(0), maximum: seconds(5), random: new SeededRandom(3) };
  const slow = cluster.transport({ client: 'slow', delivery });
  const watched = await watchOver(slow, `${CONFIG_MAPS}?watch=1`, clock);
  for (const name of ['a', 'b', 'c', 'd']) await send('POST', CONFIG_MAPS, configMap(name));
  assert.equal(watched.events.length < 4, true);
  await clock.advance(seconds(5));
  assert.deepEqual(
    watched.events.map(({ object }) => object.metadata.name),
    ['a', 'b', 'c', 'd'],
  );
  slow.revoke();
  await send('POST', CONFIG_MAPS, configMap('e'));
  await clock.advance(seconds(10));
  assert.deepEqual([watched.events.length, watched.isOver()], [4, false]);
});

test('[cluster 22] two watches of one client hear of writes in another order than they came', async () => {
  const { cluster, clock, send } = await newEnv();
  const delivery = { minimum: millis(0), maximum: seconds(5), random: new SeededRandom(3) };
  const slow = cluster.transport({ client: 'slow', delivery });
  const maps = await watchOver(slow, `${CONFIG_MAPS}?watch=1`, clock);
  const pods = await watchOver(slow, `${PODS}?watch=1`, clock);
  for (let i = 0; i < 10; i += 1) {
    await send('POST', CONFIG_MAPS, configMap(`c-${i}`));
    await send('POST', PODS, pod(`p-${i}`));
  }
  let isReordered = false;
  for (let step = 0; step < 1_200; step += 1) {
    await clock.advance(millis(50));
    isReordered ||= pods.events.length > maps.events.length;
  }
  assert.deepEqual([maps.events.length, pods.events.length, isReordered], [10, 10, true]);
});

test('the event log records commits, calls with their preconditions, and deliveries', async () => {
  const { send, watch, cluster, clock } = await newEnv();
  await watch(`${CONFIG_MAPS}?watch=1`);
  const { body } = await send('POST', CONFIG_MAPS, configMap('a'));
  const { uid, resourceVersion } = body.metadata;
  await send('DELETE', `${CONFIG_MAPS}/a`, { preconditions: { uid } });
  await clock.quiesce();
  const [created, deleted] = cluster.eventLog.commits.slice(-2);
  assert.deepEqual(
    [created?.verb, created?.revision, deleted?.verb],
    ['create', Number(resourceVersion), 'delete'],
  );
  const call = cluster.eventLog.calls.find(({ verb }) => verb === 'delete');
  assert.deepEqual([call?.preconditions, call?.outcome, call?.client], [{ uid }, 200, 'client-1']);
  assert.equal(cluster.eventLog.deliveries.at(-1)?.revision, deleted?.revision);
});

test('a broken invariant in a commit listener fails the run', async () => {
  const { send, cluster } = await newEnv();
  cluster.eventLog.onCommit(() => {
    throw new Error('never two zones at once');
  });
  await assert.rejects(send('POST', CONFIG_MAPS, configMap('a')), /never two zones at once/);
});

test('rules of a user refuse what they do not grant, with the sentence of the API server', async () => {
  const { cluster } = await newEnv();
  cluster.authorizer.restrict([
    {
      user: 'operator',
      namespace: 'demo',
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }],
    },
  ]);
  const operator = cluster.transport('operator');
  assert.equal((await sendOver(operator, { method: 'GET', path: CONFIG_MAPS })).status, 200);
  const { status, body } = await sendOver(operator, { method: 'DELETE', path: `${CONFIG_MAPS}/a` });
  assert.equal(status, 403);
  assert.equal(
    body.message,
    'configmaps "a" is forbidden: User "operator" cannot delete resource "configmaps" in API group "" in the namespace "demo"',
  );
  const used = cluster.authorizer.used.filter(({ user }) => user.name === 'operator');
  assert.deepEqual(
    used.map(({ verb }) => verb),
    ['list', 'delete'],
  );
  const review = await sendOver(cluster.transport('operator'), {
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: {
      spec: { resourceAttributes: { verb: 'delete', resource: 'configmaps', namespace: 'demo' } },
    },
  });
  assert.deepEqual([review.status, review.body.status.allowed], [201, false]);
});

test('aborted and late requests reject with what is known of them', async () => {
  const { transport, cluster, clock } = await newEnv();
  cluster.faults.add({ match: { verb: 'list' }, action: { kind: 'delay', delay: seconds(30) } });
  const failure = async (request: Parameters<typeof transport.request>[0]): Promise<unknown> => {
    try {
      return await transport.request(request);
    } catch (error) {
      return error instanceof TransportError ? error.failure : error;
    }
  };
  const list = { method: 'GET', path: CONFIG_MAPS } as const;
  const controller = new AbortController();
  const aborted = failure({ ...list, signal: controller.signal });
  const late = failure({ ...list, timeout: seconds(1) });
  controller.abort();
  await clock.advance(seconds(2));
  assert.deepEqual([await aborted, await late], ['aborted', 'timeout']);
  assert.equal(await failure({ ...list, signal: controller.signal }), 'not-sent');
  await transport.close();
  assert.equal(await failure(list), 'not-sent');
  await clock.runUntilIdle();
});

test('[cluster 59] one seed gives one event log', async () => {
  const run = async (): Promise<string> => {
    const { send, cluster } = await newEnv();
    for (let i = 0; i < 20; i += 1) {
      await send('POST', CONFIG_MAPS, { metadata: { generateName: 'x-' } });
    }
    return JSON.stringify([cluster.eventLog.commits, cluster.eventLog.calls]);
  };
  assert.equal(await run(), await run());
});

test('fifty clusters in one process do not disturb each other', async () => {
  const clusters = await Promise.all(
    Array.from({ length: 50 }, (_, seed) => createCluster({ clock: new VirtualClock(), seed })),
  );
  for (const [at, cluster] of clusters.entries()) {
    const body = { metadata: { name: `only-${at}` } };
    await sendOver(cluster.transport(), { method: 'POST', path: '/api/v1/namespaces', body });
  }
  for (const cluster of clusters) {
    const { body } = await sendOver(cluster.transport(), {
      method: 'GET',
      path: '/api/v1/namespaces',
    });
    assert.equal(body.items.length, 5);
    await cluster.close();
  }
});

test('a watch whose client gave up before the answer is closed', async () => {
  const { transport, cluster, clock } = await newEnv();
  cluster.faults.add({
    match: { verb: 'watch' },
    action: { kind: 'delay', delay: seconds(5), when: 'after' },
  });
  const late = transport.stream({
    method: 'GET',
    path: `${CONFIG_MAPS}?watch=1`,
    timeout: seconds(1),
  });
  const refused = assert.rejects(late, TransportError);
  await clock.advance(seconds(10));
  await refused;
  assert.deepEqual(cluster.faults.watches(), []);
});

test('events in one piece with an error behind them count as delivered', async () => {
  const { send, cluster, clock } = await newEnv();
  const transport = cluster.transport({ client: 'reader' });
  const { chunks } = await transport.stream({ method: 'GET', path: `${CONFIG_MAPS}?watch=1` });
  const { body } = await send('POST', CONFIG_MAPS, configMap('a'));
  for (const session of cluster.faults.watches({ client: 'reader' })) session.expire();
  let text = '';
  for await (const chunk of chunks) text += Buffer.from(chunk).toString();
  await clock.quiesce();
  assert.match(text, /"ADDED".*\n.*"ERROR"/);
  const delivered = cluster.eventLog.deliveries.map(({ revision }) => revision);
  assert.ok(delivered.includes(Number(body.metadata.resourceVersion)));
});
