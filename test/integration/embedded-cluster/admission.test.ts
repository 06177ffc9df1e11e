/* oxlint-disable typescript/no-explicit-any, typescript/no-unsafe-assignment, typescript/no-unsafe-return -- reviews are looked into by path, and a wrong path fails the assertion */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import type { WebhookReply } from '#cluster/admission/webhook-hosts.ts';
import { startEnvironment } from '../stages/virtual-environment.ts';
import {
  type Answer,
  CONFIG_MAPS,
  configMap,
  type Env,
  newEnv,
  PODS,
  pod,
  SETS,
  sendOver,
  statefulSet,
} from './protocol-env.ts';

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const everything = ['CREATE', 'UPDATE', 'DELETE'];

/** What a webhook was asked, and where. */
interface Asked {
  readonly host: string;
  readonly path: string;
  readonly request: any;
}

type Say = (asked: Asked) => JsonObject;

function rule(resource: string, operations: readonly string[] = everything): JsonObject {
  const [group = '', ...rest] = resource.includes(':') ? resource.split(':') : ['', resource];
  return { operations, apiGroups: [group], apiVersions: ['v1'], resources: rest };
}

function hook(name: string, members: JsonObject): JsonObject {
  return {
    name: `${name}.test.example`,
    clientConfig: { url: `https://${name}.test.example/review` },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...members,
  };
}

const allow: Say = () => ({ allowed: true });

function patch(...operations: readonly JsonObject[]): JsonObject {
  const text = Buffer.from(JSON.stringify(operations)).toString('base64');
  return { allowed: true, patchType: 'JSONPatch', patch: text };
}

/** Answers at webhooks, by their names; what they are asked goes into `asked`. */
function answer(
  env: Pick<Env, 'cluster'>,
  asked: Asked[],
  says: Readonly<Record<string, Say>>,
): void {
  for (const [name, say] of Object.entries(says)) {
    env.cluster.webhooks.register(`${name}.test.example`, ({ path, body }) => {
      const { request, apiVersion, kind } = JSON.parse(body);
      const one = { host: name, path, request };
      asked.push(one);
      const review = { apiVersion, kind, response: { uid: request.uid, ...say(one) } };
      return Promise.resolve({ status: 200, body: JSON.stringify(review) });
    });
  }
}

async function configure(
  env: Pick<Env, 'send'>,
  kind: 'validating' | 'mutating',
  ...webhooks: readonly JsonObject[]
): Promise<void> {
  const body = { metadata: { name: 'hooks' }, webhooks };
  const { status, body: said } = await env.send(
    'POST',
    `${GROUP}/${kind}webhookconfigurations`,
    body,
  );
  assert.equal(status, 201, said.message);
}

function calls(asked: readonly Asked[]): readonly string[] {
  return asked.map(({ host, request }) => {
    const { operation, resource, subResource } = request;
    const below = subResource === undefined ? '' : `/${subResource}`;
    return `${host}: ${operation} ${resource.resource}${below}`;
  });
}

test('[cluster 44] a scale is shown as a Scale to the webhooks of statefulsets/scale, and to no others', async () => {
  const env = await newEnv();
  const asked: Asked[] = [];
  await env.send('POST', SETS, {
    ...statefulSet('web', 3),
    metadata: { name: 'web', labels: { a: 'b' } },
  });
  for (const name of ['scale', 'parent', 'all']) answer(env, asked, { [name]: allow });
  await configure(
    env,
    'validating',
    hook('scale', { rules: [rule('apps:statefulsets/scale')] }),
    hook('parent', { rules: [rule('apps:statefulsets')] }),
    hook('all', { rules: [rule('apps:statefulsets/*')] }),
  );
  const scaled = await env.send('PATCH', `${SETS}/web/scale`, { spec: { replicas: 1 } });
  assert.equal(scaled.status, 200);
  assert.deepEqual(calls(asked), [
    'scale: UPDATE statefulsets/scale',
    'all: UPDATE statefulsets/scale',
  ]);
  const { request, path } = asked[0] ?? assert.fail('no webhook was asked');
  assert.equal(path, '/review?timeout=10s');
  assert.deepEqual(request.kind, { group: 'autoscaling', version: 'v1', kind: 'Scale' });
  assert.deepEqual(request.requestResource, {
    group: 'apps',
    version: 'v1',
    resource: 'statefulsets',
  });
  assert.deepEqual(
    [request.object.spec, request.oldObject.spec, request.object.metadata.labels],
    [{ replicas: 1 }, { replicas: 3 }, undefined],
  );
  assert.deepEqual(request.options, { kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1' });
  asked.length = 0;
  await env.send('PATCH', `${SETS}/web`, { spec: { replicas: 2 } });
  assert.deepEqual(calls(asked), ['parent: UPDATE statefulsets', 'all: UPDATE statefulsets']);
  assert.deepEqual(asked[0]?.request.object.metadata.labels, { a: 'b' });
});

test('[cluster 44] a patch to a Scale changes the set', async () => {
  const env = await newEnv();
  await env.send('POST', SETS, statefulSet('web', 3));
  answer(env, [], { scale: () => patch({ op: 'replace', path: '/spec/replicas', value: 2 }) });
  await configure(env, 'mutating', hook('scale', { rules: [rule('apps:statefulsets/scale')] }));
  const { body } = await env.send('PATCH', `${SETS}/web/scale`, { spec: { replicas: 0 } });
  assert.equal(body.spec.replicas, 2);
  assert.equal((await env.send('GET', `${SETS}/web`)).body.spec.replicas, 2);
});

test('[cluster 45] an objectSelector skips /scale and evictions, which have no labels', async () => {
  const env = await newEnv();
  const asked: Asked[] = [];
  const metadata = { name: 'web', labels: { app: 'web' } };
  await env.send('POST', SETS, { ...statefulSet('web', 3), metadata });
  await env.send('POST', PODS, pod('a', { metadata: { labels: { app: 'web' } } }));
  answer(env, asked, { labelled: allow });
  await configure(
    env,
    'validating',
    hook('labelled', {
      rules: [rule('apps:statefulsets/*'), rule('pods/*')],
      objectSelector: { matchLabels: { app: 'web' } },
    }),
  );
  await env.send('PATCH', `${SETS}/web/scale`, { spec: { replicas: 1 } });
  const eviction = { kind: 'Eviction', apiVersion: 'policy/v1', metadata: { name: 'a' } };
  assert.equal((await env.send('POST', `${PODS}/a/eviction`, eviction)).status, 201);
  await env.send('PATCH', `${SETS}/web`, { spec: { replicas: 2 } });
  assert.deepEqual(calls(asked), ['labelled: UPDATE statefulsets']);
});

test('[cluster 45] an objectSelector looks at the old object and the new one', async () => {
  const env = await newEnv();
  const asked: Asked[] = [];
  answer(env, asked, { labelled: allow });
  const objectSelector = { matchLabels: { app: 'web' } };
  await configure(
    env,
    'validating',
    hook('labelled', { rules: [rule('configmaps')], objectSelector }),
  );
  await env.send('POST', CONFIG_MAPS, configMap('a'));
  await env.send('PATCH', `${CONFIG_MAPS}/a`, { metadata: { labels: { app: 'web' } } });
  await env.send('PATCH', `${CONFIG_MAPS}/a`, { metadata: { labels: { app: 'other' } } });
  await env.send('PATCH', `${CONFIG_MAPS}/a`, { metadata: { labels: { app: 'third' } } });
  await env.send('DELETE', `${CONFIG_MAPS}/a`);
  assert.deepEqual(calls(asked), ['labelled: UPDATE configmaps', 'labelled: UPDATE configmaps']);
});

test('[cluster 45] a namespaceSelector looks at the namespace, and never exempts what is in none', async () => {
  const env = await newEnv();
  const asked: Asked[] = [];
  answer(env, asked, { elsewhere: allow });
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': 'elsewhere' } };
  const rules = [rule('configmaps'), rule('nodes'), rule('namespaces')];
  await configure(env, 'validating', hook('elsewhere', { rules, namespaceSelector }));
  await env.send('POST', CONFIG_MAPS, configMap('a'));
  assert.deepEqual(calls(asked), []);
  await env.send('POST', '/api/v1/nodes', { metadata: { name: 'n' } });
  await env.send('POST', '/api/v1/namespaces', { metadata: { name: 'elsewhere' } });
  await env.send('POST', '/api/v1/namespaces/elsewhere/configmaps', configMap('a'));
  assert.deepEqual(calls(asked), [
    'elsewhere: CREATE nodes',
    'elsewhere: CREATE namespaces',
    'elsewhere: CREATE configmaps',
  ]);
});

const denials: Record<string, { readonly status?: JsonObject; readonly want: readonly unknown[] }> =
  {
    'is 400 where it has no code, and says so where it has no message': {
      want: [
        400,
        undefined,
        'admission webhook "deny.test.example" denied the request without explanation',
      ],
    },
    'keeps code, reason and message': {
      status: { code: 429, reason: 'TooManyRequests', message: 'later' },
      want: [
        429,
        'TooManyRequests',
        'admission webhook "deny.test.example" denied the request: later',
      ],
    },
    'gives the reason where it has no message, and raises a code that means success': {
      status: { code: 200, reason: 'Forbidden' },
      want: [
        400,
        'Forbidden',
        'admission webhook "deny.test.example" denied the request: Forbidden',
      ],
    },
  };
for (const [fact, { status, want }] of Object.entries(denials)) {
  test(`[cluster 46] a denial ${fact}`, async () => {
    const env = await newEnv();
    answer(env, [], {
      deny: () => ({
        allowed: false,
        ...(status === undefined ? {} : { status }),
      }),
    });
    // No failure policy holds for a denial.
    const members = { rules: [rule('configmaps')], failurePolicy: 'Ignore' };
    await configure(env, 'validating', hook('deny', members));
    const refused = await env.send('POST', CONFIG_MAPS, configMap('a'));
    assert.deepEqual([refused.status, refused.body.reason, refused.body.message], want);
    assert.equal((await env.send('GET', `${CONFIG_MAPS}/a`)).status, 404);
  });
}

test('[cluster 46] warnings of a webhook become headers, whether it allows or not', async () => {
  const env = await newEnv();
  answer(env, [], {
    warn: ({ request }) => ({
      allowed: request.operation === 'CREATE',
      warnings: ['mind the gap', 'say "please"'],
    }),
  });
  await configure(env, 'validating', hook('warn', { rules: [rule('configmaps')] }));
  const wanted = '299 - "mind the gap", 299 - "say \\"please\\""';
  const created = await env.send('POST', CONFIG_MAPS, configMap('a'));
  assert.deepEqual([created.status, created.headers['warning']], [201, wanted]);
  const refused = await env.send('DELETE', `${CONFIG_MAPS}/a`);
  assert.deepEqual([refused.status, refused.headers['warning']], [400, wanted]);
});

/** Sends while virtual time runs. */
async function sendThrough(env: Env, body: JsonValue): Promise<{ said: Answer; took: number }> {
  const start = env.clock.now();
  let said: Answer | undefined;
  const sending = env.send('POST', CONFIG_MAPS, body).then((result) => {
    said = result;
  });
  await env.clock.runUntil(() => said !== undefined);
  await sending;
  return { said: said ?? assert.fail('there is no answer'), took: env.clock.now() - start };
}

test('[cluster 46] a webhook that does not answer in time refuses under Fail and is passed over under Ignore', async () => {
  const env = await newEnv();
  const { cluster } = env;
  cluster.webhooks.register('slow.test.example', () => new Promise<WebhookReply>(() => undefined));
  const slow = { rules: [rule('configmaps')], timeoutSeconds: 3 };
  await configure(env, 'validating', hook('slow', slow));
  const failed = await sendThrough(env, configMap('a'));
  assert.equal(failed.took, seconds(3));
  assert.deepEqual(
    [failed.said.status, failed.said.body.reason, failed.said.body.message],
    [
      500,
      'InternalError',
      'Internal error occurred: failed calling webhook "slow.test.example": failed to call webhook: Post "https://slow.test.example/review?timeout=3s": context deadline exceeded',
    ],
  );
  await env.send('DELETE', `${GROUP}/validatingwebhookconfigurations/hooks`);
  await configure(env, 'validating', hook('slow', { ...slow, failurePolicy: 'Ignore' }));
  const passed = await sendThrough(env, configMap('a'));
  assert.deepEqual([passed.said.status, passed.took], [201, seconds(3)]);
});

test('[cluster 46] a webhook that thinks in virtual time may do so', async () => {
  const env = await newEnv();
  const { clock, cluster } = env;
  cluster.webhooks.register('slow.test.example', async ({ body }) => {
    await clock.sleep(seconds(2));
    const { request, ...type } = JSON.parse(body);
    const response = { uid: request.uid, allowed: true };
    return { status: 200, body: JSON.stringify({ ...type, response }) };
  });
  await configure(env, 'validating', hook('slow', { rules: [rule('configmaps')] }));
  const { said, took } = await sendThrough(env, configMap('a'));
  assert.deepEqual([said.status, took], [201, seconds(2)]);
});

test('[cluster 46] a whole request has 34 s, however long its webhooks may take', async () => {
  const env = await newEnv();
  env.cluster.webhooks.register('slow.test.example', () => new Promise(() => undefined));
  const slow = { rules: [rule('configmaps')], timeoutSeconds: 30, failurePolicy: 'Ignore' };
  const other = { ...slow, clientConfig: { url: 'https://slow.test.example/other' } };
  await configure(env, 'mutating', hook('slow', slow), hook('second', other));
  const { said, took } = await sendThrough(env, configMap('a'));
  assert.deepEqual([said.status, said.body.reason, took], [504, 'Timeout', seconds(34)]);
});

test('[cluster 46] an unknown host refuses under Fail', async () => {
  const env = await newEnv();
  await configure(env, 'validating', hook('nobody', { rules: [rule('configmaps')] }));
  const { status, body } = await env.send('POST', CONFIG_MAPS, configMap('a'));
  assert.equal(status, 500);
  assert.match(
    body.message,
    /^Internal error occurred: failed calling webhook "nobody\.test\.example": failed to call webhook: Post "https:\/\/nobody\.test\.example\/review\?timeout=10s": dial tcp: lookup nobody\.test\.example: no such host/,
  );
});

test('[cluster 46] the service form leads to its registered host, and says when there is no Service', async () => {
  const env = await newEnv();
  const service = { namespace: 'demo', name: 'hooks', path: '/mutate' };
  const rules = [rule('configmaps', ['CREATE'])];
  await configure(env, 'validating', hook('served', { rules, clientConfig: { service } }));
  const { body } = await env.send('POST', CONFIG_MAPS, configMap('a'));
  assert.equal(
    body.message,
    'Internal error occurred: failed calling webhook "served.test.example": failed to call webhook: Post "https://hooks.demo.svc:443/mutate?timeout=10s": service "hooks" not found',
  );
  const paths: string[] = [];
  env.cluster.webhooks.register('hooks.demo.svc', (call) => {
    paths.push(call.path);
    const { request, ...type } = JSON.parse(call.body);
    const response = { uid: request.uid, allowed: true };
    return Promise.resolve({ status: 200, body: JSON.stringify({ ...type, response }) });
  });
  assert.equal((await env.send('POST', CONFIG_MAPS, configMap('a'))).status, 201);
  assert.deepEqual(paths, ['/mutate?timeout=10s']);
});

test('[cluster 46] mutations follow each other by configuration and position, and IfNeeded is asked once more', async () => {
  const env = await newEnv();
  const asked: Asked[] = [];
  const append =
    (letter: string): Say =>
    ({ request }) =>
      patch({ op: 'replace', path: '/data/order', value: `${request.object.data.order}${letter}` });
  for (const letter of ['a', 'b', 'c']) answer(env, asked, { [letter]: append(letter) });
  answer(env, asked, { still: allow });
  const rules = [rule('configmaps')];
  const again = { rules, reinvocationPolicy: 'IfNeeded' };
  await configure(env, 'mutating', hook('b', again), hook('still', again), hook('a', { rules }));
  const other = { metadata: { name: 'another' }, webhooks: [hook('c', again)] };
  await env.send('POST', `${GROUP}/mutatingwebhookconfigurations`, other);
  const { body } = await env.send('POST', CONFIG_MAPS, configMap('a', { data: { order: '-' } }));
  // c changed and is before all; b and still came before a; nobody changed anything after a but the second round.
  assert.equal(body.data.order, '-cbacb');
  assert.deepEqual(asked.map(({ host }) => host).join(' '), 'c b still a c b still');
});

test('[cluster 46] mutating webhooks see defaults and no system fields, validating ones the whole object', async () => {
  const env = await newEnv();
  const seen: any[] = [];
  const look: Say = ({ request }) => {
    seen.push(request);
    return { allowed: true };
  };
  answer(env, [], { look });
  const members = { rules: [rule('apps:statefulsets')] };
  await configure(env, 'mutating', hook('look', members));
  await configure(env, 'validating', hook('look', members));
  const metadata = { generateName: 'web-', uid: 'given' };
  await env.send('POST', `${SETS}?fieldManager=me`, { ...statefulSet('x', 1), metadata });
  const [mutating, validating] = seen;
  assert.deepEqual(
    [mutating.name, mutating.object.metadata, mutating.object.spec.podManagementPolicy],
    [undefined, { generateName: 'web-', namespace: 'demo' }, 'OrderedReady'],
  );
  const { name, uid, generation, resourceVersion } = validating.object.metadata;
  assert.match(name, /^web-/);
  assert.notEqual(uid, 'given');
  assert.deepEqual([validating.name, generation, resourceVersion], [name, 1, undefined]);
  assert.deepEqual(validating.options, {
    kind: 'CreateOptions',
    apiVersion: 'meta.k8s.io/v1',
    fieldManager: 'me',
  });
  assert.notEqual(mutating.uid, validating.uid);
  assert.deepEqual(validating.userInfo, {
    username: 'system:admin',
    groups: ['system:masters', 'system:authenticated'],
  });
});

test('[cluster 46] what a mutation adds is decoded, defaulted and validated', async () => {
  const env = await newEnv();
  const operations = [
    { op: 'add', path: '/spec/foo', value: 1 },
    { op: 'remove', path: '/spec/podManagementPolicy' },
    { op: 'replace', path: '/spec/replicas', value: 5 },
  ];
  answer(env, [], { change: () => patch(...operations) });
  await configure(env, 'mutating', hook('change', { rules: [rule('apps:statefulsets')] }));
  const { body } = await env.send('POST', SETS, statefulSet('web', 1));
  assert.deepEqual(
    [body.spec.replicas, body.spec.foo, body.spec.podManagementPolicy],
    [5, undefined, 'OrderedReady'],
  );
  operations.splice(0, 3, { op: 'replace', path: '/spec/replicas', value: -1 });
  assert.equal((await env.send('POST', SETS, statefulSet('other', 1))).status, 422);
});

test('[cluster 46] a dry run asks harmless webhooks, tells them, and refuses the others with 400', async () => {
  const env = await newEnv();
  const asked: Asked[] = [];
  answer(env, asked, { dry: allow });
  await configure(env, 'validating', hook('dry', { rules: [rule('configmaps')] }));
  assert.equal((await env.send('POST', `${CONFIG_MAPS}?dryRun=All`, configMap('a'))).status, 201);
  assert.deepEqual(asked[0]?.request.dryRun, true);
  // Such a configuration is refused today, and may have been stored by an older server.
  const { store } = env.cluster.context;
  const collection = store.collection(
    'validatingwebhookconfigurations.admissionregistration.k8s.io',
  );
  const before = collection.get('hooks');
  const webhooks = [hook('dry', { rules: [rule('configmaps')], sideEffects: 'Some' })];
  const after = { ...before?.object, webhooks };
  store.commit({ resource: collection.resource, key: 'hooks', before, after });
  const refused = await env.send('POST', `${CONFIG_MAPS}?dryRun=All`, configMap('a'));
  assert.deepEqual(
    [refused.status, refused.body.message, asked.length],
    [400, 'admission webhook "dry.test.example" does not support dry run', 1],
  );
  const stored = await env.send('POST', `${GROUP}/validatingwebhookconfigurations`, {
    metadata: { name: 'new' },
    webhooks,
  });
  assert.equal(
    stored.body.message,
    'ValidatingWebhookConfiguration.admissionregistration.k8s.io "new" is invalid: webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
  );
});

test('[cluster 46] what cannot be kept is refused loudly: conditions and reviews of an old version', async () => {
  const env = await newEnv();
  const path = `${GROUP}/validatingwebhookconfigurations`;
  const rules = [rule('configmaps')];
  const matchConditions = [{ name: 'never', expression: 'false' }];
  const conditional = hook('a', { rules, matchConditions });
  const { status, body } = await env.send('POST', path, {
    metadata: { name: 'a' },
    webhooks: [conditional],
  });
  assert.deepEqual([status, body.details.causes[0].field], [422, 'webhooks[0].matchConditions']);
  const old = hook('a', { rules, admissionReviewVersions: ['v1beta1'] });
  const refused = await env.send('POST', path, { metadata: { name: 'a' }, webhooks: [old] });
  assert.equal(refused.body.details.causes[0].field, 'webhooks[0].admissionReviewVersions');
});

async function deletions(
  members: { readonly spec?: JsonObject } = {},
): Promise<{ readonly counts: number[]; readonly act: (body?: JsonObject) => Promise<void> }> {
  const env = await newEnv();
  const asked: Asked[] = [];
  answer(env, asked, { count: allow });
  await configure(env, 'validating', hook('count', { rules: [rule('pods', ['DELETE'])] }));
  await env.send('POST', PODS, pod('a', { spec: members.spec ?? {} }));
  const counts: number[] = [];
  return {
    counts,
    act: async (body = {}) => {
      await env.send('DELETE', `${PODS}/a`, body);
      counts.push(asked.splice(0).length);
    },
  };
}

test('[cluster 47] a graceful deletion asks once, its repetition never, its end twice', async () => {
  const { counts, act } = await deletions({ spec: { nodeName: 'n1' } });
  await act();
  await act();
  await act({ gracePeriodSeconds: 60 });
  await act({ gracePeriodSeconds: 0 });
  assert.deepEqual(counts, [1, 0, 0, 2]);
});

test('[cluster 47] a forced deletion asks twice within one request', async () => {
  const { counts, act } = await deletions({ spec: { nodeName: 'n1' } });
  await act({ gracePeriodSeconds: 0 });
  assert.deepEqual(counts, [2]);
});

test('[cluster 47] the second question of a forced deletion may be denied, and the pod stays marked', async () => {
  const env = await newEnv();
  const asked: Asked[] = [];
  answer(env, asked, { second: () => ({ allowed: asked.length < 2 }) });
  await configure(env, 'validating', hook('second', { rules: [rule('pods', ['DELETE'])] }));
  await env.send('POST', PODS, pod('a', { spec: { nodeName: 'n1' } }));
  assert.equal((await env.send('DELETE', `${PODS}/a`, { gracePeriodSeconds: 0 })).status, 400);
  const { metadata } = (await env.send('GET', `${PODS}/a`)).body;
  assert.equal(metadata.deletionGracePeriodSeconds, 0);
  assert.equal(asked[1]?.request.oldObject.metadata.deletionGracePeriodSeconds, 0);
});

test('[cluster 47] an eviction asks the webhooks of pods/eviction once and those of DELETE not at all; the kubelet asks twice', async () => {
  const env = await startEnvironment();
  const transport = env.cluster.transport();
  const asked: Asked[] = [];
  answer(env, asked, { count: allow });
  const send: Env['send'] = (method, path, body) => sendOver(transport, { method, path, body });
  await env.createSet({ replicas: 1 });
  await env.clock.runUntilIdle();
  const rules = [rule('pods', ['DELETE']), rule('pods/eviction', ['CREATE'])];
  await configure({ send }, 'validating', hook('count', { rules }));
  const eviction = { kind: 'Eviction', apiVersion: 'policy/v1', metadata: { name: 'db-0' } };
  assert.equal((await send('POST', `${PODS}/db-0/eviction`, eviction)).status, 201);
  assert.deepEqual(calls(asked), ['count: CREATE pods/eviction']);
  assert.deepEqual(asked.splice(0)[0]?.request.kind, {
    group: 'policy',
    version: 'v1',
    kind: 'Eviction',
  });
  await env.clock.runUntilIdle();
  assert.deepEqual(calls(asked), ['count: DELETE pods', 'count: DELETE pods']);
  assert.equal(asked[0]?.request.userInfo.username.startsWith('system:node:'), true);
  await env.close();
});

test('[cluster 47] an eviction tries again when its budget changes while webhooks are asked', async () => {
  const env = await startEnvironment();
  const transport = env.cluster.transport();
  const send: Env['send'] = (method, path, body) => sendOver(transport, { method, path, body });
  await env.createSet({ replicas: 2, podManagementPolicy: 'Parallel' });
  const budgets = '/apis/policy/v1/namespaces/demo/poddisruptionbudgets';
  const selector = { matchLabels: { app: 'db' } };
  await send('POST', budgets, { metadata: { name: 'b' }, spec: { maxUnavailable: 1, selector } });
  await env.clock.runUntilIdle();
  const users: string[] = [];
  env.cluster.webhooks.register('busy.test.example', async ({ body }) => {
    const { request, ...type } = JSON.parse(body);
    users.push(request.userInfo.username);
    const labels = { seen: String(users.length) };
    if (users.length === 1) await send('PATCH', `${budgets}/b`, { metadata: { labels } });
    const response = { uid: request.uid, allowed: true };
    return { status: 200, body: JSON.stringify({ ...type, response }) };
  });
  const rules = [rule('policy:poddisruptionbudgets/status', ['UPDATE'])];
  await configure({ send }, 'validating', hook('busy', { rules }));
  const eviction = { kind: 'Eviction', apiVersion: 'policy/v1', metadata: { name: 'db-0' } };
  let status: number | undefined;
  const evicting = send('POST', `${PODS}/db-0/eviction`, eviction).then((answered) => {
    ({ status } = answered);
  });
  await env.clock.runUntil(() => status !== undefined);
  await evicting;
  assert.equal(status, 201);
  assert.deepEqual(users.slice(0, 2), ['system:apiserver', 'system:apiserver']);
  await env.close();
});

test('[cluster 47] each object of a deleted collection is asked for, without a name', async () => {
  const env = await newEnv();
  const asked: Asked[] = [];
  for (const name of ['a', 'b']) await env.send('POST', CONFIG_MAPS, configMap(name));
  answer(env, asked, { count: allow });
  await configure(env, 'validating', hook('count', { rules: [rule('configmaps')] }));
  await env.send('DELETE', CONFIG_MAPS);
  assert.deepEqual(
    asked.map(({ request }) => [request.name, request.oldObject.metadata.name, request.object]),
    [
      [undefined, 'a', null],
      [undefined, 'b', null],
    ],
  );
});

test('webhooks are not asked about their own configurations, nor about reads', async () => {
  const env = await newEnv();
  const asked: Asked[] = [];
  answer(env, asked, { all: allow });
  const rules = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }];
  await configure(env, 'validating', hook('all', { rules }));
  await env.send('GET', CONFIG_MAPS);
  await env.send('PATCH', `${GROUP}/validatingwebhookconfigurations/hooks`, {
    metadata: { labels: { a: 'b' } },
  });
  assert.deepEqual(calls(asked), []);
  await env.send('DELETE', `${GROUP}/validatingwebhookconfigurations/hooks`);
  await env.send('POST', CONFIG_MAPS, configMap('a'));
  assert.deepEqual(calls(asked), []);
});

const OPEN = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

test('matchPolicy Equivalent finds a custom resource under another version, and a patch is turned back', async () => {
  const env = await newEnv();
  const asked: Asked[] = [];
  const version = (name: string, storage: boolean): JsonObject => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec: OPEN } } },
  });
  const group = 'demo.example.com';
  await env.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: `rings.${group}` },
    spec: {
      group,
      names: { kind: 'Ring', plural: 'rings' },
      scope: 'Namespaced',
      versions: [version('v1', true), version('v2', false)],
    },
  });
  await env.clock.advance(seconds(1));
  answer(env, asked, { ring: () => patch({ op: 'add', path: '/spec/patched', value: true }) });
  const rules = [{ ...rule(`${group}:rings`), apiVersions: ['v2'] }];
  await configure(env, 'mutating', hook('ring', { rules }));
  const body = { kind: 'Ring', apiVersion: `${group}/v1`, metadata: { name: 'a' }, spec: { n: 1 } };
  const made = await env.send('POST', `/apis/${group}/v1/namespaces/demo/rings`, body);
  assert.deepEqual(
    [made.status, made.body.apiVersion, made.body.spec],
    [201, `${group}/v1`, { n: 1, patched: true }],
  );
  const { request } = asked[0] ?? assert.fail('no webhook was asked');
  assert.deepEqual(
    [request.kind.version, request.requestKind.version, request.object.apiVersion],
    ['v2', 'v1', `${group}/v2`],
  );
});

test('matchPolicy Equivalent finds an event under its other name and shows it so', async () => {
  const env = await newEnv();
  const asked: Asked[] = [];
  for (const name of ['exact', 'equivalent']) answer(env, asked, { [name]: allow });
  const rules = [rule('events.k8s.io:events')];
  await configure(
    env,
    'validating',
    hook('exact', { rules, matchPolicy: 'Exact' }),
    hook('equivalent', { rules }),
  );
  const involvedObject = { kind: 'Pod', name: 'a', namespace: 'demo' };
  await env.send('POST', '/api/v1/namespaces/demo/events', {
    metadata: { name: 'e' },
    involvedObject,
  });
  assert.deepEqual(calls(asked), ['equivalent: CREATE events']);
  const { request } = asked[0] ?? assert.fail('no webhook was asked');
  const { kind, requestKind, object } = request;
  assert.deepEqual([kind.group, requestKind.group], ['events.k8s.io', '']);
  assert.deepEqual([object.apiVersion, object.regarding.name], ['events.k8s.io/v1', 'a']);
});
