/* oxlint-disable typescript/no-unsafe-assignment -- answers are looked into by path, and a wrong path fails the conversation */
/** Conversations about single rules of the protocol, by their numbers in embedded-cluster §24. */
import { podBody, resources, setBody } from './resources.ts';
import type { Conversation, Talk } from './talk.ts';

const configMaps = (talk: Talk): string => `/api/v1/namespaces/${talk.namespace}/configmaps`;
const pods = (talk: Talk): string => `/api/v1/namespaces/${talk.namespace}/pods`;
const sets = (talk: Talk): string => `/apis/apps/v1/namespaces/${talk.namespace}/statefulsets`;
const json = { 'content-type': 'application/json-patch+json' };
const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };
const strategic = { 'content-type': 'application/strategic-merge-patch+json' };

function configMap(name: string, members: object = {}): Record<string, never> {
  return { metadata: { name }, ...members } as unknown as Record<string, never>;
}

/** Queries that a list refuses, or does not. */
const listQueries: Readonly<Record<string, string>> = {
  'a revision that is no number': 'resourceVersion=x',
  'a match without a revision': 'resourceVersionMatch=Exact',
  'Exact at revision 0': 'resourceVersionMatch=Exact&resourceVersion=0',
  'an unknown match': 'resourceVersionMatch=Near&resourceVersion=5',
  'a broken token': 'continue=abc',
  'a malformed limit': 'limit=many',
  'a negative limit': 'limit=-1',
  'initial events': 'sendInitialEvents=true',
  'a bad label selector': 'labelSelector=a%20b',
  'a label selector with an unknown operator': 'labelSelector=a%3E%3E1',
  'an unknown field label': 'fieldSelector=spec.foo%3D1',
  'a field selector without a value': 'fieldSelector=metadata.name',
  'NotOlderThan from 0': 'resourceVersionMatch=NotOlderThan&resourceVersion=0',
  'a token together with a revision': 'continue=abc&resourceVersion=5',
  'a timeout that is no number': 'timeoutSeconds=soon',
  'a revision of the future': 'resourceVersion=999999999999',
};

const watchQueries: Readonly<Record<string, string>> = {
  'initial events without a match': 'sendInitialEvents=true',
  'a match without initial events': 'resourceVersionMatch=NotOlderThan',
  'Exact with initial events': 'sendInitialEvents=true&resourceVersionMatch=Exact',
  'a revision that is no number': 'resourceVersion=x',
  'an unknown field label': 'fieldSelector=spec.foo%3D1',
  'a bad label selector': 'labelSelector=a%20b',
};

const setChanges: Readonly<Record<string, object>> = {
  'the selector': { spec: { selector: { matchLabels: { app: 'x', other: 'y' } } } },
  'the service name': { spec: { serviceName: 'other' } },
  'the pod management policy': { spec: { podManagementPolicy: 'Parallel' } },
  'negative replicas': { spec: { replicas: -1 } },
  'a partition below 0': { spec: { updateStrategy: { rollingUpdate: { partition: -1 } } } },
  'an unknown strategy': { spec: { updateStrategy: { type: 'Sometimes' } } },
  'OnDelete with the old rollingUpdate': { spec: { updateStrategy: { type: 'OnDelete' } } },
  'OnDelete alone': { spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } } },
  'no replicas': { spec: { replicas: null } },
  'a template without its labels': { spec: { template: { metadata: { labels: null } } } },
  'a restart policy': { spec: { template: { spec: { restartPolicy: 'Never' } } } },
  'an empty image': { spec: { template: { spec: { containers: [{ name: 'app', image: '' }] } } } },
  'two containers of one name': {
    spec: { template: { spec: { containers: [1, 2].map(() => ({ name: 'app', image: 'a' })) } } },
  },
  'a bad container name': {
    spec: { template: { spec: { containers: [{ name: 'App_1', image: 'a' }] } } },
  },
  'a start ordinal': { spec: { ordinals: { start: 3 } } },
  'a bad label value': { metadata: { labels: { a: 'b c' } } },
  'a bad annotation key': { metadata: { annotations: { 'a b': 'c' } } },
  'minReadySeconds below 0': { spec: { minReadySeconds: -1 } },
  'the status': { status: { replicas: 7 } },
  'a wrong type': { spec: { replicas: 'three' } },
  'a fraction': { spec: { replicas: 1.5 } },
};

const podChanges: Readonly<Record<string, object>> = {
  'the image': { spec: { containers: [{ name: 'app', image: 'app:2' }] } },
  'the node': { spec: { nodeName: 'n2' } },
  'a toleration': { spec: { tolerations: [{ key: 'a', operator: 'Exists' }] } },
  'the restart policy': { spec: { restartPolicy: 'Never' } },
  'a label': { metadata: { labels: { a: 'b' } } },
  'the phase': { status: { phase: 'Running' } },
  'another uid': { metadata: { uid: 'x', annotations: { a: 'b' } } },
  'the deletion timestamp': { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } },
};

const jsonPatches: Readonly<Record<string, unknown>> = {
  'a test that holds': [{ op: 'test', path: '/data/a', value: '1' }],
  'a test that fails': [{ op: 'test', path: '/data/a', value: '2' }],
  'a path that is not there': [{ op: 'replace', path: '/data/x/y', value: '1' }],
  'the removal of nothing': [{ op: 'remove', path: '/data/x' }],
  'an unknown operation': [{ op: 'frobnicate', path: '/data/x' }],
  'an addition without a parent': [{ op: 'add', path: '/metadata/annotations/a', value: 'b' }],
  'a move': [{ op: 'move', from: '/data/a', path: '/data/c' }],
  'a copy': [{ op: 'copy', from: '/data/a', path: '/data/c' }],
  'no list': { op: 'test' },
  'a test of the uid that fails': [{ op: 'test', path: '/metadata/uid', value: 'x' }],
};

function each<Value>(
  cases: Readonly<Record<string, Value>>,
  about: (sentence: string) => string,
  script: (talk: Talk, value: Value) => Promise<void>,
): Record<string, Conversation> {
  return Object.fromEntries(
    Object.entries(cases).map(([sentence, value]): [string, Conversation] => [
      about(sentence),
      (talk) => script(talk, value),
    ]),
  );
}

/** Keyed by a sentence. */
export const protocol: Readonly<Record<string, Conversation>> = {
  '[T03] a namespace that does not exist': async (talk) => {
    await talk.send('POST', '/api/v1/namespaces/nowhere/configmaps', configMap('a'));
    await talk.send('GET', '/api/v1/namespaces/nowhere/configmaps');
    await talk.send('GET', '/api/v1/namespaces/nowhere');
  },
  '[T03] a namespace that ends': async (talk) => {
    await talk.send('DELETE', `/api/v1/namespaces/${talk.namespace}`);
    await talk.send('POST', configMaps(talk), configMap('a'));
    await talk.send('GET', `/api/v1/namespaces/${talk.namespace}`);
    await talk.send('DELETE', `/api/v1/namespaces/${talk.namespace}`);
  },
  '[T03] paths and verbs that are not served': async (talk) => {
    await talk.send('GET', '/apis/none/v1/things');
    await talk.send('POST', `${pods(talk)}/a`, {});
    await talk.send('PUT', pods(talk), {});
    await talk.send('GET', `/api/v1/namespaces/${talk.namespace}/nonsense`);
    await talk.send('GET', `${sets(talk)}/a/nonsense`);
  },
  '[T03] a body in another namespace, or with a version': async (talk) => {
    const path = configMaps(talk);
    await talk.send('POST', path, { metadata: { name: 'a', namespace: 'other' } });
    await talk.send('POST', path, { metadata: { name: 'a', resourceVersion: '7' } });
    await talk.send('POST', path, { metadata: { name: 'a', uid: 'mine', generation: 9 } });
  },
  '[T03] a body that is too large, and content that is not known': async (talk) => {
    const path = configMaps(talk);
    await talk.send('POST', path, configMap('a', { data: { a: 'x'.repeat(3_200_000) } }));
    await talk.send('POST', path, configMap('a'), { 'content-type': 'text/plain' });
    await talk.send('GET', path, undefined, { accept: 'text/html' });
    await talk.send('POST', path, configMap('b'), { 'content-type': 'application/yaml' });
    await talk.send('PATCH', `${path}/b`, {}, { 'content-type': 'application/json' });
  },
  '[T03] a patch of what is not there, of a type that is not known': async (talk) => {
    await talk.send('PATCH', `${configMaps(talk)}/none`, {}, { 'content-type': 'text/plain' });
    await talk.send('PATCH', `${sets(talk)}/none/scale`, {}, { 'content-type': 'text/plain' });
  },
  '[T06] a list is no older than what was written': async (talk) => {
    await talk.send('POST', configMaps(talk), configMap('a'));
    await talk.send('POST', pods(talk), podBody('b'));
    await talk.send('GET', configMaps(talk));
  },
  '[T07] a stale PUT and a plain PATCH': async (talk) => {
    const { body } = await talk.send('POST', configMaps(talk), configMap('a'));
    await talk.send('PATCH', `${configMaps(talk)}/a`, { data: { x: '1' } });
    await talk.send('PUT', `${configMaps(talk)}/a`, body);
    await talk.send('PATCH', `${configMaps(talk)}/a`, { data: { y: '2' } });
  },
  '[T08] the generation of a set': async (talk) => {
    const path = `${sets(talk)}/web`;
    await talk.send('POST', sets(talk), setBody('web'));
    await talk.send('PATCH', path, { metadata: { labels: { a: 'b' } } });
    await talk.send('PATCH', `${path}/status`, { status: { replicas: 1 } });
    await talk.send('PATCH', path, { spec: { replicas: 2 } });
    await talk.send('PATCH', path, { metadata: { finalizers: ['test.example/y'] } });
    await talk.send('DELETE', path);
    await talk.send('GET', path);
  },
  '[T09] the status of a set': async (talk) => {
    const path = `${sets(talk)}/web`;
    const { body } = await talk.send('POST', sets(talk), setBody('web'));
    const annotations = { a: '1' };
    const change = { metadata: { annotations }, spec: { replicas: 5 }, status: { replicas: 3 } };
    await talk.send('PATCH', `${path}/status`, change);
    await talk.send('PATCH', path, { spec: { replicas: 5 }, status: { replicas: 9 } });
    await talk.send('PUT', `${path}/status`, body);
    const { body: now } = await talk.send('GET', `${path}/status`);
    const status = { ...now.status, currentRevision: 'web-1', updateRevision: 'web-1' };
    await talk.send('PUT', `${path}/status`, { ...now, status });
    await talk.send('PUT', `${path}/status`, { ...now, status });
  },
  '[T09] the status of a set that is refused': async (talk) => {
    await talk.send('POST', sets(talk), setBody('web'));
    for (const status of [
      { replicas: -1 },
      { replicas: 1, readyReplicas: 2 },
      { replicas: 1, availableReplicas: 2 },
      { observedGeneration: -1 },
    ]) {
      await talk.send('PATCH', `${sets(talk)}/web/status`, { status });
    }
  },
  '[T09] the status of a pod': async (talk) => {
    const path = `${pods(talk)}/a`;
    await talk.send('POST', pods(talk), podBody('a', { nodeName: 'n1' }));
    const conditions = [
      { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
    ];
    const status = { phase: 'Running', conditions };
    await talk.send('PATCH', `${path}/status`, { status }, strategic);
    await talk.send('PATCH', `${path}/status`, { spec: { nodeName: 'n2' } });
    await talk.send('GET', `${path}/status`);
    await talk.send('PATCH', path, { status: { phase: 'Failed' } });
  },
  '[T11] a bound pod goes gracefully': async (talk) => {
    const path = `${pods(talk)}/a`;
    await talk.send('POST', pods(talk), podBody('a', { nodeName: 'n1' }));
    const { body } = await talk.send('GET', path);
    const from = body.metadata.resourceVersion;
    const watch = await talk.watch(
      `${pods(talk)}?watch=1&fieldSelector=metadata.name%3Da&resourceVersion=${from}`,
    );
    await talk.send('DELETE', path);
    await talk.send('DELETE', path);
    await talk.send('DELETE', path, { gracePeriodSeconds: 60 });
    await talk.send('DELETE', path, { gracePeriodSeconds: 5 });
    await talk.send('PATCH', path, { metadata: { annotations: { late: 'yes' } } });
    await talk.send('POST', pods(talk), podBody('a'));
    await talk.send('DELETE', path, { gracePeriodSeconds: 0 });
    await talk.send('GET', path);
    await watch.seen(4);
  },
  '[T11] unbound and finished pods go at once': async (talk) => {
    await talk.send('POST', pods(talk), podBody('a'));
    await talk.send('DELETE', `${pods(talk)}/a`);
    await talk.send('GET', `${pods(talk)}/a`);
    for (const phase of ['Failed', 'Succeeded', 'Pending', 'Running']) {
      const name = phase.toLowerCase();
      await talk.send('POST', pods(talk), podBody(name, { nodeName: 'n1' }));
      await talk.send('PATCH', `${pods(talk)}/${name}/status`, { status: { phase } });
      await talk.send('DELETE', `${pods(talk)}/${name}`);
      await talk.send('GET', `${pods(talk)}/${name}`);
    }
  },
  '[T11] a pod with a grace period of 0, 1 or below': async (talk) => {
    for (const period of [0, 1, -1]) {
      const name = `p${period + 1}`;
      const members = { nodeName: 'n1', terminationGracePeriodSeconds: period };
      await talk.send('POST', pods(talk), podBody(name, members));
      await talk.send('DELETE', `${pods(talk)}/${name}`);
      await talk.send('GET', `${pods(talk)}/${name}`);
    }
  },
  '[T12] a pod is deleted under the preconditions of a rollout': async (talk) => {
    const path = `${pods(talk)}/a`;
    const { body } = await talk.send('POST', pods(talk), podBody('a', { nodeName: 'n1' }));
    const { uid, resourceVersion } = body.metadata;
    await talk.send('PATCH', path, { metadata: { uid, annotations: { fenced: 'x' } } });
    await talk.send('DELETE', path, { preconditions: { uid, resourceVersion } });
    await talk.send('PATCH', path, { metadata: { uid: 'other', annotations: { fenced: 'y' } } });
    const { body: now } = await talk.send('GET', path);
    const current = now.metadata.resourceVersion;
    await talk.send('DELETE', path, { preconditions: { uid, resourceVersion: current } });
    await talk.send('DELETE', path, { preconditions: { uid, resourceVersion: current } });
    await talk.send('DELETE', path, { preconditions: { uid } });
    await talk.send('DELETE', path, { gracePeriodSeconds: 0, preconditions: { uid } });
    await talk.send('DELETE', path, { preconditions: { uid } });
  },
  '[T14] a create while the old one is going': async (talk) => {
    const path = configMaps(talk);
    await talk.send('POST', path, { metadata: { name: 'a', finalizers: ['test.example/x'] } });
    await talk.send('DELETE', `${path}/a`);
    await talk.send('POST', path, configMap('a'));
    await talk.send('POST', path, { metadata: { generateName: 'web-' } });
  },
  '[T15] resourceVersion=0 with a limit': async (talk) => {
    for (const name of ['a', 'b', 'c']) await talk.send('POST', configMaps(talk), configMap(name));
    // A cache answers, which may lag; a consistent read lets it catch up.
    await talk.send('GET', configMaps(talk));
    await talk.send('GET', `${configMaps(talk)}?limit=2&resourceVersion=0`);
  },
  '[T15] an exact revision shows the state of then': async (talk) => {
    const { body } = await talk.send('POST', configMaps(talk), configMap('a'));
    await talk.send('DELETE', `${configMaps(talk)}/a`);
    const query = `resourceVersion=${body.metadata.resourceVersion}&resourceVersionMatch=Exact`;
    const { body: then } = await talk.send('GET', `${configMaps(talk)}?${query}`);
    if (then.metadata.resourceVersion !== body.metadata.resourceVersion) {
      throw new Error('the list has another revision than it was asked for');
    }
  },
  '[T16] a watch from a deletion does not see it again': async (talk) => {
    const path = configMaps(talk);
    const { body } = await talk.send('POST', path, configMap('a'));
    const watch = await talk.watch(
      `${path}?watch=1&fieldSelector=metadata.name%3Da&resourceVersion=${body.metadata.resourceVersion}`,
    );
    await talk.send('PATCH', `${path}/a`, { data: { k: 'v' } });
    await talk.send('DELETE', `${path}/a`);
    const events = await watch.seen(2);
    const from = events[1]?.object.metadata.resourceVersion;
    const again = await talk.watch(
      `${path}?watch=1&fieldSelector=metadata.name%3Da&resourceVersion=${from}`,
    );
    await talk.send('POST', path, configMap('a'));
    await again.seen(1);
  },
  '[T20] a watch without a revision, with and without bookmarks': async (talk) => {
    const path = configMaps(talk);
    await talk.send('POST', path, configMap('a'));
    const field = 'fieldSelector=metadata.name%3Da';
    const marked = await talk.watch(`${path}?watch=1&allowWatchBookmarks=true&${field}`);
    await marked.seen(2);
    const plain = await talk.watch(`${path}?watch=1&resourceVersion=0&${field}`);
    await plain.seen(1);
  },
  '[T02] lists as Tables': async (talk) => {
    await talk.send('POST', pods(talk), podBody('a'));
    await talk.send('POST', sets(talk), setBody('web'));
    await talk.send('POST', configMaps(talk), configMap('a', { data: { a: '1' } }));
    const budgets = `/apis/policy/v1/namespaces/${talk.namespace}/poddisruptionbudgets`;
    await talk.send('POST', budgets, {
      metadata: { name: 'web' },
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } },
    });
    for (const path of [pods(talk), sets(talk), configMaps(talk), budgets]) {
      await talk.send('GET', `${path}?limit=500`, undefined, table);
    }
    await talk.send('GET', `${pods(talk)}/a`, undefined, table);
    await talk.send('GET', `${pods(talk)}?includeObject=None`, undefined, table);
    await talk.send('GET', `${pods(talk)}?includeObject=Half`, undefined, table);
  },
  '[T04] times are whole seconds, and micros where the type says so': async (talk) => {
    await talk.send('POST', configMaps(talk), configMap('a'));
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${talk.namespace}/leases`;
    const spec = { holderIdentity: 'x', renewTime: '2026-01-01T00:00:00.500000Z' };
    await talk.send('POST', leases, { metadata: { name: 'a' }, spec });
    for (const fraction of ['', '.5', '.1234567', '.000001']) {
      const acquireTime = `2026-01-01T00:00:00${fraction}Z`;
      await talk.send('PATCH', `${leases}/a`, { spec: { acquireTime } });
    }
    await talk.send('PATCH', `${leases}/a`, { spec: { acquireTime: 'soon' } });
  },
  '[T24] a JSON patch is all or nothing': async (talk) => {
    await talk.send('POST', configMaps(talk), configMap('a', { data: { a: '1' } }));
    const operations = [
      { op: 'replace', path: '/data/a', value: '2' },
      { op: 'test', path: '/data/a', value: '1' },
    ];
    await talk.send('PATCH', `${configMaps(talk)}/a`, operations, json);
    await talk.send('GET', `${configMaps(talk)}/a`);
  },
  '[T28] what apply sends, twice, and as a dry run': async (talk) => {
    const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
    const field = 'fieldManager=kubectl-client-side-apply&fieldValidation=Strict';
    const body = setBody('web');
    const annotations = { [lastApplied]: '{}' };
    await talk.send('POST', `${sets(talk)}?${field}`, {
      ...body,
      metadata: { name: 'web', annotations },
    });
    const containers = [{ name: 'app', image: 'app:2' }];
    const $setElementOrder = '$setElementOrder/containers';
    const template = { spec: { containers, [$setElementOrder]: [{ name: 'app' }] } };
    const spec = { template };
    const change = { metadata: { annotations: { [lastApplied]: '{"a":1}' } }, spec };
    const path = `${sets(talk)}/web?${field}`;
    await talk.send('PATCH', `${path}&dryRun=All`, change, strategic);
    await talk.send('GET', `${sets(talk)}/web`);
    await talk.send('PATCH', path, change, strategic);
    await talk.send('PATCH', path, change, strategic);
  },
  '[T40] an eviction while the budget is not yet processed': async (talk) => {
    await talk.send('POST', pods(talk), {
      ...podBody('a', { nodeName: 'n1' }, { labels: { app: 'web' } }),
    });
    const conditions = [{ type: 'Ready', status: 'True' }];
    const status = { phase: 'Running', conditions };
    await talk.send('PATCH', `${pods(talk)}/a/status`, { status }, strategic);
    const budgets = `/apis/policy/v1/namespaces/${talk.namespace}/poddisruptionbudgets`;
    await talk.send('POST', budgets, {
      metadata: { name: 'web' },
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } },
    });
    const eviction = { metadata: { name: 'a', namespace: talk.namespace } };
    await talk.send('POST', `${pods(talk)}/a/eviction`, eviction);
    await talk.send('POST', `${pods(talk)}/none/eviction`, { metadata: { name: 'none' } });
    await talk.send('POST', `${pods(talk)}/a/eviction`, { metadata: { name: 'b' } });
    await talk.send('DELETE', `${budgets}/web`);
    await talk.send('POST', `${pods(talk)}/a/eviction?dryRun=All`, eviction);
    await talk.send('POST', `${pods(talk)}/a/eviction`, eviction);
  },
  'a watch of one object by its path': async (talk) => {
    await talk.send('GET', `${configMaps(talk)}/a?watch=true`);
    await talk.send('POST', configMaps(talk), configMap('a'));
    await talk.send('GET', `${configMaps(talk)}/a?watch=true`);
  },
  'the scale of a set as a Table': async (talk) => {
    await talk.send('POST', sets(talk), setBody('db'));
    await talk.send('GET', `${sets(talk)}/db/scale`, undefined, table);
    await talk.send(
      'PATCH',
      `${sets(talk)}/db/scale`,
      { spec: { replicas: 2 } },
      {
        ...table,
        'content-type': 'application/merge-patch+json',
      },
    );
  },
  'a definition that is deleted while an instance is held': async (talk) => {
    const plural = talk.namespace.replace('-', '');
    const group = 'demo.example.com';
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const schema = { openAPIV3Schema: { type: 'object' } };
    await talk.ask('POST', definitions, {
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural, kind: 'Held' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    });
    const path = `/apis/${group}/v1/namespaces/${talk.namespace}/${plural}`;
    while ((await talk.ask('GET', path)).status !== 200) await talk.pause();
    await talk.ask('POST', path, {
      apiVersion: `${group}/v1`,
      kind: 'Held',
      metadata: { name: 'a', finalizers: ['demo.example.com/held'] },
    });
    await talk.send('DELETE', `${definitions}/${plural}.${group}`);
    await talk.ask('DELETE', `${path}/a`);
    while ((await talk.ask('GET', `${path}/a`)).body.metadata.deletionTimestamp === undefined) {
      await talk.pause();
    }
    const release = { op: 'remove', path: '/metadata/finalizers' };
    await talk.send('PATCH', `${path}/a`, [release] as never, json);
  },
  'the scale of a set': async (talk) => {
    const path = `${sets(talk)}/web/scale`;
    const { body } = await talk.send('POST', sets(talk), setBody('web'));
    await talk.send('GET', path);
    await talk.send('PATCH', path, { spec: { replicas: 4 } });
    const { resourceVersion } = body.metadata;
    await talk.send('PUT', path, {
      metadata: { name: 'web', resourceVersion },
      spec: { replicas: 1 },
    });
    await talk.send('PUT', path, { metadata: { name: 'web' }, spec: { replicas: 1 } });
    await talk.send('PATCH', path, { spec: { replicas: -1 } });
    await talk.send('GET', `${sets(talk)}/none/scale`);
  },
  'a pod is bound once': async (talk) => {
    const path = `${pods(talk)}/a`;
    await talk.send('POST', pods(talk), podBody('a'));
    const binding = { metadata: { name: 'a' }, target: { kind: 'Node', name: 'n1' } };
    await talk.send('POST', `${path}/binding`, binding);
    await talk.send('GET', path);
    await talk.send('POST', `${path}/binding`, binding);
    await talk.send('POST', `${pods(talk)}/none/binding`, binding);
  },
  'a namespace is finalized': async (talk) => {
    const path = `/api/v1/namespaces/${talk.namespace}`;
    await talk.send('DELETE', `${path}/serviceaccounts/default`);
    await talk.send('DELETE', path);
    const { body } = await talk.send('GET', path);
    await talk.send('PUT', `${path}/finalize`, { ...body, spec: { finalizers: [] } });
    await talk.send('GET', path);
  },
  'a namespace that may not go': async (talk) => {
    await talk.send('DELETE', '/api/v1/namespaces/kube-system');
    await talk.send('DELETE', '/api/v1/namespaces/default');
  },
  'health and version': async (talk) => {
    await talk.send('GET', '/readyz');
    await talk.send('GET', '/livez');
    await talk.send('GET', '/version');
  },
  'the limit of a rolling update is stored only where its feature is on': async (talk) => {
    const rollingUpdate = { maxUnavailable: 2 };
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate };
    await talk.send('POST', sets(talk), setBody('web', { updateStrategy }));
  },
  'a set with claims, probes and everything': async (talk) => {
    await talk.send('POST', sets(talk), {
      metadata: { name: 'web', labels: { 'rollout-group': 'g' } },
      spec: {
        replicas: 0,
        serviceName: 'web',
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } },
        selector: { matchLabels: { app: 'web' } },
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: {
              accessModes: ['ReadWriteOnce'],
              resources: { requests: { storage: '10Gi' } },
            },
          },
        ],
        template: {
          metadata: { labels: { app: 'web' } },
          spec: {
            containers: [
              {
                name: 'app',
                image: 'app',
                ports: [{ containerPort: 80, name: 'http' }],
                env: [{ name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
                readinessProbe: { httpGet: { path: '/ready', port: 'http' } },
                livenessProbe: { tcpSocket: { port: 80 }, periodSeconds: 3 },
                resources: { limits: { cpu: '1', memory: '1Gi' } },
                volumeMounts: [{ name: 'data', mountPath: '/data' }],
              },
            ],
            initContainers: [{ name: 'init', image: 'init:1' }],
            volumes: [
              { name: 'config', configMap: { name: 'config' } },
              { name: 'scratch', emptyDir: {} },
            ],
            affinity: {
              podAntiAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: [
                  {
                    labelSelector: { matchLabels: { app: 'web' } },
                    topologyKey: 'kubernetes.io/hostname',
                  },
                ],
              },
            },
          },
        },
      },
    });
  },
  '[T25] a strategic patch merges containers by name': async (talk) => {
    const path = `${sets(talk)}/web`;
    await talk.send('POST', sets(talk), setBody('web'));
    const patch = async (spec: object): Promise<unknown> =>
      talk.send('PATCH', path, { spec: { template: { spec } } } as never, strategic);
    await patch({ containers: [{ name: 'app', image: 'app:2' }] });
    await patch({ containers: [{ name: 'side', image: 'side:1' }] });
    await patch({ containers: [{ name: 'app', env: [{ name: 'A', value: '1' }] }] });
    await patch({ containers: [{ name: 'app', env: [{ name: 'B', value: '2' }] }] });
    await patch({ containers: [{ name: 'side', $patch: 'delete' }] });
    await patch({ containers: [{ name: 'none', $patch: 'delete' }] });
  },
  ...each(
    listQueries,
    (query) => `[T03] a list with ${query}`,
    async (talk, query) => {
      await talk.send('GET', `${configMaps(talk)}?${query}`);
    },
  ),
  ...each(
    watchQueries,
    (query) => `[T19] a watch with ${query}`,
    async (talk, query) => {
      await talk.send('GET', `${configMaps(talk)}?watch=1&timeoutSeconds=1&${query}`);
    },
  ),
  ...each(
    setChanges,
    (change) => `a set with ${change}`,
    async (talk, change) => {
      await talk.send('POST', sets(talk), setBody('web'));
      await talk.send('PATCH', `${sets(talk)}/web`, change as never);
      await talk.send('GET', `${sets(talk)}/web`);
    },
  ),
  ...each(
    podChanges,
    (change) => `a pod with ${change}`,
    async (talk, change) => {
      await talk.send('POST', pods(talk), podBody('a', { nodeName: 'n1' }));
      await talk.send('PATCH', `${pods(talk)}/a`, change as never);
      await talk.send('GET', `${pods(talk)}/a`);
    },
  ),
  ...each(
    jsonPatches,
    (patch) => `[T24] a JSON patch with ${patch}`,
    async (talk, patch) => {
      const { path, body } = resources['configmaps'] ?? { path: () => '', body: () => ({}) };
      await talk.send('POST', path(talk.namespace), body('a', talk.namespace));
      await talk.send('PATCH', `${path(talk.namespace)}/a`, patch as never, json);
    },
  ),
};
