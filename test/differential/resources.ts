/** Valid objects of the types that both clusters serve, for conversations that every type can hold. */
import type { JsonObject } from '#base/json.ts';

/** One type, and what a conversation may do with it. */
export interface ResourceCase {
  /** Path of the collection in a namespace; cluster-scoped ones ignore it. */
  readonly path: (namespace: string) => string;
  /** A valid object called `name`. */
  readonly body: (name: string, namespace: string) => JsonObject;
  /** A merge patch that every object of the type takes, and that bumps the generation where there is one. */
  readonly change: JsonObject;
}

const inCore =
  (plural: string) =>
  (namespace: string): string =>
    `/api/v1/namespaces/${namespace}/${plural}`;
const inGroup =
  (group: string, plural: string) =>
  (namespace: string): string =>
    `/apis/${group}/namespaces/${namespace}/${plural}`;

const containers = [{ name: 'app', image: 'app:1' }];

/** A StatefulSet without replicas: nothing has to happen for it. */
export function setBody(name: string, members: JsonObject = {}): JsonObject {
  return {
    metadata: { name },
    spec: {
      replicas: 0,
      serviceName: name,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers } },
      ...members,
    },
  };
}

/** A pod that no scheduler has seen. */
export function podBody(
  name: string,
  members: JsonObject = {},
  metadata: JsonObject = {},
): JsonObject {
  return { metadata: { name, ...metadata }, spec: { containers, ...members } };
}

/** By plural. */
export const resources: Readonly<Record<string, ResourceCase>> = {
  configmaps: {
    path: inCore('configmaps'),
    body: (name) => ({ metadata: { name }, data: { a: '1', b: '2' } }),
    change: { data: { a: '2', b: null } },
  },
  secrets: {
    path: inCore('secrets'),
    body: (name) => ({ metadata: { name }, stringData: { a: 'one' } }),
    change: { data: { a: 'dHdv' } },
  },
  services: {
    path: inCore('services'),
    body: (name) => ({
      metadata: { name },
      spec: { clusterIP: 'None', selector: { app: name }, ports: [{ port: 80 }] },
    }),
    change: { spec: { selector: { app: 'other' } } },
  },
  serviceaccounts: {
    path: inCore('serviceaccounts'),
    body: (name) => ({ metadata: { name } }),
    change: { automountServiceAccountToken: false },
  },
  endpoints: {
    path: inCore('endpoints'),
    body: (name) => ({
      metadata: { name },
      subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }],
    }),
    change: { metadata: { labels: { a: 'b' } } },
  },
  endpointslices: {
    path: inGroup('discovery.k8s.io/v1', 'endpointslices'),
    body: (name) => ({
      metadata: { name },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'], nodeName: 'a' }],
      ports: [{ port: 80 }],
    }),
    change: { ports: [{ port: 81, name: 'a' }] },
  },
  persistentvolumeclaims: {
    path: inCore('persistentvolumeclaims'),
    body: (name) => ({
      metadata: { name },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    }),
    change: { metadata: { labels: { a: 'b' } } },
  },
  pods: {
    path: inCore('pods'),
    body: (name) => podBody(name),
    change: { spec: { activeDeadlineSeconds: 60 } },
  },
  events: {
    path: inCore('events'),
    body: (name, namespace) => ({
      metadata: { name },
      involvedObject: { kind: 'Pod', name: 'a', namespace },
      reason: 'Tested',
      message: 'a test',
      type: 'Normal',
    }),
    change: { count: 2 },
  },
  statefulsets: {
    path: inGroup('apps/v1', 'statefulsets'),
    body: (name) => setBody(name),
    change: { spec: { minReadySeconds: 5 } },
  },
  controllerrevisions: {
    path: inGroup('apps/v1', 'controllerrevisions'),
    body: (name) => ({ metadata: { name }, revision: 1, data: { spec: { a: 1 } } }),
    change: { revision: 2 },
  },
  leases: {
    path: inGroup('coordination.k8s.io/v1', 'leases'),
    body: (name) => ({
      metadata: { name },
      spec: {
        holderIdentity: 'x',
        leaseDurationSeconds: 15,
        renewTime: '2026-01-01T00:00:00.123456Z',
      },
    }),
    change: { spec: { holderIdentity: 'y' } },
  },
  poddisruptionbudgets: {
    path: inGroup('policy/v1', 'poddisruptionbudgets'),
    body: (name) => ({
      metadata: { name },
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: name } } },
    }),
    change: { spec: { maxUnavailable: '50%' } },
  },
};
