/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-return -- answers are looked into by path, and a wrong path fails the conversation */
/** Conversations about what webhooks are shown, and how often (AD-*). */
import type { JsonObject } from '#base/json.ts';
import {
  configure,
  everything,
  forget,
  jsonPatch,
  noteReviews,
  rule,
  type Script,
} from './webhook-words.ts';

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

function scaleRule(): JsonObject {
  return {
    operations: everything,
    apiGroups: ['apps'],
    apiVersions: ['v1'],
    resources: ['statefulsets/scale'],
  };
}

/** Keyed by a sentence. */
export const webhookReviews: Readonly<Record<string, Script>> = {
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
  '[cluster 44] a scale is shown as one, and only to those who ask for it': async (
    talk,
    server,
  ) => {
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
  '[cluster 45] selectors of objects and namespaces': async (talk, server) => {
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
  '[cluster 46] a dry run is reported, and a generated name': async (talk, server) => {
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
  '[cluster 47] what goes, and how often webhooks hear of it': async (talk, server) => {
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
  '[cluster 47] an eviction and a binding': async (talk, server) => {
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
  '[cluster 47] an eviction that a budget allows writes its status': async (talk, server) => {
    const { namespace } = talk;
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    const budgets = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;
    await talk.send('POST', pods, podBody('a', { nodeName: 'n1' }));
    const condition = { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
    const running = { phase: 'Running', conditions: [condition] };
    await talk.send('PATCH', `${pods}/a/status`, { status: running });
    const selector = { matchLabels: { app: 'web' } };
    const body = { metadata: { name: 'b' }, spec: { maxUnavailable: 1, selector } };
    await talk.send('POST', budgets, body);
    const counts = { currentHealthy: 1, desiredHealthy: 0, expectedPods: 1 };
    const status = { ...counts, disruptionsAllowed: 1, observedGeneration: 1 };
    await talk.send('PATCH', `${budgets}/b/status`, { status });
    const rules = [{ ...rule(everything, 'x'), apiGroups: ['*'], resources: ['*/*'] }];
    const scoped = rules.map((each) => ({ ...each, apiVersions: ['*'], scope: 'Namespaced' }));
    server.at('/mutate', () => ({ allowed: true }));
    const mutating = [{ rules: scoped, path: '/mutate' }];
    await configure(talk, server, { validating: [{ rules: scoped }], mutating });
    server.take();
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } };
    await talk.send('POST', `${pods}/a/eviction`, eviction);
    const seen = server.take().map(({ path, request }) => {
      const { userInfo, operation, requestKind, subResource = '', options } = request;
      const isServer = userInfo.username === 'system:apiserver';
      return { path, operation, kind: requestKind.kind, subResource, options, isServer };
    });
    talk.note('REVIEWS', { seen });
    await talk.send('GET', `${budgets}/b`);
    server.at('/allow', ({ requestSubResource }) => ({ allowed: requestSubResource !== 'status' }));
    await talk.send('PATCH', `${budgets}/b/status`, { status });
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
};
