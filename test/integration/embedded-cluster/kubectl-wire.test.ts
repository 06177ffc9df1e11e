/* oxlint-disable typescript/no-explicit-any, typescript/no-unsafe-assignment, typescript/no-unsafe-return -- answers are looked into by path, and a wrong path fails the assertion */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis } from '#base/units.ts';
import { resourceTable } from '#cluster/resource/table.ts';
import { apiVersionOf } from '#kubernetes/resource-type.ts';
import {
  type Answer,
  configMap,
  type Env,
  newEnv,
  PODS,
  pod,
  SETS,
  statefulSet,
} from './protocol-env.ts';

/**
 * The wire conversations of kubectl 1.32 as facts of the protocol: requests as it sends them, so that they are
 * tested where no kubectl is installed (CL-1…CL-12).
 */
const DISCOVERY =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json';
const TABLE =
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json';
const TYPED = 'application/vnd.kubernetes.protobuf,application/json';
const STRATEGIC = { 'content-type': 'application/strategic-merge-patch+json' };

async function groupsOf(env: Env, path: string): Promise<readonly any[]> {
  const answer = await env.send('GET', path, undefined, { accept: DISCOVERY });
  assert.equal(answer.status, 200);
  assert.equal(
    answer.headers['content-type'],
    'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  );
  const document = JSON.parse(answer.body);
  assert.deepEqual(
    [document.kind, document.apiVersion],
    ['APIGroupDiscoveryList', 'apidiscovery.k8s.io/v2'],
  );
  return document.items;
}

test('[cluster 1] aggregated discovery lists every row of the table with its verbs', async () => {
  const env = await newEnv();
  const items = [...(await groupsOf(env, '/api')), ...(await groupsOf(env, '/apis'))];
  const seen: readonly string[] = items.flatMap((item) =>
    item.versions.flatMap((version: any) =>
      version.resources.map((resource: any) => {
        const group = item.metadata.name ?? '';
        const apiVersion = group === '' ? version.version : `${group}/${version.version}`;
        return `${apiVersion} ${resource.resource} ${resource.scope} ${resource.verbs.length}`;
      }),
    ),
  );
  const served = resourceTable.map(({ type, verbs }) => {
    const scope = type.isNamespaced ? 'Namespaced' : 'Cluster';
    return `${apiVersionOf(type)} ${type.plural} ${scope} ${verbs.length}`;
  });
  assert.deepEqual(
    seen.toSorted((a, b) => (a < b ? -1 : 1)),
    served.toSorted((a, b) => (a < b ? -1 : 1)),
  );
  assert.deepEqual(
    items.filter((item) => item.versions.some((version: any) => version.freshness !== 'Current')),
    [],
  );
});

test('[cluster 1] both discovery forms carry the kinds of eviction and scale', async () => {
  const env = await newEnv();
  const [core] = await groupsOf(env, '/api');
  const pods = core.versions[0].resources.find((entry: any) => entry.resource === 'pods');
  const eviction = pods.subresources.find((entry: any) => entry.subresource === 'eviction');
  const evictionKind = { group: 'policy', version: 'v1', kind: 'Eviction' };
  assert.deepEqual(eviction.responseKind, evictionKind);
  assert.deepEqual(eviction.verbs, ['create']);
  const legacy = await env.send('GET', '/api/v1');
  const legacyEviction = legacy.body.resources.find((entry: any) => entry.name === 'pods/eviction');
  const { group, version, kind } = legacyEviction;
  assert.deepEqual({ group, version, kind }, evictionKind);
  const apps = await env.send('GET', '/apis/apps/v1');
  const scale = apps.body.resources.find((entry: any) => entry.name === 'statefulsets/scale');
  assert.deepEqual([scale.group, scale.version, scale.kind], ['autoscaling', 'v1', 'Scale']);
});

test('[cluster 1] discovery answers the older aggregated form and plain JSON to whom asks for them', async () => {
  const env = await newEnv();
  const accept =
    'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json';
  const beta = await env.send('GET', '/apis', undefined, { accept });
  assert.match(beta.headers['content-type'] ?? '', /v=v2beta1/);
  const plain = await env.send('GET', '/apis', undefined, { accept: 'application/json' });
  assert.equal(plain.body.kind, 'APIGroupList');
});

test('[cluster 2] get pods is a Table with kubectl columns and partial metadata', async () => {
  const env = await newEnv();
  await env.send('POST', PODS, pod('a'));
  await env.clock.advance(millis(90_000));
  const answer = await env.send('GET', `${PODS}?limit=500`, undefined, { accept: TABLE });
  assert.equal(answer.headers['content-type'], 'application/json');
  const { kind, apiVersion, columnDefinitions, rows, metadata } = answer.body;
  assert.deepEqual([kind, apiVersion], ['Table', 'meta.k8s.io/v1']);
  assert.match(metadata.resourceVersion, /^\d+$/);
  assert.deepEqual(
    columnDefinitions.map((column: any) => `${column.name} ${column.priority}`),
    [
      'Name 0',
      'Ready 0',
      'Status 0',
      'Restarts 0',
      'Age 0',
      'IP 1',
      'Node 1',
      'Nominated Node 1',
      'Readiness Gates 1',
    ],
  );
  assert.deepEqual(rows[0].cells, [
    'a',
    '0/1',
    'Pending',
    '0',
    '90s',
    '<none>',
    '<none>',
    '<none>',
    '<none>',
  ]);
  assert.deepEqual(
    [rows[0].object.kind, rows[0].object.metadata.name, rows[0].object.spec],
    ['PartialObjectMetadata', 'a', undefined],
  );
});

test('[cluster 2] a Table carries no object or the whole one where includeObject says so', async () => {
  const env = await newEnv();
  await env.send('POST', PODS, pod('a'));
  const none = await env.send('GET', `${PODS}?includeObject=None`, undefined, { accept: TABLE });
  assert.equal(none.body.rows[0].object, null);
  const whole = await env.send('GET', `${PODS}/a?includeObject=Object`, undefined, {
    accept: TABLE,
  });
  assert.equal(whole.body.rows[0].object.spec.containers[0].name, 'app');
  const wrong = await env.send('GET', `${PODS}?includeObject=Half`, undefined, { accept: TABLE });
  assert.equal(wrong.status, 400);
});

test('[cluster 2] a watch of Tables describes its columns once', async () => {
  const env = await newEnv();
  const listed = await env.send('GET', `${PODS}?limit=500`, undefined, { accept: TABLE });
  const { resourceVersion } = listed.body.metadata;
  const path = `${PODS}?resourceVersion=${resourceVersion}&watch=true`;
  const watched = await env.watch(path, {
    ...env.transport,
    request: (request) => env.transport.request(request),
    stream: (request) => env.transport.stream({ ...request, headers: { accept: TABLE } }),
  });
  await env.send('POST', PODS, pod('a'));
  await env.send('POST', PODS, pod('b'));
  await env.clock.quiesce();
  assert.deepEqual(watched.types(), ['ADDED', 'ADDED']);
  assert.deepEqual(
    [0, 1].map((index) => {
      const { kind, columnDefinitions, rows } = watched.objectAt(index);
      return [kind, columnDefinitions.length, rows[0].cells[0]];
    }),
    [
      ['Table', 9, 'a'],
      ['Table', 0, 'b'],
    ],
  );
});

test('a metadata informer lists and watches partial metadata', async () => {
  const env = await newEnv();
  await env.send('POST', PODS, pod('a', { metadata: { labels: { x: 'y' } } }));
  const accept =
    'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';
  const { body } = await env.send('GET', PODS, undefined, { accept });
  assert.deepEqual([body.kind, body.apiVersion], ['PartialObjectMetadataList', 'meta.k8s.io/v1']);
  const [item] = body.items;
  assert.deepEqual(
    [item.kind, item.metadata.labels.x, item.spec],
    ['PartialObjectMetadata', 'y', undefined],
  );
});

test('describe reads typed objects, and events by the object that they are about', async () => {
  const env = await newEnv();
  const created = await env.send('POST', PODS, pod('a'));
  const involvedObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    name: 'a',
    namespace: 'demo',
    uid: created.body.metadata.uid,
  };
  const events = '/api/v1/namespaces/demo/events';
  await env.send('POST', events, { metadata: { name: 'a.1' }, involvedObject, reason: 'Started' });
  const read = await env.send('GET', `${PODS}/a`, undefined, { accept: TYPED });
  assert.deepEqual([read.status, read.body.kind], [200, 'Pod']);
  const selector = encodeURIComponent(
    `involvedObject.name=a,involvedObject.namespace=demo,involvedObject.uid=${involvedObject.uid}`,
  );
  const found = await env.send('GET', `${events}?fieldSelector=${selector}&limit=500`, undefined, {
    accept: TYPED,
  });
  assert.deepEqual(
    found.body.items.map((event: any) => event.reason),
    ['Started'],
  );
});

test('apply finds fieldValidation on the PATCH operation of the kind', async () => {
  const env = await newEnv();
  const index = await env.send('GET', '/openapi/v3');
  const { serverRelativeURL } = index.body.paths['apis/apps/v1'];
  assert.match(serverRelativeURL, /^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]{64}$/);
  const document = await env.send('GET', serverRelativeURL);
  const { patch } = document.body.paths['/apis/apps/v1/namespaces/{namespace}/statefulsets/{name}'];
  assert.deepEqual(patch['x-kubernetes-group-version-kind'], {
    group: 'apps',
    kind: 'StatefulSet',
    version: 'v1',
  });
  assert.ok(patch.parameters.some((parameter: any) => parameter.name === 'fieldValidation'));
  assert.equal((await env.send('GET', '/openapi/v3/apis/none/v1')).status, 404);
});

test('apply is answered for a kind without a schema, so that it goes on to look for the kind', async () => {
  const env = await newEnv();
  const path = '/openapi/v2';
  const text = await env.send('GET', path);
  assert.deepEqual([text.body.swagger, text.body.paths], ['2.0', {}]);
  const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
  const { headers, body } = await env.transport.request({
    method: 'GET',
    path,
    headers: { accept },
  });
  assert.equal(
    headers['content-type'],
    'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
  );
  // Field 1 with the 3 bytes of its text, then field 2.
  assert.deepEqual([...Buffer.from(body).subarray(0, 6)], [10, 3, ...Buffer.from('2.0'), 18]);
});

test('[cluster 28] the second apply is a strategic merge that changes one container and stores nothing twice', async () => {
  const env = await newEnv();
  const query = '?fieldManager=kubectl-client-side-apply&fieldValidation=Strict';
  const created = await env.send('POST', `${SETS}${query}`, statefulSet('db', 1));
  assert.equal(created.status, 201);
  const body = {
    spec: {
      template: {
        spec: {
          '$setElementOrder/containers': [{ name: 'app' }],
          containers: [{ name: 'app', image: 'app:2' }],
        },
      },
    },
  };
  const patched = await env.send('PATCH', `${SETS}/db${query}`, body, STRATEGIC);
  assert.equal(patched.status, 200);
  assert.equal(patched.body.spec.template.spec.containers[0].image, 'app:2');
  const again = await env.send('PATCH', `${SETS}/db${query}`, body, STRATEGIC);
  assert.equal(again.body.metadata.resourceVersion, patched.body.metadata.resourceVersion);
  const dry = await env.send('PATCH', `${SETS}/db${query}&dryRun=All`, {
    spec: { replicas: 5 },
  });
  assert.equal(dry.body.spec.replicas, 5);
  assert.equal((await env.send('GET', `${SETS}/db`)).body.spec.replicas, 1);
});

test('an unknown field is refused under Strict and warned of under Warn', async () => {
  const env = await newEnv();
  const path = '/api/v1/namespaces/demo/configmaps';
  const typo = configMap('a', { dta: { a: 'b' } });
  const strict = await env.send('POST', `${path}?fieldValidation=Strict`, typo);
  assert.deepEqual([strict.status, strict.body.reason], [400, 'BadRequest']);
  const warned = await env.send('POST', `${path}?fieldValidation=Warn`, typo);
  assert.equal(warned.headers['warning'], '299 - "unknown field \\"dta\\""');
});

test('scale patches the scale with a JSON merge and answers a Scale', async () => {
  const env = await newEnv();
  await env.send('POST', SETS, statefulSet('db', 1));
  const { status, body } = await env.send('PATCH', `${SETS}/db/scale`, { spec: { replicas: 3 } });
  assert.deepEqual([status, body.kind, body.spec.replicas], [200, 'Scale', 3]);
});

test('rollout status lists one object at resourceVersion 0, then watches it with bookmarks', async () => {
  const env = await newEnv();
  await env.send('POST', SETS, statefulSet('db', 1));
  const one = 'fieldSelector=metadata.name%3Ddb';
  const listed = await env.send('GET', `${SETS}?${one}&limit=500&resourceVersion=0`);
  assert.equal(listed.body.items.length, 1);
  const { resourceVersion } = listed.body.metadata;
  const watched = await env.watch(
    `${SETS}?allowWatchBookmarks=true&${one}&resourceVersion=${resourceVersion}&timeoutSeconds=300&watch=true`,
  );
  await env.send('PATCH', `${SETS}/db`, { metadata: { labels: { a: 'b' } } });
  await env.clock.quiesce();
  assert.deepEqual(watched.types(), ['MODIFIED']);
});

test('delete sends its options as a body, then reads until the object is gone', async () => {
  const env = await newEnv();
  await env.send('POST', PODS, pod('a'));
  const deleted = await env.send('DELETE', `${PODS}/a`, { propagationPolicy: 'Background' });
  assert.deepEqual([deleted.status, deleted.body.kind], [200, 'Pod']);
  assert.equal((await env.send('GET', `${PODS}/a`)).status, 404);
});

test('drain cordons by strategic merge, lists by node, and evicts with deleteOptions', async () => {
  const env = await newEnv();
  await env.send('POST', '/api/v1/nodes', { metadata: { name: 'n' } });
  const cordoned = await env.send(
    'PATCH',
    '/api/v1/nodes/n',
    { spec: { unschedulable: true } },
    STRATEGIC,
  );
  assert.equal(cordoned.body.spec.unschedulable, true);
  await env.send('POST', PODS, pod('a', { spec: { nodeName: 'n' } }));
  const listed = await env.send('GET', '/api/v1/pods?fieldSelector=spec.nodeName%3Dn&limit=500');
  assert.equal(listed.body.items.length, 1);
  const evicted = await env.send('POST', `${PODS}/a/eviction`, {
    kind: 'Eviction',
    apiVersion: 'policy/v1',
    metadata: { name: 'a', namespace: 'demo', creationTimestamp: null },
    deleteOptions: {},
  });
  assert.deepEqual([evicted.status, evicted.body.status], [201, 'Success']);
});

test('an eviction must name the pod of its path, and cannot ask for another kind', async () => {
  const env = await newEnv();
  await env.send('POST', PODS, pod('a'));
  const wrongName = await env.send('POST', `${PODS}/a/eviction`, { metadata: { name: 'b' } });
  assert.deepEqual(
    [wrongName.status, wrongName.body.message],
    [400, 'name in URL does not match name in Eviction object'],
  );
  const kind = { kind: 'Binding', apiVersion: 'v1', metadata: { name: 'a' } };
  assert.equal((await env.send('POST', `${PODS}/a/eviction`, kind)).status, 400);
  const missing = await env.send('POST', `${PODS}/x/eviction`, { metadata: { name: 'x' } });
  assert.equal(missing.status, 404);
});

/** A protobuf body as the transport carries it: one character for each byte. */
async function sendProtobuf(env: Env, path: string, hex: string): Promise<Answer> {
  const response = await env.transport.request({
    method: 'POST',
    path,
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf', accept: TYPED },
    body: Buffer.from(hex, 'hex').toString('latin1'),
  });
  const { status, headers } = response;
  return { status, headers, body: JSON.parse(Buffer.from(response.body).toString()) };
}

test('[cluster 29] create namespace sends protobuf and is answered with JSON', async () => {
  const env = await newEnv();
  const { status, body } = await sendProtobuf(
    env,
    '/api/v1/namespaces?fieldManager=kubectl-create&fieldValidation=Strict',
    '6b3873000a0f0a02763112094e616d65737061636512190a110a017812001a0022002a0032003800420012001a020a001a002200',
  );
  assert.deepEqual([status, body.kind, body.metadata.name], [201, 'Namespace', 'x']);
  assert.equal(body.status.phase, 'Active');
});

test('[cluster 29] a protobuf body of a kind without a table is 415 with the hint to send JSON', async () => {
  const env = await newEnv();
  const { status, body } = await sendProtobuf(env, PODS, '6b3873000a090a0276311203506f641200');
  assert.deepEqual([status, body.reason], [415, 'UnsupportedMediaType']);
  assert.match(body.message, /set the ContentType of the client to application\/json/);
});

const BUDGETS = '/apis/policy/v1/namespaces/demo/poddisruptionbudgets';
const budget = { metadata: { name: 'b' }, spec: { maxUnavailable: 1 } };

test('[cluster 9] spec and status of sets, pods and budgets are written apart', async () => {
  const env = await newEnv();
  await env.send('POST', BUDGETS, budget);
  await env.send('POST', SETS, statefulSet('s', 1));
  await env.send('POST', PODS, pod('p'));
  const rows = [
    [`${BUDGETS}/b`, { maxUnavailable: 2 }, { disruptionsAllowed: 7 }],
    [`${SETS}/s`, { replicas: 2 }, { replicas: 7 }],
    [`${PODS}/p`, { activeDeadlineSeconds: 2 }, { message: 'seven' }],
  ] as const;
  for (const [path, spec, status] of rows) {
    const before = (await env.send('GET', path)).body;
    const main = await env.send('PATCH', path, { status });
    assert.deepEqual(main.body.status, before.status, path);
    const part = await env.send('PATCH', `${path}/status`, { spec, status });
    assert.deepEqual(part.body.spec, before.spec, path);
    for (const [member, value] of Object.entries(status)) {
      assert.equal(part.body.status[member], value, path);
    }
  }
});

test('[cluster 9] labels and annotations pass through the status of built-in kinds', async () => {
  const env = await newEnv();
  await env.send('POST', BUDGETS, budget);
  const { body } = await env.send('PATCH', `${BUDGETS}/b/status`, {
    metadata: { annotations: { a: 'b' } },
  });
  assert.equal(body.metadata.annotations.a, 'b');
});

test('[cluster 23] a PUT without resourceVersion passes for a set and is 422 for a budget', async () => {
  const env = await newEnv();
  await env.send('POST', SETS, statefulSet('s', 1));
  await env.send('POST', BUDGETS, budget);
  assert.equal((await env.send('PUT', `${SETS}/s`, statefulSet('s', 2))).status, 200);
  const refused = await env.send('PUT', `${BUDGETS}/b`, budget);
  assert.equal(refused.status, 422);
  assert.match(refused.body.message, /metadata\.resourceVersion.*must be specified for an update/);
});

test('events of both groups are the same objects under their own names', async () => {
  const env = await newEnv();
  const core = '/api/v1/namespaces/demo/events';
  const other = '/apis/events.k8s.io/v1/namespaces/demo/events';
  const regarding = { kind: 'Pod', name: 'a', namespace: 'demo' };
  const made = await env.send('POST', other, {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: 'a.1' },
    regarding,
    note: 'it runs',
    reason: 'Started',
  });
  assert.deepEqual(
    [made.status, made.body.apiVersion, made.body.note],
    [201, 'events.k8s.io/v1', 'it runs'],
  );
  const seen = await env.send('GET', `${core}/a.1`);
  assert.deepEqual([seen.body.apiVersion, seen.body.message], ['v1', 'it runs']);
  const selector = encodeURIComponent('regarding.name=a,reason=Started');
  const listed = await env.send('GET', `${other}?fieldSelector=${selector}`);
  assert.deepEqual(
    [listed.body.apiVersion, listed.body.items[0].regarding.name],
    ['events.k8s.io/v1', 'a'],
  );
  const patched = await env.send('PATCH', `${other}/a.1`, { note: 'it ran' });
  assert.equal(patched.body.note, 'it ran');
  const strict = await env.send('POST', `${other}?fieldValidation=Strict`, { message: 'x' });
  assert.match(strict.body.message, /unknown field "message"/);
  const watched = await env.watch(`${other}?watch=true`);
  assert.equal(watched.objectAt(0).note, 'it ran');
});

test('a body may be YAML, and one that is broken is 400', async () => {
  const env = await newEnv();
  const path = '/api/v1/namespaces/demo/configmaps';
  const send = async (body: string): Promise<number> => {
    const headers = { 'content-type': 'application/yaml' };
    return (await env.transport.request({ method: 'POST', path, headers, body })).status;
  };
  assert.equal(await send('metadata: {name: a}\ndata:\n  b: c\n'), 201);
  assert.equal((await env.send('GET', `${path}/a`)).body.data.b, 'c');
  assert.equal(await send('metadata: {name: d\n'), 400);
});
