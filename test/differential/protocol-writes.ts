/* oxlint-disable typescript/no-unsafe-assignment -- answers are looked into by path, and a wrong path fails the conversation */
/** Conversations about writes to any object, and about namespaces and definitions, by the numbers of the embedded cluster's scenarios. */
import { configMap, configMaps, each, json, sets } from './protocol-words.ts';
import { resources } from './resources.ts';
import type { Conversation } from './talk.ts';

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

/** Keyed by a sentence. */
export const protocolWrites: Readonly<Record<string, Conversation>> = {
  '[cluster 3] a namespace that does not exist': async (talk) => {
    await talk.send('POST', '/api/v1/namespaces/nowhere/configmaps', configMap('a'));
    await talk.send('GET', '/api/v1/namespaces/nowhere/configmaps');
    await talk.send('GET', '/api/v1/namespaces/nowhere');
  },
  '[cluster 3] a namespace that ends': async (talk) => {
    await talk.send('DELETE', `/api/v1/namespaces/${talk.namespace}`);
    await talk.send('POST', configMaps(talk), configMap('a'));
    await talk.send('GET', `/api/v1/namespaces/${talk.namespace}`);
    await talk.send('DELETE', `/api/v1/namespaces/${talk.namespace}`);
  },
  '[cluster 3] a body in another namespace, or with a version': async (talk) => {
    const path = configMaps(talk);
    await talk.send('POST', path, { metadata: { name: 'a', namespace: 'other' } });
    await talk.send('POST', path, { metadata: { name: 'a', resourceVersion: '7' } });
    await talk.send('POST', path, { metadata: { name: 'a', uid: 'mine', generation: 9 } });
  },
  '[cluster 3] a body that is too large, and content that is not known': async (talk) => {
    const path = configMaps(talk);
    await talk.send('POST', path, configMap('a', { data: { a: 'x'.repeat(3_200_000) } }));
    await talk.send('POST', path, configMap('a'), { 'content-type': 'text/plain' });
    await talk.send('GET', path, undefined, { accept: 'text/html' });
    await talk.send('POST', path, configMap('b'), { 'content-type': 'application/yaml' });
    await talk.send('PATCH', `${path}/b`, {}, { 'content-type': 'application/json' });
  },
  '[cluster 3] a patch of what is not there, of a type that is not known': async (talk) => {
    await talk.send('PATCH', `${configMaps(talk)}/none`, {}, { 'content-type': 'text/plain' });
    await talk.send('PATCH', `${sets(talk)}/none/scale`, {}, { 'content-type': 'text/plain' });
  },
  '[cluster 4] times are whole seconds, and micros where the type says so': async (talk) => {
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
  '[cluster 7] a stale PUT and a plain PATCH': async (talk) => {
    const { body } = await talk.send('POST', configMaps(talk), configMap('a'));
    await talk.send('PATCH', `${configMaps(talk)}/a`, { data: { x: '1' } });
    await talk.send('PUT', `${configMaps(talk)}/a`, body);
    await talk.send('PATCH', `${configMaps(talk)}/a`, { data: { y: '2' } });
  },
  '[cluster 14] a create while the old one is going': async (talk) => {
    const path = configMaps(talk);
    await talk.send('POST', path, { metadata: { name: 'a', finalizers: ['test.example/x'] } });
    await talk.send('DELETE', `${path}/a`);
    await talk.send('POST', path, configMap('a'));
    await talk.send('POST', path, { metadata: { generateName: 'web-' } });
  },
  '[cluster 24] a JSON patch is all or nothing': async (talk) => {
    await talk.send('POST', configMaps(talk), configMap('a', { data: { a: '1' } }));
    const operations = [
      { op: 'replace', path: '/data/a', value: '2' },
      { op: 'test', path: '/data/a', value: '1' },
    ];
    await talk.send('PATCH', `${configMaps(talk)}/a`, operations, json);
    await talk.send('GET', `${configMaps(talk)}/a`);
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
  ...each(
    jsonPatches,
    (patch) => `[cluster 24] a JSON patch with ${patch}`,
    async (talk, patch) => {
      const { path, body } = resources['configmaps'] ?? { path: () => '', body: () => ({}) };
      await talk.send('POST', path(talk.namespace), body('a', talk.namespace));
      await talk.send('PATCH', `${path(talk.namespace)}/a`, patch as never, json);
    },
  ),
};
