/** What scenarios do with one StatefulSet `db`, and how they tell where it is. */
import type { JsonObject } from '#base/json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Env } from '../env.ts';

interface Pod {
  readonly metadata: { readonly uid: string; readonly deletionTimestamp?: string };
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly { readonly image: string }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/** The status of a set, as far as scenarios ask for it. */
export interface SetStatus {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly updatedReplicas?: number;
  readonly currentRevision?: string;
  readonly updateRevision?: string;
}

/** A pod template of `db` with `image`. */
export function templateOf(image: string): JsonObject {
  return {
    metadata: { labels: { app: 'db' } },
    spec: { terminationGracePeriodSeconds: 30, containers: [{ name: 'main', image }] },
  };
}

/** Creates `db` with three replicas of `db:1`; `spec` wins. */
export async function createSet(env: Env, spec: JsonObject = {}): Promise<void> {
  const { namespace } = env;
  const body = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', namespace },
    spec: {
      replicas: 3,
      serviceName: 'db',
      selector: { matchLabels: { app: 'db' } },
      template: templateOf('db:1'),
      ...spec,
    },
  };
  await env.run(env.admin.create(resourceTypes.statefulSets, { namespace, name: 'db' }, { body }));
}

/** Creates `db` and waits until all its pods are ready. */
export async function createReadySet(env: Env, spec: JsonObject = {}): Promise<void> {
  await createSet(env, spec);
  await untilReady(env, Number(spec['replicas'] ?? 3));
}

/** JSON-merges `spec` into that of `db`. */
export async function patchSet(env: Env, spec: JsonObject): Promise<void> {
  const { namespace } = env;
  const body = { kind: 'merge', document: { spec } } as const;
  await env.run(env.admin.patch(resourceTypes.statefulSets, { namespace, name: 'db' }, { body }));
}

/** Gives `db` the image `image`. */
export async function setDbImage(env: Env, image: string): Promise<void> {
  await patchSet(env, { template: templateOf(image) });
}

/** Deletes a pod as a person does. */
export async function deletePod(env: Env, name: string): Promise<void> {
  const { namespace } = env;
  const options = { preconditions: {} };
  await env.run(env.admin.delete(resourceTypes.pods, { namespace, name }, options));
}

/** Deletes a pod and waits until its replacement is ready. */
export async function replacePod(env: Env, name: string): Promise<void> {
  const uid = uidOf(env, name);
  await deletePod(env, name);
  await env.until(`${name} is replaced`, () => isReady(env, name) && uidOf(env, name) !== uid);
}

/** Waits until the status of `db` has seen its spec, and all `count` pods are ready and counted. */
export async function untilReady(env: Env, count = 3): Promise<void> {
  await env.until(`${count} pods of db are ready`, () => {
    const { replicas, readyReplicas } = statusOf(env);
    return isObserved(env) && replicas === count && readyReplicas === count;
  });
}

/** Waits until `count` pods of `db` are on `image` and ready, and the controller has seen them so. */
export async function untilOn(env: Env, image: string, count = 3): Promise<void> {
  await env.until(`${count} pods of db run ${image}`, () => {
    const { readyReplicas, updatedReplicas } = statusOf(env);
    const all = names(env).filter((name) => imageOf(env, name) === image);
    const isCounted = readyReplicas === count && updatedReplicas === count;
    return isObserved(env) && isCounted && all.length === count;
  });
}

/** Whether the controller has finished a pass over the spec as it is. */
export function isObserved(env: Env): boolean {
  const set = env.stored('statefulsets.apps', 'db') as
    | { metadata: { generation: number } }
    | undefined;
  return set !== undefined && statusOf(env).observedGeneration === set.metadata.generation;
}

/** The stored status of `db`. */
export function statusOf(env: Env): SetStatus {
  const set = env.stored('statefulsets.apps', 'db') as { status?: SetStatus } | undefined;
  return set?.status ?? {};
}

/** The names of all pods, in order. */
export function names(env: Env): readonly string[] {
  return env.names('pods').toSorted();
}

function podOf(env: Env, name: string): Pod | undefined {
  return env.stored('pods', name) as Pod | undefined;
}

/** The uid of a pod; empty where there is none. */
export function uidOf(env: Env, name: string): string {
  return podOf(env, name)?.metadata.uid ?? '';
}

/** The image of a pod; empty where there is none. */
export function imageOf(env: Env, name: string): string {
  return podOf(env, name)?.spec.containers[0]?.image ?? '';
}

/** The node that a pod is bound to; empty where there is none. */
export function nodeOf(env: Env, name: string): string {
  return podOf(env, name)?.spec.nodeName ?? '';
}

/** Whether a pod is ready and not terminating. */
export function isReady(env: Env, name: string): boolean {
  return isReadyPod(podOf(env, name));
}

function isReadyPod(pod: Pod | undefined): boolean {
  const conditions = pod?.status?.conditions ?? [];
  const isTrue = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  return isTrue && pod?.metadata.deletionTimestamp === undefined;
}

/** The pods whose deletion began, in that order; whichever client asked for it. */
export function deletions(env: Env): readonly string[] {
  const begun = env
    .history()
    .filter(
      ({ resource, before, after }) =>
        resource === 'pods' &&
        (after as Pod | undefined)?.metadata.deletionTimestamp !== undefined &&
        (before as Pod | undefined)?.metadata.deletionTimestamp === undefined,
    );
  return begun.map(({ name }) => name);
}

/** Creations and first Readys of pods, in order, such as `create db-0`, `ready db-0`. */
export function starts(env: Env): readonly string[] {
  return env.history().flatMap(({ resource, verb, name, before, after }) => {
    if (resource !== 'pods') return [];
    if (verb === 'create') return [`create ${name}`];
    const isNews = isReadyPod(after as Pod | undefined) && !isReadyPod(before as Pod | undefined);
    return isNews ? [`ready ${name}`] : [];
  });
}

/** The most pods of `count` that were not ready at once, from change number `from` of the history on. */
export function mostDown(env: Env, count: number, from: number): number {
  const up = new Set<string>();
  let most = 0;
  env.history().forEach(({ resource, name, after }, at) => {
    if (resource !== 'pods') return;
    if (isReadyPod(after as Pod | undefined)) up.add(name);
    else up.delete(name);
    if (at >= from) most = Math.max(most, count - up.size);
  });
  return most;
}
