/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-return -- answers are looked into by path, and a wrong path fails the conversation */
/** Conversations about webhooks: what they are shown, and what becomes of what they say (AD-*). */
import type { JsonObject } from '#base/json.ts';
import type { Conversation, Talk } from './talk.ts';
import { RawAnswer, type WebhookServer } from './webhook-server.ts';

const GROUP = '/apis/admissionregistration.k8s.io/v1';

type Hook = JsonObject & { readonly path?: string };

/** Webhooks of one kind of configuration, by the conversation's namespace alone. */
interface Given {
  readonly validating?: readonly Hook[];
  readonly mutating?: readonly Hook[];
}

const rule = (operations: readonly string[], resource: string): JsonObject => {
  const [apiGroups, resources] = resource.includes('.')
    ? [[resource.split('.').slice(1).join('.')], [resource.split('.')[0] ?? '']]
    : [[''], [resource]];
  return { operations, apiGroups, apiVersions: ['v1'], resources };
};

function webhook(
  talk: Talk,
  server: WebhookServer,
  { path = '/allow', ...given }: Hook,
): JsonObject {
  const matchLabels = { 'kubernetes.io/metadata.name': talk.namespace };
  return {
    name: `hook.${talk.namespace}.example`,
    clientConfig: { url: server.url(path), caBundle: server.caBundle },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    namespaceSelector: { matchLabels },
    ...given,
  };
}

const probe = (name: string): Hook => ({
  name: `probe.${name}.example`,
  path: '/probe',
  rules: [rule(['CREATE'], 'secrets')],
});

/** Creates the configurations, and waits until the server knows them. */
async function configure(talk: Talk, server: WebhookServer, given: Given): Promise<void> {
  server.at('/allow', () => ({ allowed: true }));
  server.at('/probe', () => ({ allowed: true }));
  const kinds = { Validating: given.validating, Mutating: given.mutating };
  for (const [kind, hooks] of Object.entries(kinds)) {
    if (hooks === undefined) continue;
    const webhooks = [...hooks, probe(kind.toLowerCase())].map((hook) =>
      webhook(talk, server, hook),
    );
    const body = { metadata: { name: talk.namespace }, webhooks };
    const path = `${GROUP}/${kind.toLowerCase()}webhookconfigurations`;
    const { status, body: said } = await talk.ask('POST', path, body);
    if (status !== 201) throw new Error(`the configuration was refused: ${JSON.stringify(said)}`);
  }
  const wanted = Object.values(kinds).filter((hooks) => hooks !== undefined).length;
  for (let attempt = 0; ; attempt += 1) {
    const path = `/api/v1/namespaces/${talk.namespace}/secrets?dryRun=All`;
    await talk.ask('POST', path, { metadata: { name: 'probe' } });
    const probes = server.take().filter(({ path: at }) => at.startsWith('/probe'));
    if (probes.length === wanted) return;
    if (attempt === 100) throw new Error('the webhooks are never called');
    await talk.pause();
  }
}

async function forget(talk: Talk): Promise<void> {
  for (const kind of ['validating', 'mutating']) {
    await talk.ask('DELETE', `${GROUP}/${kind}webhookconfigurations/${talk.namespace}`);
  }
}

/** What the webhooks saw since the last time; users are called otherwise on each server, and generated names too. */
function noteReviews(talk: Talk, server: WebhookServer): void {
  const reviews = server.take().map(({ path, request }) => {
    const { userInfo, ...rest } = request;
    const name = String(rest.name ?? '').replace(/^gen-.*/, '{generated}');
    return { path, ...rest, name, userInfo: Object.keys(userInfo).includes('username') };
  });
  // The real server shows an object again where its cache was behind.
  const seen = new Set<string>();
  const distinct = reviews.filter((review) => {
    const text = JSON.stringify({ ...review, uid: '' });
    return !seen.has(text) && seen.add(text) !== undefined;
  });
  talk.note('REVIEWS', { reviews: distinct });
}

const everything = ['CREATE', 'UPDATE', 'DELETE'];
const podBody = (name: string, members: JsonObject = {}): JsonObject => ({
  metadata: { name, labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image: 'main:1' }], ...members },
});
const setBody = (name: string): JsonObject => ({
  metadata: { name, labels: { app: name } },
  spec: {
    replicas: 1,
    serviceName: name,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'main', image: 'main:1' }] },
    },
  },
});
const jsonPatch = (operations: readonly JsonObject[]): JsonObject => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});

type Script = (talk: Talk, server: WebhookServer) => Promise<void>;

const scripts: Readonly<Record<string, Script>> = {
  'what webhooks see of a set': async (talk, server) => {
    const rules = [rule(everything, 'statefulsets.apps')];
    await configure(talk, server, { validating: [{ rules }], mutating: [{ rules }] });
    const path = `/apis/apps/v1/namespaces/${talk.namespace}/statefulsets`;
    const given = { ...setBody('web'), status: { replicas: 7, availableReplicas: 7 } };
    const { body } = await talk.send(
      'POST',
      `${path}?fieldManager=me&fieldValidation=Strict`,
      given,
    );
    noteReviews(talk, server);
    await talk.send('PATCH', `${path}/web`, { spec: { replicas: 2 } });
    noteReviews(talk, server);
    const changed = { ...body, metadata: { name: 'web' }, spec: { ...body.spec, replicas: 3 } };
    await talk.send('PUT', `${path}/web`, changed);
    noteReviews(talk, server);
    await talk.send('PATCH', `${path}/web`, {});
    noteReviews(talk, server);
    await talk.send('PATCH', `${path}/web/status`, { status: { replicas: 1 } });
    noteReviews(talk, server);
    await talk.send('PATCH', `${path}/web/scale`, { spec: { replicas: 1 } });
    noteReviews(talk, server);
    await talk.send('DELETE', `${path}/web`, { propagationPolicy: 'Background' });
    noteReviews(talk, server);
  },
  '[T44] a scale is shown as one, and only to those who ask for it': async (talk, server) => {
    await configure(talk, server, {
      validating: [
        { rules: [scaleRule()], path: '/scale' },
        { name: 'parent.test.example', rules: [rule(everything, 'statefulsets.apps')] },
        {
          name: 'labelled.test.example',
          path: '/labelled',
          rules: [scaleRule()],
          objectSelector: { matchLabels: { app: 'web' } },
        },
      ],
      mutating: [{ rules: [scaleRule()], path: '/mutate' }],
    });
    for (const at of ['/scale', '/mutate']) server.at(at, () => ({ allowed: true }));
    const path = `/apis/apps/v1/namespaces/${talk.namespace}/statefulsets`;
    await talk.send('POST', path, setBody('web'));
    noteReviews(talk, server);
    await talk.send('PATCH', `${path}/web/scale`, { spec: { replicas: 4 } });
    noteReviews(talk, server);
    const scale = { metadata: { name: 'web' }, spec: { replicas: 5 } };
    await talk.send('PUT', `${path}/web/scale`, scale);
    noteReviews(talk, server);
    server.at('/scale', ({ kind }) =>
      kind.kind === 'Scale' ? jsonPatch([{ op: 'replace', path: '/spec/replicas', value: 9 }]) : {},
    );
    await forget(talk);
    await configure(talk, server, { mutating: [{ rules: [scaleRule()], path: '/scale' }] });
    await talk.send('PUT', `${path}/web/scale`, scale);
    noteReviews(talk, server);
  },
  '[T45] selectors of objects and namespaces': async (talk, server) => {
    const rules = [rule(everything, 'configmaps')];
    await configure(talk, server, {
      validating: [
        { rules, path: '/a', objectSelector: { matchLabels: { app: 'a' } } },
        {
          name: 'elsewhere.test.example',
          rules,
          path: '/elsewhere',
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'elsewhere' } },
        },
      ],
    });
    for (const path of ['/a', '/elsewhere']) server.at(path, () => ({ allowed: true }));
    const path = `/api/v1/namespaces/${talk.namespace}/configmaps`;
    await talk.send('POST', path, { metadata: { name: 'b', labels: { app: 'b' } } });
    await talk.send('POST', path, { metadata: { name: 'a', labels: { app: 'a' } } });
    await talk.send('PATCH', `${path}/a`, { metadata: { labels: { app: 'b' } } });
    await talk.send('PATCH', `${path}/a`, { metadata: { labels: { app: 'c' } } });
    await talk.send('DELETE', `${path}/a`);
    noteReviews(talk, server);
  },
  '[T46] denials': async (talk, server) => {
    await configure(talk, server, { validating: [{ rules: [rule(everything, 'configmaps')] }] });
    const path = `/api/v1/namespaces/${talk.namespace}/configmaps`;
    const statuses: readonly (JsonObject | undefined)[] = [
      undefined,
      { message: 'because' },
      { reason: 'Forbidden' },
      { code: 200, message: 'fine' },
      { code: 403, message: 'no', reason: 'Forbidden' },
      { code: 429, message: 'later', reason: 'TooManyRequests', details: { retryAfterSeconds: 3 } },
      {
        status: 'Failure',
        code: 422,
        message: 'wrong',
        details: { name: 'n', kind: 'k', causes: [{ reason: 'r', message: 'm', field: 'f' }] },
      },
    ];
    for (const status of statuses) {
      server.at('/allow', () => ({ allowed: false, ...(status === undefined ? {} : { status }) }));
      await talk.send('POST', path, { metadata: { name: 'a' } });
    }
    server.at('/allow', () => ({ allowed: true, warnings: ['beware', 'of "quotes"'] }));
    await talk.send('POST', path, { metadata: { name: 'a' } });
    server.at('/allow', () => ({ allowed: false, warnings: ['beware'] }));
    await talk.send('PATCH', `${path}/a`, { data: { a: 'b' } });
    await talk.send('DELETE', `${path}/a`);
    await talk.send('DELETE', path);
  },
  '[T46] answers that are none': async (talk, server) => {
    await configure(talk, server, { validating: [{ rules: [rule(['CREATE'], 'configmaps')] }] });
    const path = `/api/v1/namespaces/${talk.namespace}/configmaps`;
    const http = (status: number, type: string, text: string): RawAnswer =>
      new RawAnswer(status, type, text);
    const answers: readonly (JsonObject | RawAnswer)[] = [
      http(500, 'text/plain', 'no luck\n'),
      http(500, 'application/json', '{}'),
      http(404, 'text/plain', '404 page not found'),
      http(403, 'text/plain', 'go away'),
      http(503, 'text/plain', 'busy'),
      http(302, 'text/plain', ''),
      http(200, 'application/json', '{}'),
      http(
        200,
        'application/json',
        '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}',
      ),
      http(200, 'application/json', '{"response":{"uid":"x","allowed":true}}'),
      { uid: 'another', allowed: true },
      { allowed: true, patch: 'W10=' },
      { allowed: true, patchType: 'JSONPatch' },
    ];
    for (const answer of answers) {
      server.at('/allow', () => answer);
      await talk.send('POST', path, { metadata: { name: 'a' } });
    }
  },
  '[T46] patches that are none': async (talk, server) => {
    await configure(talk, server, { mutating: [{ rules: [rule(everything, 'configmaps')] }] });
    const path = `/api/v1/namespaces/${talk.namespace}/configmaps`;
    const answers: readonly JsonObject[] = [
      { allowed: true, patch: 'W10=' },
      { allowed: true, patchType: 'JSONPatch' },
      { ...jsonPatch([]), patchType: '' },
      { ...jsonPatch([{ op: 'add', path: '/data', value: {} }]), patchType: 'Other' },
      jsonPatch([{ op: 'remove', path: '/data/none' }]),
      jsonPatch([{ op: 'add', path: '/metadata/namespace', value: 'other' }]),
      jsonPatch([{ op: 'add', path: '/metadata/uid', value: 'other' }]),
      jsonPatch([{ op: 'add', path: '/unknown', value: 'x' }]),
    ];
    for (const [index, answer] of answers.entries()) {
      server.at('/allow', () => answer);
      await talk.send('POST', path, { metadata: { name: `a${index}` }, data: { k: 'v' } });
    }
    server.at('/allow', () => jsonPatch([{ op: 'replace', path: '/data/k', value: 'changed' }]));
    await talk.send('POST', path, { metadata: { name: 'a' }, data: { k: 'v' } });
    await talk.send('PATCH', `${path}/a`, { data: { k: 'other' } });
    await talk.send('DELETE', `${path}/a`);
  },
  '[T46] a webhook that cannot be reached, and failure policies': async (talk, server) => {
    const rules = [rule(['CREATE'], 'configmaps')];
    const select = (name: string): JsonObject => ({
      name: `${name}.test.example`,
      rules,
      objectSelector: { matchLabels: { app: name } },
    });
    const refused = { url: 'https://127.0.0.1:1/nobody', caBundle: server.caBundle };
    const nowhere = { namespace: talk.namespace, name: 'nowhere', path: '/here' };
    await configure(talk, server, {
      validating: [
        { ...select('refused'), clientConfig: refused },
        { ...select('ignored'), clientConfig: refused, failurePolicy: 'Ignore' },
        { ...select('late'), path: '/late', timeoutSeconds: 1 },
        { ...select('lenient'), path: '/late', timeoutSeconds: 1, failurePolicy: 'Ignore' },
        { ...select('untrusted'), clientConfig: { url: server.url('/allow') } },
        { ...select('service'), clientConfig: { service: nowhere, caBundle: server.caBundle } },
      ],
    });
    server.at('/late', () => undefined);
    const path = `/api/v1/namespaces/${talk.namespace}/configmaps`;
    for (const app of ['refused', 'ignored', 'late', 'lenient', 'untrusted', 'service']) {
      await talk.send('POST', path, { metadata: { name: app, labels: { app } } });
    }
  },
  '[T46] the service form, through a name outside': async (talk, server) => {
    const service = {
      namespace: talk.namespace,
      name: 'outside',
      path: '/allow',
      port: server.port,
    };
    const rules = [rule(['CREATE'], 'configmaps')];
    await talk.send('POST', `/api/v1/namespaces/${talk.namespace}/services`, {
      metadata: { name: 'outside' },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    });
    await configure(talk, server, {
      validating: [{ rules, clientConfig: { service, caBundle: server.caBundle } }],
    });
    // Its certificate names another host.
    const path = `/api/v1/namespaces/${talk.namespace}/configmaps`;
    await talk.send('POST', path, { metadata: { name: 'a' } });
  },
  '[T46] the order of mutations, and a second round': async (talk, server) => {
    const rules = [rule(everything, 'configmaps')];
    const append = (letter: string) => (request: { object: { data: { order: string } } }) =>
      jsonPatch([
        { op: 'replace', path: '/data/order', value: `${request.object.data.order}${letter}` },
      ]);
    const hooks = ['b', 'a', 'd', 'c'].map((letter) => ({
      name: `${letter}.test.example`,
      path: `/${letter}`,
      rules,
      ...(['b', 'd'].includes(letter) ? { reinvocationPolicy: 'IfNeeded' } : {}),
    }));
    const late = {
      name: 'late.test.example',
      path: '/e',
      rules,
      reinvocationPolicy: 'IfNeeded',
      objectSelector: { matchLabels: { seen: 'yes' } },
    };
    await configure(talk, server, { mutating: [late, ...hooks] });
    for (const letter of ['a', 'b', 'd', 'e']) server.at(`/${letter}`, append(letter));
    server.at('/c', (request) =>
      request.object.metadata.labels?.seen === 'yes'
        ? { allowed: true }
        : jsonPatch([{ op: 'add', path: '/metadata/labels', value: { seen: 'yes' } }]),
    );
    const path = `/api/v1/namespaces/${talk.namespace}/configmaps`;
    await talk.send('POST', path, { metadata: { name: 'a' }, data: { order: '-' } });
    noteReviews(talk, server);
    await talk.send('PATCH', `${path}/a`, { data: { order: '+' } });
    noteReviews(talk, server);
  },
  '[T46] a dry run is told of, and a generated name': async (talk, server) => {
    const rules = [rule(everything, 'configmaps')];
    const sideEffects = 'NoneOnDryRun';
    await configure(talk, server, {
      validating: [{ rules, sideEffects }],
      mutating: [{ rules, sideEffects }],
    });
    const path = `/api/v1/namespaces/${talk.namespace}/configmaps`;
    await talk.send('POST', `${path}?dryRun=All`, { metadata: { name: 'a' } });
    await talk.send('POST', path, { metadata: { generateName: 'gen-' }, data: { a: 'b' } });
    const { body } = await talk.send('POST', path, { metadata: { name: 'a', uid: 'given' } });
    await talk.send('POST', path, { metadata: { name: 'a' } });
    await talk.send('PUT', `${path}/a`, { ...body, metadata: { name: 'a', resourceVersion: '1' } });
    await talk.send('PUT', `${path}/a`, { ...body, metadata: { name: 'a', uid: 'other' } });
    await talk.send('PATCH', `${path}/a?dryRun=All`, { data: { a: 'b' } });
    await talk.send('DELETE', `${path}/a?dryRun=All`);
    await talk.send('DELETE', `${path}/a`, { dryRun: ['All'], gracePeriodSeconds: 0 });
    await talk.send('DELETE', `${path}/none`);
    await talk.send('DELETE', `${path}/a`, { preconditions: { uid: 'other' } });
    noteReviews(talk, server);
    await talk.send('DELETE', path);
    const shown = server.take().map(({ request }) => [request.operation, request.name ?? null]);
    talk.note('REVIEWS', { reviews: shown.map((each) => JSON.stringify(each)).sort() });
  },
  '[T47] what goes, and how often webhooks hear of it': async (talk, server) => {
    const rules = [rule(['DELETE', 'UPDATE'], 'pods')];
    server.at('/mutate', () => ({ allowed: true }));
    const mutating = [{ rules, path: '/mutate' }];
    await configure(talk, server, { validating: [{ rules }], mutating });
    const path = `/api/v1/namespaces/${talk.namespace}/pods`;
    await talk.send('POST', path, podBody('bound', { nodeName: 'n1' }));
    await talk.send('DELETE', `${path}/bound`);
    noteReviews(talk, server);
    await talk.send('DELETE', `${path}/bound`);
    await talk.send('DELETE', `${path}/bound`, { gracePeriodSeconds: 60 });
    noteReviews(talk, server);
    await talk.send('DELETE', `${path}/bound`, { gracePeriodSeconds: 5 });
    noteReviews(talk, server);
    await talk.send('DELETE', `${path}/bound`, { gracePeriodSeconds: 0 });
    noteReviews(talk, server);
    await talk.send('POST', path, podBody('forced', { nodeName: 'n1' }));
    await talk.send('DELETE', `${path}/forced`, { gracePeriodSeconds: 0 });
    noteReviews(talk, server);
    await talk.send('POST', path, podBody('unbound'));
    await talk.send('DELETE', `${path}/unbound`);
    noteReviews(talk, server);
    const metadata = { name: 'held', finalizers: ['test.example/x'] };
    await talk.send('POST', path, { ...podBody('held'), metadata });
    await talk.send('DELETE', `${path}/held`);
    noteReviews(talk, server);
    await talk.send('DELETE', `${path}/held`);
    noteReviews(talk, server);
    await talk.send('PATCH', `${path}/held`, { metadata: { finalizers: null } });
    noteReviews(talk, server);
  },
  '[T47] an eviction and a binding': async (talk, server) => {
    const rules = [rule(['*'], 'pods/*')];
    await configure(talk, server, { validating: [{ rules }], mutating: [{ rules }] });
    const path = `/api/v1/namespaces/${talk.namespace}/pods`;
    await talk.send('POST', path, podBody('a'));
    server.take();
    const binding = { metadata: { name: 'a' }, target: { kind: 'Node', name: 'n1' } };
    await talk.send('POST', `${path}/a/binding`, binding);
    noteReviews(talk, server);
    await talk.send('PATCH', `${path}/a/status`, { status: { phase: 'Running' } });
    server.take();
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } };
    await talk.send('POST', `${path}/a/eviction?dryRun=All`, eviction);
    noteReviews(talk, server);
    const body = { ...eviction, deleteOptions: { gracePeriodSeconds: 7 } };
    await talk.send('POST', `${path}/a/eviction`, body);
    noteReviews(talk, server);
    await talk.send('POST', `${path}/none/eviction`, { ...eviction, metadata: { name: 'none' } });
    noteReviews(talk, server);
  },
  'a namespace is in itself': async (talk, server) => {
    const resources = ['namespaces'];
    const rules = [{ operations: everything, apiGroups: [''], apiVersions: ['v1'], resources }];
    const namespaceSelector = { matchLabels: { seen: talk.namespace } };
    await configure(talk, server, {
      validating: [
        { rules, namespaceSelector },
        { name: 'scope.test.example', rules: [{ ...rules[0], scope: 'Namespaced' }], path: '/no' },
      ],
    });
    const metadata = { name: `${talk.namespace}-x`, labels: { seen: talk.namespace } };
    await talk.send('POST', '/api/v1/namespaces', { metadata });
    noteReviews(talk, server);
    await talk.send('PATCH', `/api/v1/namespaces/${metadata.name}`, {
      metadata: { annotations: { a: 'b' } },
    });
    noteReviews(talk, server);
    await talk.send('DELETE', `/api/v1/namespaces/${metadata.name}`);
    noteReviews(talk, server);
  },
  'a configuration is kept, changed, shown as a table and deleted': async (talk, server) => {
    const rules = [rule(['CREATE'], 'configmaps')];
    const one = webhook(talk, server, { rules, name: 'one.test.example' });
    const { namespace: name } = talk;
    for (const kind of ['validating', 'mutating']) {
      const path = `${GROUP}/${kind}webhookconfigurations`;
      const { body } = await talk.send('POST', path, { metadata: { name }, webhooks: [one] });
      await talk.send('POST', path, { metadata: { name }, webhooks: [one] });
      await talk.send('PATCH', `${path}/${name}`, { metadata: { labels: { a: 'b' } } });
      const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
      const webhooks = [
        { name: 'one.test.example', timeoutSeconds: 3 },
        { ...one, name: 'two.test.example', foo: 'bar' },
      ];
      await talk.send('PATCH', `${path}/${name}`, { webhooks }, strategic);
      await talk.send('PUT', `${path}/${name}`, { metadata: { name }, webhooks: [one] });
      await talk.send('PUT', `${path}/${name}`, body);
      await talk.send('PUT', `${path}/${name}-none`, {
        ...body,
        metadata: { name: `${name}-none` },
      });
      await talk.send('GET', `${path}/${name}`, undefined, {
        accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
      });
      await talk.send('DELETE', `${path}/${name}`);
    }
  },
  'configurations that are refused': async (talk, server) => {
    const good = webhook(talk, server, { rules: [rule(['CREATE'], 'configmaps')] });
    const { caBundle } = server;
    const wrong: readonly JsonObject[] = [
      { name: 'short' },
      { name: '' },
      { name: 'Not.A.Name' },
      { sideEffects: 'Some' },
      { sideEffects: null },
      { timeoutSeconds: 0 },
      { timeoutSeconds: 31 },
      { failurePolicy: 'Maybe' },
      { matchPolicy: 'Maybe' },
      { admissionReviewVersions: [] },
      { admissionReviewVersions: ['v2'] },
      { admissionReviewVersions: ['v1', 'v1'] },
      { clientConfig: {} },
      { clientConfig: { url: 'http://a.example/x' } },
      { clientConfig: { url: 'https://u:p@a.example/x?a=b#c' } },
      { clientConfig: { url: 'https:///x' } },
      { clientConfig: { service: { name: 'a' } } },
      { clientConfig: { service: { name: 'a', namespace: 'b', port: 0, path: 'x' } } },
      { clientConfig: { service: { name: 'a', namespace: 'b', path: '/a//b/' } } },
      { clientConfig: { service: { name: 'a', namespace: 'b' }, url: 'https://a.example' } },
      { rules: [{}] },
      { rules: [{ ...rule(['*', 'CREATE', 'NONE'], 'pods'), apiGroups: ['*', 'apps'] }] },
      { rules: [{ ...rule(['CREATE'], 'pods'), apiVersions: [''], scope: 'Here' }] },
      { rules: [{ ...rule(['CREATE'], 'pods'), resources: ['*/*', 'pods', ''] }] },
      { rules: [{ ...rule(['CREATE'], 'pods'), resources: ['*', 'pods'] }] },
      { rules: [{ ...rule(['CREATE'], 'pods'), resources: ['pods/*', 'pods/status'] }] },
      { rules: [{ ...rule(['CREATE'], 'pods'), resources: ['*/scale', 'a/scale'] }] },
      { objectSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    ];
    const path = `${GROUP}/validatingwebhookconfigurations?dryRun=All`;
    for (const members of wrong) {
      const metadata = { name: talk.namespace };
      await talk.send('POST', path, { metadata, webhooks: [{ ...good, ...members }] });
    }
    const name = `${GROUP}/mutatingwebhookconfigurations?dryRun=All`;
    const metadata = { name: talk.namespace };
    await talk.send('POST', name, { metadata, webhooks: [{ ...good, reinvocationPolicy: 'x' }] });
    await talk.send('POST', name, { metadata, webhooks: [good, good] });
    await talk.send('POST', name, { metadata });
    const service = { name: 'a', namespace: 'b' };
    const whole = { ...good, clientConfig: { service, caBundle }, matchPolicy: 'Exact' };
    await talk.send('POST', name, { metadata, webhooks: [whole] });
  },
};

function scaleRule(): JsonObject {
  return {
    operations: everything,
    apiGroups: ['apps'],
    apiVersions: ['v1'],
    resources: ['statefulsets/scale'],
  };
}

/** All of them, with the webhooks at `server`. */
export function admission(server: () => WebhookServer): Readonly<Record<string, Conversation>> {
  const conversations = Object.entries(scripts).map(([name, script]) => {
    const conversation: Conversation = async (talk) => {
      server().take();
      try {
        await script(talk, server());
      } finally {
        await forget(talk);
      }
    };
    return [`webhooks: ${name}`, conversation] as const;
  });
  return Object.fromEntries(conversations);
}
