import type { JsonObject } from '#base/json.ts';
import { millis } from '#base/units.ts';
import { VirtualClock } from '#cluster/clock/virtual-clock.ts';
import type { Controllers } from '#cluster/controllers/start-controllers.ts';
import { parseSet } from '#cluster/controllers/statefulset/parse-views.ts';
import type { SetStatus } from '#cluster/controllers/statefulset/views.ts';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import { objectsAt, textAt } from '#cluster/json/read-json.ts';
import type { Kubelet } from '#cluster/kubelet/start-kubelet.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { KeptLog } from '#support/telemetry/kept-log.ts';
import {
  type EnvironmentOptions,
  startEnvironment as enliven,
} from '#support/world/world-environment.ts';
import { tellLie } from '../../lies/lies.ts';

/** An embedded cluster in virtual time, with controllers and kubelet stand-in. */
export interface Environment {
  readonly clock: VirtualClock;
  readonly cluster: EmbeddedCluster;
  readonly client: Client;
  readonly kubelet: Kubelet;
  readonly controllers: Controllers;
  readonly log: KeptLog;
  /** What the store holds of `resource` in the namespace `demo`, by name. */
  stored(resource: string): ReadonlyMap<string, JsonObject>;
  /** Creates a StatefulSet `db` in the namespace `demo`; `spec` wins over the usual one. */
  createSet(spec?: JsonObject, name?: string): Promise<KubernetesObject>;
  patchSet(document: JsonObject, name?: string): Promise<KubernetesObject>;
  deletePod(name: string): Promise<void>;
  patchPod(name: string, document: JsonObject): Promise<void>;
  uidOf(resource: string, name: string): string;
  /** Names of the owners of a stored object. */
  ownersOf(resource: string, name: string): readonly string[];
  imageOf(pod: string): string;
  /** The image of a stored set's template. */
  imageOfSet(set: string): string;
  isReady(pod: string): boolean;
  /** The status of a stored set, as the controller reads it. */
  statusOf(set: string): SetStatus;
  close(): Promise<void>;
}

/** The pod template of the usual set, with the image `image`. */
export function templateOf(image: string): JsonObject {
  return {
    metadata: { labels: { app: 'db' } },
    spec: { terminationGracePeriodSeconds: 30, containers: [{ name: 'main', image }] },
  };
}

/** Starts everything; resolves when caches are filled and the namespace `demo` exists. */
export async function startEnvironment(options: EnvironmentOptions = {}): Promise<Environment> {
  const clock = new VirtualClock();
  const log = new KeptLog();
  const { seed = 1, version } = options;
  const cluster = await createCluster({ clock, seed, ...(version !== undefined && { version }) });
  tellLie(cluster);
  const transport = cluster.transport();
  const client = createClient({ transport, clock, timeout: millis(0), userAgent: 'test' });
  const { controllers, kubelet } = enliven(cluster, clock, { ...options, log });
  const started = { isDone: false };
  const metadata = { name: 'demo' };
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata };
  const ready = Promise.all([
    controllers.ready,
    kubelet.ready,
    client.create(resourceTypes.namespaces, metadata, { body }),
  ]).then(() => {
    started.isDone = true;
  });
  await Promise.all([ready, clock.runUntil(() => started.isDone)]);
  const replay = new Map<string, Map<string, JsonObject>>();
  for (const commit of cluster.eventLog.commits) apply(replay, commit);
  cluster.eventLog.onCommit((commit) => apply(replay, commit));
  const namespace = 'demo';
  const objectOf = (resource: string, name: string): JsonObject => {
    const object = replay.get(resource)?.get(name);
    if (object === undefined) throw new Error(`Cannot find ${resource} "${name}" in the store`);
    return object;
  };
  return {
    clock,
    cluster,
    client,
    kubelet,
    controllers,
    log,
    stored: (resource) => replay.get(resource) ?? new Map(),
    createSet: (spec = {}, name = 'db') =>
      client.create(resourceTypes.statefulSets, { namespace, name }, { body: setBody(spec, name) }),
    patchSet: (document, name = 'db') =>
      client.patch(
        resourceTypes.statefulSets,
        { namespace, name },
        { body: { kind: 'merge', document } },
      ),
    deletePod: async (name) => {
      await client.delete(resourceTypes.pods, { namespace, name }, { preconditions: {} });
    },
    patchPod: async (name, document) => {
      const patch = { kind: 'merge', document } as const;
      await client.patch(resourceTypes.pods, { namespace, name }, { body: patch });
    },
    uidOf: (resource, name) => textAt(objectOf(resource, name), 'metadata', 'uid'),
    ownersOf: (resource, name) =>
      objectsAt(objectOf(resource, name), 'metadata', 'ownerReferences').map((owner) =>
        textAt(owner, 'name'),
      ),
    imageOf: (pod) => textAt(objectsAt(objectOf('pods', pod), 'spec', 'containers')[0], 'image'),
    imageOfSet: (set) => {
      const template = objectsAt(
        objectOf('statefulsets.apps', set),
        'spec',
        'template',
        'spec',
        'containers',
      );
      return textAt(template[0], 'image');
    },
    isReady: (pod) => {
      const object = replay.get('pods')?.get(pod);
      return objectsAt(object, 'status', 'conditions').some(
        ({ type, status }) => type === 'Ready' && status === 'True',
      );
    },
    statusOf: (set) => parseSet(objectOf('statefulsets.apps', set) as KubernetesObject).status,
    close: async () => {
      await controllers.stop();
      await kubelet.stop();
      await cluster.close();
    },
  };
}

function setBody(spec: JsonObject, name: string): JsonObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace: 'demo' },
    spec: {
      replicas: 3,
      serviceName: name,
      selector: { matchLabels: { app: 'db' } },
      template: templateOf('db:1'),
      ...spec,
    },
  };
}

function apply(
  replay: Map<string, Map<string, JsonObject>>,
  commit: EmbeddedCluster['eventLog']['commits'][number],
): void {
  if (commit.namespace !== 'demo') return;
  const objects = replay.get(commit.resource) ?? new Map<string, JsonObject>();
  replay.set(commit.resource, objects);
  if (commit.after === undefined) objects.delete(commit.name);
  else objects.set(commit.name, commit.after);
}
