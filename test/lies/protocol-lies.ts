/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-return -- documents are looked into by path, and a lie that misses its target lets its scenario pass, which fails the run */
/** Lies about reads, writes, watches and patches. */
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { EmbeddedCluster } from '#embedded-cluster/create-cluster.ts';
import type { DeliveryProfile } from '#embedded-cluster/in-process-transport.ts';
import { applyJsonMergePatch } from '#embedded-cluster/patch/json-merge-patch.ts';
import type { ResourceRow } from '#embedded-cluster/resource-row.ts';
import { StatusError } from '#embedded-cluster/status-error.ts';
import { STALE } from '#embedded-cluster/store/store.ts';
import { lieInCommits } from './commits.ts';
import type { Lie } from './lie.ts';
import { lieOnTheWire, refusal, rewritten } from './wire.ts';

function changeRow(
  cluster: EmbeddedCluster,
  [apiVersion, plural]: readonly [string, string],
  change: (row: ResourceRow) => Partial<ResourceRow>,
): void {
  const { rows } = cluster.context;
  const row = rows.find(apiVersion, plural);
  if (row !== undefined) rows.add({ ...row, ...change(row) });
}

const sets = ['apps/v1', 'statefulsets'] as const;

/** Lies about versions and writes. */
export const writeLies: Readonly<Record<string, Lie>> = {
  'the version of a list is that of its newest item': {
    trap: 'FT-1',
    file: 'protocol-objects',
    scenario: '[T06] resource versions increase over all types',
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
    scenario: '[T05] an identical PUT keeps the resource version',
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
    scenario: '[T09] /status writes leave the spec alone and main writes the status',
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
    scenario: '[T08] the generation counts changes of the spec',
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
    scenario: '[T10] a finalizer keeps a deleted object',
    tell: (cluster) =>
      lieInCommits(cluster, ({ after }) =>
        after.metadata.deletionTimestamp === undefined ? after : null,
      ),
  },
  'a deletion ignores the grace of pods': {
    trap: 'FT-5',
    file: 'protocol-objects',
    scenario: '[T11] a bound pod is deleted gracefully',
    tell: (cluster) =>
      lieInCommits(cluster, ({ after, resource }) => {
        const isLeaving = after.metadata.deletionTimestamp !== undefined;
        return isLeaving && resource === 'pods' ? null : after;
      }),
  },
  'a deletion ignores preconditions': {
    trap: 'FT-5',
    file: 'protocol-objects',
    scenario: '[T12] a delete with a foreign uid',
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
    scenario: '[T04] timestamps are in whole seconds',
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
    scenario: '[T07] a stale PUT answers 409, a plain PATCH passes',
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
    scenario: '[T23] a PUT without resourceVersion passes for a set',
    tell: (cluster) =>
      changeRow(cluster, ['policy/v1', 'poddisruptionbudgets'], () => ({
        allowsUnconditionalUpdate: true,
      })),
  },
  'a namespace springs into being on its first use': {
    trap: 'FT-30',
    file: 'protocol-objects',
    scenario: '[T03] a create in a missing namespace answers 404',
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
    scenario: '[T50] a definition is established a step later',
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
    scenario: '[T29] create namespace sends protobuf',
    tell: (cluster) =>
      lieOnTheWire(cluster, {
        answer: (send, request) =>
          request.headers?.['content-type'] === 'application/vnd.kubernetes.protobuf'
            ? Promise.resolve(refusal(415, 'UnsupportedMediaType'))
            : send(request),
      }),
  },
};

/** The continue token in `path` changed to go on from the present. */
function fromThePresent(path: string): string {
  const url = new URL(path, 'http://localhost');
  const token = url.searchParams.get('continue');
  if (token === null) return path;
  const content = JSON.parse(Buffer.from(token, 'base64url').toString());
  const changed = Buffer.from(JSON.stringify({ ...content, rv: -1 })).toString('base64url');
  url.searchParams.set('continue', changed);
  return `${url.pathname}${url.search}`;
}

/** Every client of `cluster` gets the delivery that `change` makes of its own. */
function changeDelivery(
  cluster: EmbeddedCluster,
  change: (delivery: DeliveryProfile) => DeliveryProfile | undefined,
): void {
  const honest = cluster.transport.bind(cluster);
  const transport: EmbeddedCluster['transport'] = (options) => {
    if (typeof options !== 'object' || 'name' in options) return honest(options);
    const { delivery, ...rest } = options;
    const changed = delivery && change(delivery);
    return honest(changed === undefined ? rest : { ...rest, delivery: changed });
  };
  Object.assign(cluster, { transport });
}

/** Lies about lists and watches. */
export const readLies: Readonly<Record<string, Lie>> = {
  'pages are taken from the present': {
    trap: 'FT-26',
    file: 'protocol-lists',
    scenario: '[T15] pages show the state of the first one',
    tell: (cluster) =>
      lieOnTheWire(cluster, {
        answer: (send, request) => send({ ...request, path: fromThePresent(request.path) }),
      }),
  },
  'a list of any version is paged': {
    trap: 'FT-34',
    file: 'protocol-lists',
    scenario: '[T15] resourceVersion=0 with a limit answers everything',
    tell: (cluster) =>
      lieOnTheWire(cluster, {
        answer: (send, request) =>
          send({ ...request, path: request.path.replace('&resourceVersion=0', '') }),
      }),
  },
  'DELETED carries the version before': {
    trap: 'FT-7',
    file: 'protocol-watches',
    scenario: '[T16] DELETED carries a newer resource version',
    tell: (cluster) => {
      const seen = new Map<string, string>();
      lieOnTheWire(cluster, {
        event: (event) => {
          const { uid, resourceVersion } = event.object.metadata;
          if (event.type !== 'DELETED') seen.set(uid, resourceVersion);
          else event.object.metadata.resourceVersion = seen.get(uid) ?? resourceVersion;
          return event;
        },
      });
    },
  },
  'an object that leaves a selector is MODIFIED': {
    trap: 'FT-8',
    file: 'protocol-watches',
    scenario: '[T17] an object that enters a selector',
    tell: (cluster) =>
      lieOnTheWire(cluster, {
        event: (event) => {
          if (event.type !== 'DELETED') return event;
          const { namespace, name } = event.object.metadata;
          const isThere = cluster.context.store
            .collection('configmaps')
            .get(`${namespace}/${name}`);
          return isThere === undefined ? event : { ...event, type: 'MODIFIED' };
        },
      }),
  },
  'a version that is too old is refused by HTTP alone': {
    trap: 'FT-9',
    file: 'protocol-watches',
    scenario: '[T18] a watch from before the log gets 200',
    tell: (cluster) =>
      lieOnTheWire(cluster, {
        watch: ({ path }) => {
          const from = new URL(path, 'http://localhost').searchParams.get('resourceVersion');
          const { forgottenTo } = cluster.context.store.collection('configmaps').history;
          const isTooOld = from !== null && from !== '0' && Number(from) < forgottenTo;
          return isTooOld ? refusal(410, 'Expired') : undefined;
        },
      }),
  },
  'events are there as soon as the write is answered': {
    trap: 'FT-11',
    file: 'protocol-faults',
    scenario: 'a delivery profile delays events in order',
    tell: (cluster) => changeDelivery(cluster, () => undefined),
  },
  'events of all watches come in the order of their writes': {
    trap: 'FT-12',
    file: 'protocol-faults',
    scenario: '[T22] two watches of one client hear of writes',
    tell: (cluster) =>
      changeDelivery(cluster, ({ maximum, ...rest }) => ({ ...rest, minimum: maximum, maximum })),
  },
  'nothing ever comes between': {
    trap: 'FT-24',
    file: 'protocol-faults',
    scenario: 'conflict lets another writer come first',
    tell: ({ faults }) => {
      Object.assign(faults, { strike: () => undefined });
    },
  },
  'a watch has no bookmarks': {
    trap: 'FT-10',
    file: 'protocol-watches',
    scenario: '[T20] a bookmark each minute lets a client resume',
    tell: ({ faults }) => {
      faults.add({ match: { verb: 'watch' }, action: { kind: 'watch', action: 'noBookmarks' } });
    },
  },
};

/** Makes the parents that `pointer` needs. */
function withParents(object: JsonObject, pointer: string): JsonObject {
  const [, first = '', ...rest] = pointer.split('/');
  if (rest.length === 0) return object;
  const child = object[first] ?? {};
  if (!isJsonObject(child)) return object;
  return { ...object, [first]: withParents(child, `/${rest.join('/')}`) };
}

/** Lies about patches and about what a kind has. */
export const shapeLies: Readonly<Record<string, Lie>> = {
  'a JSON patch makes the parents that it needs': {
    trap: 'FT-13',
    file: 'protocol-patches',
    scenario: '[T24] a JSON patch makes no parents',
    tell: ({ context: { rules } }) => {
      const honest = rules.applyPatch;
      const applyPatch: typeof honest = (patch) => {
        const operations = Array.isArray(patch.body) ? patch.body : [];
        const object = operations.reduce<JsonObject>(
          (made, { path }: { readonly path: string }) => withParents(made, path),
          patch.object,
        );
        return honest({ ...patch, object });
      };
      Object.assign(rules, { applyPatch });
    },
  },
  'a strategic merge replaces lists': {
    trap: 'FT-13',
    file: 'protocol-patches',
    scenario: '[T25] a strategic merge changes one variable',
    tell: ({ context: { rules } }) => {
      const honest = rules.applyPatch;
      const applyPatch: typeof honest = (patch) => {
        if (!patch.contentType.includes('strategic') || !isJsonObject(patch.body)) {
          return honest(patch);
        }
        const merged = applyJsonMergePatch(patch.object, patch.body);
        if (isJsonObject(merged)) return merged;
        throw new StatusError({ code: 400, reason: 'BadRequest' }, 'not an object');
      };
      Object.assign(rules, { applyPatch });
    },
  },
  'unknown fields of a built-in kind are kept': {
    trap: 'FT-14',
    file: 'protocol-patches',
    scenario: '[T26] an unknown field of a set',
    tell: (cluster) =>
      changeRow(cluster, sets, () => ({ decode: (object) => ({ object, unknown: [] }) })),
  },
  'a set has no defaults': {
    trap: 'FT-15',
    file: 'defaults',
    scenario: '[T27] the defaults of sets and pods',
    tell: (cluster) => changeRow(cluster, sets, () => ({ prepareForCreate: (object) => object })),
  },
};
