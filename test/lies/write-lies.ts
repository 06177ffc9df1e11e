/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-return -- documents are looked into by path, and a lie that misses its target lets its scenario pass, which fails the run */
import { STALE } from '#cluster/store/store.ts';
import { changeRow } from './change-row.ts';
import { lieInCommits } from './commits.ts';
import type { Lie } from './lie.ts';
import { lieOnTheWire, refusal, rewritten } from './wire.ts';

/** Lies about versions and writes. */
export const writeLies: Readonly<Record<string, Lie>> = {
  'the version of a list is that of its newest item': {
    trap: 'FT-1',
    file: 'protocol-objects',
    scenario: '[cluster 6] resource versions increase over all types',
    tell: (cluster) =>
      lieOnTheWire(cluster, {
        answer: async (send, request) => {
          const response = await send(request);
          if (request.method !== 'GET' || response.status !== 200) return response;
          return rewritten(response, (document) => {
            if (!Array.isArray(document.items)) return document;
            const versions = document.items.map((item: { metadata: { resourceVersion: string } }) =>
              Number(item.metadata.resourceVersion),
            );
            const resourceVersion = String(Math.max(0, ...versions));
            return { ...document, metadata: { ...document.metadata, resourceVersion } };
          });
        },
      }),
  },
  'a write that changes nothing gets a new version': {
    trap: 'FT-2',
    file: 'protocol-objects',
    scenario: '[cluster 5] an identical PUT keeps the resource version',
    tell: ({ context: { store } }) => {
      const honest = store.commit.bind(store);
      const commit: typeof store.commit = (write) => {
        const change = honest(write);
        const { before, after, resource, key } = write;
        if (change !== undefined || before === undefined || after === undefined) return change;
        const other = honest({ ...write, after: { ...after, lie: true } });
        if (other === undefined || other === STALE) return other;
        return honest({ ...write, before: store.collection(resource).get(key), after });
      };
      Object.assign(store, { commit });
    },
  },
  'the status is written through the main resource': {
    trap: 'FT-3',
    file: 'protocol-objects',
    scenario: '[cluster 9] /status writes leave the spec alone and main writes the status',
    tell: (cluster) =>
      lieOnTheWire(cluster, {
        answer: async (send, request) => {
          const response = await send(request);
          if (request.method !== 'PATCH' || request.path.endsWith('/status')) return response;
          const { status } = JSON.parse(request.body ?? '{}');
          if (status === undefined) return response;
          const path = `${request.path}/status`;
          return send({ ...request, path, body: JSON.stringify({ status }) });
        },
      }),
  },
  'labels bump the generation': {
    trap: 'FT-4',
    file: 'protocol-objects',
    scenario: '[cluster 8] the generation counts changes of the spec',
    tell: (cluster) =>
      lieInCommits(cluster, ({ before, after }) => {
        if (before?.metadata.generation === undefined) return after;
        after.metadata.generation = before.metadata.generation + 1;
        return after;
      }),
  },
  'a deletion ignores finalizers': {
    trap: 'FT-5',
    file: 'protocol-objects',
    scenario: '[cluster 10] a finalizer keeps a deleted object',
    tell: (cluster) =>
      lieInCommits(cluster, ({ after }) =>
        after.metadata.deletionTimestamp === undefined ? after : null,
      ),
  },
  'a deletion ignores the grace of pods': {
    trap: 'FT-5',
    file: 'protocol-objects',
    scenario: '[cluster 11] a bound pod is deleted gracefully',
    tell: (cluster) =>
      lieInCommits(cluster, ({ after, resource }) => {
        const isLeaving = after.metadata.deletionTimestamp !== undefined;
        return isLeaving && resource === 'pods' ? null : after;
      }),
  },
  'a deletion ignores preconditions': {
    trap: 'FT-5',
    file: 'protocol-objects',
    scenario: '[cluster 12] a delete with a foreign uid',
    tell: (cluster) =>
      lieOnTheWire(cluster, {
        answer: (send, request) => {
          if (request.method !== 'DELETE' || request.body === undefined) return send(request);
          const { preconditions: _, ...options } = JSON.parse(request.body);
          return send({ ...request, body: JSON.stringify(options) });
        },
      }),
  },
  'timestamps have milliseconds': {
    trap: 'FT-25',
    file: 'protocol-objects',
    scenario: '[cluster 4] timestamps are in whole seconds',
    tell: (cluster) =>
      lieInCommits(cluster, ({ before, after }) => {
        if (before !== undefined) return after;
        after.metadata.creationTimestamp = new Date(cluster.clock.now()).toISOString();
        return after;
      }),
  },
  'a plain patch conflicts with a write that came before': {
    trap: 'FT-27',
    file: 'protocol-objects',
    scenario: '[cluster 7] a stale PUT answers 409, a plain PATCH passes',
    tell: (cluster) => {
      const patched = new Set<string>();
      lieOnTheWire(cluster, {
        answer: (send, request) => {
          if (request.method !== 'PATCH') return send(request);
          if (patched.has(request.path)) return Promise.resolve(refusal(409, 'Conflict'));
          patched.add(request.path);
          return send(request);
        },
      });
    },
  },
  'a budget is replaced without resourceVersion': {
    trap: 'FT-27',
    file: 'kubectl-wire',
    scenario: '[cluster 23] a PUT without resourceVersion passes for a set',
    tell: (cluster) =>
      changeRow(cluster, ['policy/v1', 'poddisruptionbudgets'], () => ({
        allowsUnconditionalUpdate: true,
      })),
  },
  'a namespace springs into being on its first use': {
    trap: 'FT-30',
    file: 'protocol-objects',
    scenario: '[cluster 3] a create in a missing namespace answers 404',
    tell: (cluster) =>
      lieOnTheWire(cluster, {
        answer: async (send, request) => {
          const [, name = ''] = /\/namespaces\/([^/]+)\//.exec(request.path) ?? [];
          if (request.method === 'POST' && name !== '') {
            const body = JSON.stringify({ metadata: { name } });
            await send({ ...request, path: '/api/v1/namespaces', body });
          }
          return send(request);
        },
      }),
  },
  'a definition serves in the same step': {
    trap: 'FT-30',
    file: 'custom-resources',
    scenario: '[cluster 50] a definition is established a step later',
    tell: (cluster) =>
      lieInCommits(cluster, ({ resource, after }) => {
        if (!resource.startsWith('customresourcedefinitions.')) return after;
        const conditions = [{ type: 'Established', status: 'True' }];
        return { ...after, status: { acceptedNames: after.spec.names, conditions } };
      }),
  },
  'only JSON is read': {
    trap: 'FT-29',
    file: 'kubectl-wire',
    scenario: '[cluster 29] create namespace sends protobuf',
    tell: (cluster) =>
      lieOnTheWire(cluster, {
        answer: (send, request) =>
          request.headers?.['content-type'] === 'application/vnd.kubernetes.protobuf'
            ? Promise.resolve(refusal(415, 'UnsupportedMediaType'))
            : send(request),
      }),
  },
};
