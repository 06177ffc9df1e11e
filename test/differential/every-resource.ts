/* oxlint-disable typescript/no-unsafe-assignment -- answers are looked into by path, and a wrong path fails the conversation */
/** Conversations that every type can hold. */
import type { JsonObject } from '#base/json.ts';
import type { ResourceCase } from './resources.ts';
import { resources } from './resources.ts';
import type { Conversation, Talk } from './talk.ts';

type About = (
  talk: Talk,
  about: {
    readonly path: string;
    readonly kind: Pick<ResourceCase, 'change'> & { readonly body: (name: string) => JsonObject };
  },
) => Promise<void>;

const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
const jsonPatch = { 'content-type': 'application/json-patch+json' };

const scripts: Readonly<Record<string, About>> = {
  'is created with its defaults, read, listed and deleted [cluster 13, 27]': async (
    talk,
    { path, kind },
  ) => {
    await talk.send('POST', path, kind.body('a'));
    await talk.send('GET', `${path}/a`);
    await talk.send('GET', `${path}?fieldSelector=metadata.name%3Da`);
    await talk.send('DELETE', `${path}/a`);
    await talk.send('GET', `${path}/a`);
    await talk.send('DELETE', `${path}/a`);
  },
  'is not created twice, and not without a name': async (talk, { path, kind }) => {
    await talk.send('POST', path, kind.body('a'));
    await talk.send('POST', path, kind.body('a'));
    await talk.send('POST', path, { ...kind.body('a'), metadata: {} });
    await talk.send('POST', path, kind.body('Not_A_Name'));
  },
  'gets a generated name': async (talk, { path, kind }) => {
    await talk.send('POST', path, { ...kind.body('a'), metadata: { generateName: 'gen-' } });
  },
  'is changed by the three patches, and an empty one changes nothing [cluster 5]': async (
    talk,
    { path, kind },
  ) => {
    await talk.send('POST', path, kind.body('a'));
    await talk.send('PATCH', `${path}/a`, kind.change);
    await talk.send('PATCH', `${path}/a`, kind.change);
    await talk.send('PATCH', `${path}/a`, { metadata: { labels: { s: 'm' } } }, strategic);
    const operations = [{ op: 'add', path: '/metadata/annotations', value: { j: 'p' } }];
    await talk.send('PATCH', `${path}/a`, operations, jsonPatch);
    await talk.send('PATCH', `${path}/a`, {});
  },
  'is replaced, and not by a stale version [cluster 23]': async (talk, { path, kind }) => {
    const { body } = await talk.send('POST', path, kind.body('a'));
    const labelled = { ...body, metadata: { ...body.metadata, labels: { v: '2' } } };
    await talk.send('PUT', `${path}/a`, labelled);
    await talk.send('PUT', `${path}/a`, labelled);
    await talk.send('PUT', `${path}/other`, labelled);
    const { resourceVersion: _, ...unversioned } = labelled.metadata;
    await talk.send('PUT', `${path}/a`, { ...labelled, metadata: unversioned });
    const foreign = { ...unversioned, uid: '00000000-0000-4000-8000-000000000000' };
    await talk.send('PUT', `${path}/a`, { ...labelled, metadata: foreign });
  },
  'is not patched with another uid, an old version or another name': async (
    talk,
    { path, kind },
  ) => {
    const { body } = await talk.send('POST', path, kind.body('a'));
    await talk.send('PATCH', `${path}/a`, { metadata: { labels: { v: '2' } } });
    const { uid, resourceVersion } = body.metadata;
    await talk.send('PATCH', `${path}/a`, { metadata: { uid: 'x', labels: { v: '3' } } });
    await talk.send('PATCH', `${path}/a`, { metadata: { uid, labels: { v: '3' } } });
    await talk.send('PATCH', `${path}/a`, { metadata: { resourceVersion, labels: { v: '4' } } });
    await talk.send('PATCH', `${path}/a`, { metadata: { name: 'b' } });
    await talk.send('PATCH', `${path}/b`, { metadata: { labels: { v: '4' } } });
  },
  'is deleted under preconditions only when they hold': async (talk, { path, kind }) => {
    const { body } = await talk.send('POST', path, kind.body('a'));
    const { uid, resourceVersion } = body.metadata;
    await talk.send('DELETE', `${path}/a`, { preconditions: { uid: 'x' } });
    await talk.send('PATCH', `${path}/a`, { metadata: { labels: { v: '2' } } });
    await talk.send('DELETE', `${path}/a`, { preconditions: { uid, resourceVersion } });
    await talk.send('DELETE', `${path}/a`, { preconditions: { uid } });
  },
  'waits for its finalizers [cluster 10]': async (talk, { path, kind }) => {
    await talk.send('POST', path, kind.body('a'));
    await talk.send('PATCH', `${path}/a`, { metadata: { finalizers: ['test.example/x'] } });
    await talk.send('DELETE', `${path}/a`);
    await talk.send('DELETE', `${path}/a`);
    await talk.send('POST', path, kind.body('a'));
    await talk.send('PATCH', `${path}/a`, {
      metadata: { finalizers: ['test.example/x', 'test.example/y'] },
    });
    await talk.send('PATCH', `${path}/a`, { metadata: { finalizers: null } });
    await talk.send('GET', `${path}/a`);
  },
  'is not stored by a dry run': async (talk, { path, kind }) => {
    await talk.send('POST', `${path}?dryRun=All`, kind.body('a'));
    await talk.send('GET', `${path}/a`);
    await talk.send('POST', path, kind.body('a'));
    await talk.send('PATCH', `${path}/a?dryRun=All`, kind.change);
    await talk.send('DELETE', `${path}/a?dryRun=All`);
    await talk.send('GET', `${path}/a`);
  },
  'has unknown fields dropped, warned of, or refused [cluster 26]': async (
    talk,
    { path, kind },
  ) => {
    const odd = { ...kind.body('a'), oddity: { x: 1 } };
    await talk.send('POST', `${path}?fieldValidation=Strict`, odd);
    await talk.send('POST', path, odd);
    await talk.send('PATCH', `${path}/a?fieldValidation=Strict`, { oddity: 1 });
    await talk.send('PATCH', `${path}/a?fieldValidation=Ignore`, { oddity: 1 });
  },
  'refuses a body of another type': async (talk, { path, kind }) => {
    await talk.send('POST', path, { ...kind.body('a'), kind: 'Nonsense', apiVersion: 'v1' });
    await talk.send('POST', path, { ...kind.body('a'), metadata: [] });
    await talk.send('POST', path, '{');
    await talk.send('POST', path, []);
  },
  'is watched from its creation to its deletion': async (talk, { path, kind }) => {
    const { body } = await talk.send('POST', path, kind.body('a'));
    const watch = await talk.watch(
      `${path}?watch=1&fieldSelector=metadata.name%3Da&resourceVersion=${body.metadata.resourceVersion}`,
    );
    await talk.send('PATCH', `${path}/a`, { metadata: { labels: { v: '2' } } });
    await talk.send('PATCH', `${path}/a`, { metadata: { labels: { v: '2' } } });
    await talk.send('DELETE', `${path}/a`, { gracePeriodSeconds: 0 });
    await watch.seen(2);
  },
  'enters and leaves a watch by its labels [cluster 17]': async (talk, { path, kind }) => {
    const { body } = await talk.send('POST', path, kind.body('a'));
    const from = body.metadata.resourceVersion;
    const watch = await talk.watch(
      `${path}?watch=1&labelSelector=in%3Dyes&resourceVersion=${from}`,
    );
    await talk.send('PATCH', `${path}/a`, { metadata: { labels: { in: 'yes' } } });
    await talk.send('PATCH', `${path}/a`, { metadata: { annotations: { x: 'y' } } });
    await talk.send('PATCH', `${path}/a`, { metadata: { labels: { in: 'no' } } });
    await watch.seen(3);
  },
  'is streamed as a list that goes on [cluster 19]': async (talk, { path, kind }) => {
    await talk.send('POST', path, kind.body('a'));
    await talk.send('POST', path, kind.body('b'));
    const watch = await talk.watch(
      `${path}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&fieldSelector=metadata.name%3Da`,
    );
    await watch.seen(2);
    await talk.send('PATCH', `${path}/a`, { metadata: { labels: { v: '2' } } });
    await watch.seen(3);
  },
  'is paged': async (talk, { path, kind }) => {
    for (const name of ['a', 'b', 'c']) {
      const body = kind.body(name);
      const metadata = { name, labels: { page: 'yes' } };
      await talk.send('POST', path, { ...body, metadata });
    }
    const first = await talk.send('GET', `${path}?limit=2&labelSelector=page`);
    const token = encodeURIComponent(String(first.body.metadata?.continue));
    await talk.send('GET', `${path}?limit=2&labelSelector=page&continue=${token}`);
  },
  'is deleted as a collection by label': async (talk, { path, kind }) => {
    for (const name of ['a', 'b']) {
      const metadata = { name, labels: { go: name } };
      await talk.send('POST', path, { ...kind.body(name), metadata });
    }
    await talk.send('DELETE', `${path}?labelSelector=go%3Da`);
    await talk.send('GET', `${path}?labelSelector=go`);
  },
  'is shown as metadata alone': async (talk, { path, kind }) => {
    await talk.send('POST', path, kind.body('a'));
    const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';
    await talk.send('GET', `${path}/a`, undefined, { accept });
  },
};

/** Keyed by a sentence: the plural and what happens to it. */
export const everyResource: Readonly<Record<string, Conversation>> = Object.fromEntries(
  Object.entries(resources).flatMap(([plural, kind]) =>
    Object.entries(scripts).map(([sentence, script]): [string, Conversation] => [
      `${plural}: ${sentence}`,
      (talk) => {
        const { namespace } = talk;
        const body = (name: string): JsonObject => kind.body(name, namespace);
        return script(talk, { path: kind.path(namespace), kind: { ...kind, body } });
      },
    ]),
  ),
);
