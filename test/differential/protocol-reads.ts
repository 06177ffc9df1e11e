/* oxlint-disable typescript/no-unsafe-assignment -- answers are looked into by path, and a wrong path fails the conversation */
/** Conversations about lists, watches and Tables, by the numbers of the embedded cluster's scenarios. */
import { configMap, configMaps, each, pods, sets, table } from './protocol-words.ts';
import { podBody, setBody } from './resources.ts';
import type { Conversation } from './talk.ts';

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

/** Keyed by a sentence. */
export const protocolReads: Readonly<Record<string, Conversation>> = {
  '[cluster 2] lists as Tables': async (talk) => {
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
  '[cluster 3] paths and verbs that are not served': async (talk) => {
    await talk.send('GET', '/apis/none/v1/things');
    await talk.send('POST', `${pods(talk)}/a`, {});
    await talk.send('PUT', pods(talk), {});
    await talk.send('GET', `/api/v1/namespaces/${talk.namespace}/nonsense`);
    await talk.send('GET', `${sets(talk)}/a/nonsense`);
  },
  'parts that only a real cluster has, of objects that neither has': async (talk) => {
    await talk.send('GET', `${pods(talk)}/none/log`);
    await talk.send('POST', `${pods(talk)}/none/exec?command=ls`);
    await talk.send('POST', `${pods(talk)}/none/attach`);
    await talk.send('POST', `${pods(talk)}/none/portforward`);
    await talk.send('PATCH', `${pods(talk)}/none/ephemeralcontainers`, { spec: {} });
    await talk.send('POST', `/api/v1/namespaces/${talk.namespace}/serviceaccounts/none/token`, {});
  },
  '[cluster 6] a list is no older than what was written': async (talk) => {
    await talk.send('POST', configMaps(talk), configMap('a'));
    await talk.send('POST', pods(talk), podBody('b'));
    await talk.send('GET', configMaps(talk));
  },
  '[cluster 15] resourceVersion=0 with a limit': async (talk) => {
    for (const name of ['a', 'b', 'c']) await talk.send('POST', configMaps(talk), configMap(name));
    // A cache answers, which may lag; a consistent read lets it catch up.
    await talk.send('GET', configMaps(talk));
    await talk.send('GET', `${configMaps(talk)}?limit=2&resourceVersion=0`);
  },
  '[cluster 15] an exact revision shows the state of then': async (talk) => {
    const { body } = await talk.send('POST', configMaps(talk), configMap('a'));
    await talk.send('DELETE', `${configMaps(talk)}/a`);
    const query = `resourceVersion=${body.metadata.resourceVersion}&resourceVersionMatch=Exact`;
    const { body: then } = await talk.send('GET', `${configMaps(talk)}?${query}`);
    if (then.metadata.resourceVersion !== body.metadata.resourceVersion) {
      throw new Error('the list has another revision than it was asked for');
    }
  },
  '[cluster 16] a watch from a deletion does not see it again': async (talk) => {
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
  '[cluster 20] a watch without a revision, with and without bookmarks': async (talk) => {
    const path = configMaps(talk);
    await talk.send('POST', path, configMap('a'));
    const field = 'fieldSelector=metadata.name%3Da';
    const marked = await talk.watch(`${path}?watch=1&allowWatchBookmarks=true&${field}`);
    await marked.seen(2);
    const plain = await talk.watch(`${path}?watch=1&resourceVersion=0&${field}`);
    await plain.seen(1);
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
  'health and version': async (talk) => {
    await talk.send('GET', '/readyz');
    await talk.send('GET', '/livez');
    await talk.send('GET', '/version');
  },
  ...each(
    listQueries,
    (query) => `[cluster 3] a list with ${query}`,
    async (talk, query) => {
      await talk.send('GET', `${configMaps(talk)}?${query}`);
    },
  ),
  ...each(
    watchQueries,
    (query) => `[cluster 19] a watch with ${query}`,
    async (talk, query) => {
      await talk.send('GET', `${configMaps(talk)}?watch=1&timeoutSeconds=1&${query}`);
    },
  ),
};
