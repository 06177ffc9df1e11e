/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-return -- documents are looked into by path, and a lie that misses its target lets its scenario pass, which fails the run */
import type { EmbeddedCluster } from '#cluster/create-cluster.ts';
import type { DeliveryProfile } from '#cluster/transport/in-process-transport.ts';
import type { Lie } from './lie.ts';
import { lieOnTheWire, refusal } from './wire.ts';

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
    scenario: '[cluster 15] pages show the state of the first one',
    tell: (cluster) =>
      lieOnTheWire(cluster, {
        answer: (send, request) => send({ ...request, path: fromThePresent(request.path) }),
      }),
  },
  'a list of any version is paged': {
    trap: 'FT-34',
    file: 'protocol-lists',
    scenario: '[cluster 15] resourceVersion=0 with a limit answers everything',
    tell: (cluster) =>
      lieOnTheWire(cluster, {
        answer: (send, request) =>
          send({ ...request, path: request.path.replace('&resourceVersion=0', '') }),
      }),
  },
  'DELETED carries the version before': {
    trap: 'FT-7',
    file: 'protocol-watches',
    scenario: '[cluster 16] DELETED carries a newer resource version',
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
    scenario: '[cluster 17] an object that enters a selector',
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
    scenario: '[cluster 18] a watch from before the log gets 200',
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
    scenario: '[cluster 22] two watches of one client hear of writes',
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
    scenario: '[cluster 20] a bookmark each minute lets a client resume',
    tell: ({ faults }) => {
      faults.add({ match: { verb: 'watch' }, action: { kind: 'watch', action: 'noBookmarks' } });
    },
  },
};
