/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-return -- answers are looked into by path, and a wrong path fails the assertion */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seconds } from '#base/units.ts';
import { CONFIG_MAPS, configMap, newEnv, PODS, pod, SETS, statefulSet } from './protocol-env.ts';

test('[cluster 3] a missing object answers 404 with a Status that names it', async () => {
  const { send } = await newEnv();
  const { status, body } = await send('GET', `${SETS}/web`);
  assert.equal(status, 404);
  assert.deepEqual(body, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'statefulsets.apps "web" not found',
    reason: 'NotFound',
    details: { name: 'web', group: 'apps', kind: 'statefulsets' },
    code: 404,
  });
});

test('[cluster 3] a create in a missing namespace answers 404', async () => {
  const { send } = await newEnv();
  const { status, body } = await send('POST', '/api/v1/namespaces/x/configmaps', configMap('a'));
  assert.deepEqual([status, body.message], [404, 'namespaces "x" not found']);
});

test('[cluster 3] a create in a terminating namespace answers 403 with the cause', async () => {
  const { send } = await newEnv();
  const deleted = await send('DELETE', '/api/v1/namespaces/demo');
  assert.equal(deleted.body.status.phase, 'Terminating');
  const { status, body } = await send('POST', CONFIG_MAPS, configMap('a'));
  assert.equal(status, 403);
  assert.equal(body.details.causes[0].reason, 'NamespaceTerminating');
});

test('[cluster 3] an unknown path answers 404 as text, a wrong verb 405 as Status', async () => {
  const { send } = await newEnv();
  const unknown = await send('GET', '/apis/none/v1/things');
  assert.deepEqual([unknown.status, unknown.body], [404, '404 page not found\n']);
  const wrong = await send('POST', `${PODS}/a`, {});
  assert.deepEqual([wrong.status, wrong.body.reason], [405, 'MethodNotAllowed']);
});

test('[cluster 3] the namespace of the body must be that of the path', async () => {
  const { send } = await newEnv();
  const body = { metadata: { name: 'a', namespace: 'other' } };
  const answer = await send('POST', CONFIG_MAPS, body);
  assert.deepEqual([answer.status, answer.body.reason], [400, 'BadRequest']);
});

test('[cluster 3] a create over an existing object answers 409 AlreadyExists', async () => {
  const { send } = await newEnv();
  await send('POST', CONFIG_MAPS, configMap('a'));
  const { status, body } = await send('POST', CONFIG_MAPS, configMap('a'));
  assert.deepEqual([status, body.message], [409, 'configmaps "a" already exists']);
});

test('[cluster 3] resourceVersion on create answers 500 without a reason', async () => {
  const { send } = await newEnv();
  const body = { metadata: { name: 'a', resourceVersion: '7' } };
  const answer = await send('POST', CONFIG_MAPS, body);
  assert.equal(answer.status, 500);
  assert.equal(answer.body.message, 'resourceVersion should not be set on objects to be created');
  assert.equal(answer.body.reason, undefined);
});

test('[cluster 3] a body that is not JSON answers 400, one that is too large 413', async () => {
  const { transport, send } = await newEnv();
  const bad = await transport.request({ method: 'POST', path: CONFIG_MAPS, body: '{' });
  assert.equal(bad.status, 400);
  const large = await send(
    'POST',
    CONFIG_MAPS,
    configMap('a', { data: { a: 'x'.repeat(3_200_000) } }),
  );
  assert.deepEqual([large.status, large.body.reason], [413, 'RequestEntityTooLarge']);
});

test('[cluster 3] a protobuf body of a kind that is not decoded answers 415 and says what to do', async () => {
  const { transport } = await newEnv();
  const answer = await transport.request({
    method: 'POST',
    path: PODS,
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
    // The magic number, then typeMeta {apiVersion: "v1", kind: "Pod"}.
    body: 'k8s\0\n\t\n\u0002v1\u0012\u0003Pod',
  });
  const { status } = answer;
  const body = JSON.parse(Buffer.from(answer.body).toString()) as { readonly message: string };
  assert.equal(status, 415);
  assert.match(body.message, /set the ContentType of the client to application\/json/);
});

test('[cluster 3] an Accept header without JSON answers 406', async () => {
  const { send } = await newEnv();
  const { status } = await send('GET', PODS, undefined, { accept: 'application/yaml' });
  assert.equal(status, 406);
});

test('[cluster 4] timestamps are in whole seconds', async () => {
  const { send, clock } = await newEnv();
  await clock.advance(seconds(1.5));
  const { body } = await send('POST', CONFIG_MAPS, configMap('a'));
  assert.equal(body.metadata.creationTimestamp, '2026-01-01T00:00:01Z');
});

test('[cluster 5] an identical PUT keeps the resource version and sends no event', async () => {
  const { send, watch, clock } = await newEnv();
  const created = await send('POST', CONFIG_MAPS, configMap('a', { data: { k: 'v' } }));
  const { resourceVersion } = created.body.metadata;
  const watched = await watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${resourceVersion}`);
  const put = await send('PUT', `${CONFIG_MAPS}/a`, created.body);
  assert.equal(put.body.metadata.resourceVersion, resourceVersion);
  const patched = await send('PATCH', `${CONFIG_MAPS}/a`, { data: { k: 'v' } });
  assert.equal(patched.body.metadata.resourceVersion, resourceVersion);
  await clock.quiesce();
  assert.deepEqual(watched.types(), []);
});

test('[cluster 6] resource versions increase over all types, and a list moves with foreign writes', async () => {
  const { send } = await newEnv();
  const a = await send('POST', CONFIG_MAPS, configMap('a'));
  const b = await send('POST', PODS, pod('b'));
  const list = await send('GET', CONFIG_MAPS);
  assert.ok(Number(b.body.metadata.resourceVersion) > Number(a.body.metadata.resourceVersion));
  assert.equal(list.body.metadata.resourceVersion, b.body.metadata.resourceVersion);
});

test('[cluster 7] a stale PUT answers 409, a plain PATCH passes', async () => {
  const { send } = await newEnv();
  const created = await send('POST', CONFIG_MAPS, configMap('a'));
  await send('PATCH', `${CONFIG_MAPS}/a`, { data: { x: '1' } });
  const stale = await send('PUT', `${CONFIG_MAPS}/a`, created.body);
  assert.equal(stale.status, 409);
  assert.equal(
    stale.body.message,
    'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
  );
  assert.equal((await send('PATCH', `${CONFIG_MAPS}/a`, { data: { y: '2' } })).status, 200);
});

test('[cluster 7] a PATCH that carries an old resourceVersion answers 409', async () => {
  const { send } = await newEnv();
  const { body } = await send('POST', CONFIG_MAPS, configMap('a'));
  await send('PATCH', `${CONFIG_MAPS}/a`, { data: { x: '1' } });
  const { resourceVersion } = body.metadata;
  const answer = await send('PATCH', `${CONFIG_MAPS}/a`, {
    metadata: { resourceVersion },
    data: {},
  });
  assert.equal(answer.status, 409);
});

test('[cluster 8] the generation counts changes of the spec, not of labels or status', async () => {
  const { send } = await newEnv();
  const generation = async (): Promise<number> =>
    (await send('GET', `${SETS}/web`)).body.metadata.generation;
  await send('POST', SETS, statefulSet('web', 1));
  assert.equal(await generation(), 1);
  await send('PATCH', `${SETS}/web`, { metadata: { labels: { a: 'b' } } });
  assert.equal(await generation(), 1);
  await send('PATCH', `${SETS}/web/status`, { status: { replicas: 1 } });
  assert.equal(await generation(), 1);
  await send('PATCH', `${SETS}/web`, { spec: { replicas: 2 } });
  assert.equal(await generation(), 2);
  await send('PATCH', `${SETS}/web`, { metadata: { finalizers: ['x/y'] } });
  await send('DELETE', `${SETS}/web`);
  assert.equal(await generation(), 3);
});

test('[cluster 9] /status writes leave the spec alone and main writes the status', async () => {
  const { send } = await newEnv();
  await send('POST', SETS, statefulSet('web', 1));
  const change = {
    metadata: { annotations: { a: '1' } },
    spec: { replicas: 5 },
    status: { replicas: 3 },
  };
  const status = await send('PATCH', `${SETS}/web/status`, change);
  assert.deepEqual(
    [status.body.spec.replicas, status.body.status.replicas, status.body.metadata.annotations],
    [1, 3, { a: '1' }],
  );
  const main = await send('PATCH', `${SETS}/web`, {
    spec: { replicas: 5 },
    status: { replicas: 9 },
  });
  assert.deepEqual([main.body.spec.replicas, main.body.status.replicas], [5, 3]);
});

test('[cluster 10] a finalizer keeps a deleted object until it is removed', async () => {
  const { send, watch, clock } = await newEnv();
  await send('POST', CONFIG_MAPS, { metadata: { name: 'a', finalizers: ['x/y'] } });
  const { body } = await send('GET', CONFIG_MAPS);
  const watched = await watch(
    `${CONFIG_MAPS}?watch=1&resourceVersion=${body.metadata.resourceVersion}`,
  );
  const deleted = await send('DELETE', `${CONFIG_MAPS}/a`);
  assert.deepEqual(
    [deleted.status, deleted.body.kind, deleted.body.metadata.deletionGracePeriodSeconds],
    [200, 'ConfigMap', 0],
  );
  const added = await send('PATCH', `${CONFIG_MAPS}/a`, {
    metadata: { finalizers: ['x/y', 'z/z'] },
  });
  assert.equal(added.status, 422);
  const released = await send('PATCH', `${CONFIG_MAPS}/a`, { metadata: { finalizers: null } });
  assert.equal(released.status, 200);
  await clock.quiesce();
  assert.deepEqual(watched.types(), ['MODIFIED', 'DELETED']);
  assert.equal((await send('GET', `${CONFIG_MAPS}/a`)).status, 404);
});

test('[cluster 11] a bound pod is deleted gracefully; the period can be shortened, not lengthened', async () => {
  const { send } = await newEnv();
  await send(
    'POST',
    PODS,
    pod('a', { spec: { nodeName: 'n1', terminationGracePeriodSeconds: 30 } }),
  );
  const first = await send('DELETE', `${PODS}/a`);
  assert.deepEqual(
    [first.body.metadata.deletionTimestamp, first.body.metadata.deletionGracePeriodSeconds],
    ['2026-01-01T00:00:30Z', 30],
  );
  const longer = await send('DELETE', `${PODS}/a`, { gracePeriodSeconds: 60 });
  assert.equal(longer.body.metadata.deletionGracePeriodSeconds, 30);
  const shorter = await send('DELETE', `${PODS}/a`, { gracePeriodSeconds: 5 });
  assert.equal(shorter.body.metadata.deletionTimestamp, '2026-01-01T00:00:05Z');
  assert.equal((await send('DELETE', `${PODS}/a`, { gracePeriodSeconds: 0 })).status, 200);
  assert.equal((await send('GET', `${PODS}/a`)).status, 404);
});

test('[cluster 11] an unbound pod and a failed pod go at once', async () => {
  const { send } = await newEnv();
  await send('POST', PODS, pod('a'));
  await send('DELETE', `${PODS}/a`);
  assert.equal((await send('GET', `${PODS}/a`)).status, 404);
  await send('POST', PODS, pod('b', { spec: { nodeName: 'n1' } }));
  await send('PATCH', `${PODS}/b/status`, { status: { phase: 'Failed' } });
  await send('DELETE', `${PODS}/b`);
  assert.equal((await send('GET', `${PODS}/b`)).status, 404);
});

test('[cluster 11] a deletion at once shows the pod without grace before it is gone', async () => {
  const { send, watch, clock } = await newEnv();
  const { body } = await send('POST', PODS, pod('a', { spec: { nodeName: 'n1' } }));
  const from = body.metadata.resourceVersion;
  const watched = await watch(`${PODS}?watch=1&resourceVersion=${from}`);
  const gone = await send('DELETE', `${PODS}/a`, { gracePeriodSeconds: 0 });
  await clock.quiesce();
  assert.deepEqual(watched.types(), ['MODIFIED', 'DELETED']);
  assert.equal(watched.objectAt(0).metadata.deletionGracePeriodSeconds, 0);
  assert.equal(watched.objectAt(1).metadata.resourceVersion, gone.body.metadata.resourceVersion);
});

test('[cluster 12] a patch that names another uid answers 422, a PUT 409', async () => {
  const { send } = await newEnv();
  const { body } = await send('POST', CONFIG_MAPS, configMap('a'));
  const uid = '00000000-0000-4000-8000-000000000000';
  const patched = await send('PATCH', `${CONFIG_MAPS}/a`, { metadata: { uid } });
  assert.deepEqual([patched.status, patched.body.details.causes[0].field], [422, 'metadata.uid']);
  const metadata = { ...body.metadata, uid };
  assert.equal((await send('PUT', `${CONFIG_MAPS}/a`, { ...body, metadata })).status, 409);
});

test('[cluster 9] a status that contradicts itself answers 422', async () => {
  const { send } = await newEnv();
  await send('POST', SETS, statefulSet('web', 1));
  const status = { replicas: 1, readyReplicas: 2 };
  const refused = await send('PATCH', `${SETS}/web/status`, { status });
  assert.equal(refused.status, 422);
  assert.match(refused.body.message, /readyReplicas: .*cannot be greater than status\.replicas/);
});

test('[cluster 12] a delete with a foreign uid or an old resource version answers 409', async () => {
  const { send } = await newEnv();
  const { body } = await send('POST', SETS, statefulSet('web', 1));
  const { uid, resourceVersion } = body.metadata;
  const foreign = await send('DELETE', `${SETS}/web`, { preconditions: { uid: 'other' } });
  assert.equal(foreign.status, 409);
  assert.equal(
    foreign.body.message,
    `Operation cannot be fulfilled on StatefulSet.apps "web": the UID in the precondition (other) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
  );
  await send('PATCH', `${SETS}/web`, { spec: { replicas: 2 } });
  const old = await send('DELETE', `${SETS}/web`, { preconditions: { uid, resourceVersion } });
  assert.equal(old.status, 409);
  assert.equal((await send('DELETE', `${SETS}/web`, { preconditions: { uid } })).status, 200);
});

test('[cluster 13] a delete answers the pod, and a Status for other kinds that are gone', async () => {
  const { send } = await newEnv();
  await send('POST', PODS, pod('a'));
  assert.equal((await send('DELETE', `${PODS}/a`)).body.kind, 'Pod');
  const created = await send('POST', SETS, statefulSet('web', 1));
  const { body } = await send('DELETE', `${SETS}/web`);
  assert.deepEqual(
    [body.status, body.details],
    [
      'Success',
      { name: 'web', group: 'apps', kind: 'statefulsets', uid: created.body.metadata.uid },
    ],
  );
});

test('[cluster 14] generateName adds five characters; a create while terminating says so', async () => {
  const { send } = await newEnv();
  const named = await send('POST', CONFIG_MAPS, { metadata: { generateName: 'web-' } });
  assert.match(named.body.metadata.name, /^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  await send('POST', CONFIG_MAPS, { metadata: { name: 'a', finalizers: ['x/y'] } });
  await send('DELETE', `${CONFIG_MAPS}/a`);
  const { status, body } = await send('POST', CONFIG_MAPS, configMap('a'));
  assert.deepEqual(
    [status, body.message],
    [409, 'object is being deleted: configmaps "a" already exists'],
  );
});

test('[cluster 14] a generated name that is taken eight times answers 409 and asks to come again', async () => {
  const [first, second] = [await newEnv(), await newEnv()];
  const taken = [];
  for (let attempt = 0; attempt < 8; attempt += 1) {
    const { body } = await first.send('POST', CONFIG_MAPS, { metadata: { generateName: 'web-' } });
    taken.push(String(body.metadata.name));
  }
  for (const name of taken) await second.send('POST', CONFIG_MAPS, configMap(name));
  const answer = await second.send('POST', CONFIG_MAPS, { metadata: { generateName: 'web-' } });
  assert.deepEqual(
    [answer.status, answer.body.message, answer.body.details.retryAfterSeconds],
    [
      409,
      `configmaps "${taken.at(-1)}" already exists, the server was not able to generate a unique name for the object`,
      1,
    ],
  );
});

test('a dry run answers the would-be object and stores nothing', async () => {
  const { send } = await newEnv();
  const before = (await send('GET', CONFIG_MAPS)).body.metadata.resourceVersion;
  const dry = await send('POST', `${CONFIG_MAPS}?dryRun=All`, configMap('a'));
  assert.deepEqual([dry.status, dry.body.metadata.name], [201, 'a']);
  const { body } = await send('GET', CONFIG_MAPS);
  assert.deepEqual([body.items, body.metadata.resourceVersion], [[], before]);
  assert.equal((await send('POST', `${CONFIG_MAPS}?dryRun=Some`, configMap('a'))).status, 422);
});

test('unknown fields are dropped with a warning, and refused in strict mode', async () => {
  const { send } = await newEnv();
  const body = configMap('a', { dta: { x: '1' } });
  const strict = await send('POST', `${CONFIG_MAPS}?fieldValidation=Strict`, body);
  assert.equal(strict.status, 400);
  assert.match(strict.body.message, /strict decoding error: unknown field "dta"/);
  const warned = await send('POST', CONFIG_MAPS, body);
  assert.equal(warned.headers['warning'], '299 - "unknown field \\"dta\\""');
  assert.equal(warned.body.dta, undefined);
});

test('/scale shows and changes the replicas, its resource version being a precondition', async () => {
  const { send } = await newEnv();
  const created = await send('POST', SETS, statefulSet('web', 2));
  const scale = await send('GET', `${SETS}/web/scale`);
  assert.deepEqual(
    [scale.body.kind, scale.body.spec, scale.body.status.selector, scale.body.metadata.labels],
    ['Scale', { replicas: 2 }, 'app=web', undefined],
  );
  const patched = await send('PATCH', `${SETS}/web/scale`, { spec: { replicas: 4 } });
  assert.deepEqual(patched.body.spec, { replicas: 4 });
  const stale = await send('PUT', `${SETS}/web/scale`, {
    metadata: { name: 'web', resourceVersion: created.body.metadata.resourceVersion },
    spec: { replicas: 1 },
  });
  assert.equal(stale.status, 409);
  assert.equal((await send('PATCH', `${SETS}/web/scale`, { spec: { replicas: -1 } })).status, 422);
});

test('/binding binds a pod once', async () => {
  const { send } = await newEnv();
  await send('POST', PODS, pod('a'));
  const binding = { target: { kind: 'Node', name: 'n1' } };
  assert.equal((await send('POST', `${PODS}/a/binding`, binding)).status, 201);
  const { body } = await send('GET', `${PODS}/a`);
  assert.equal(body.spec.nodeName, 'n1');
  assert.deepEqual(body.status.conditions.at(-1).type, 'PodScheduled');
  assert.equal((await send('POST', `${PODS}/a/binding`, binding)).status, 409);
});

test('a namespace goes when /finalize empties its finalizers', async () => {
  const { send } = await newEnv();
  await send('DELETE', '/api/v1/namespaces/demo');
  const { body } = await send('GET', '/api/v1/namespaces/demo');
  assert.equal(
    (await send('PUT', '/api/v1/namespaces/demo/finalize', { ...body, spec: { finalizers: [] } }))
      .status,
    200,
  );
  assert.equal((await send('GET', '/api/v1/namespaces/demo')).status, 404);
  assert.equal((await send('DELETE', '/api/v1/namespaces/kube-system')).status, 403);
});

test('a collection is deleted by selector', async () => {
  const { send } = await newEnv();
  for (const name of ['a', 'b', 'c']) {
    const labels = { keep: String(name === 'b') };
    await send('POST', CONFIG_MAPS, { metadata: { name, labels } });
  }
  await send('DELETE', `${CONFIG_MAPS}?labelSelector=keep%3Dfalse`);
  const { body } = await send('GET', CONFIG_MAPS);
  assert.deepEqual(
    body.items.map((item: { metadata: { name: string } }) => item.metadata.name),
    ['b'],
  );
});

test('legacy discovery, /version and health answer', async () => {
  const { send } = await newEnv();
  const core = await send('GET', '/api/v1');
  const names = core.body.resources.map(({ name }: { name: string }) => name);
  assert.ok(names.includes('pods') && names.includes('pods/eviction'));
  const eviction = core.body.resources.find(
    ({ name }: { name: string }) => name === 'pods/eviction',
  );
  assert.deepEqual([eviction.group, eviction.version, eviction.kind], ['policy', 'v1', 'Eviction']);
  const groups = await send('GET', '/apis');
  assert.ok(groups.body.groups.some(({ name }: { name: string }) => name === 'apps'));
  assert.equal((await send('GET', '/apis/apps')).body.preferredVersion.groupVersion, 'apps/v1');
  assert.equal((await send('GET', '/version')).body.minor, '36');
  assert.equal((await send('GET', '/readyz')).body, 'ok');
});
