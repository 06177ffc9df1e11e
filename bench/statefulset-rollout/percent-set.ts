import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '#base/json.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { arrayAt, integerAt, objectAt, objectsIn, stringAt } from '#statefulset/parse-fields.ts';
import { namespace, podTemplate } from '../cluster/workload.ts';

/** A set that StatefulsetRollouts of its name roll out. */
export interface RolledSet {
  readonly name: string;
  readonly replicas: number;
  /** Size of each pod as JSON, to be reached by padding its template; 0: none. */
  readonly podBytes: number;
}

const type = resourceTypes.statefulsetRollouts;

/** Returns `set` as its resource carries it. */
export function carriedSet({ name, replicas, podBytes }: RolledSet, image: string): JsonObject {
  const labels = { app: name };
  const template = podTemplate(labels, podBytes);
  const spec = objectAt(template, 'spec');
  const containers = objectsIn(arrayAt(spec, 'containers')).map((each) => ({ ...each, image }));
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace },
    spec: {
      replicas,
      serviceName: name,
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: labels },
      template: { ...template, spec: { ...spec, containers } } as JsonObject,
    },
  };
}

/** Makes a native budget over all pods of the set. */
export async function createNativeBudget(
  client: Client,
  { name }: RolledSet,
  maxUnavailable: number,
): Promise<void> {
  const spec = { selector: { matchLabels: { app: name } }, maxUnavailable };
  const body = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace },
    spec,
  };
  await client.create(resourceTypes.podDisruptionBudgets, { namespace, name }, { body });
}

/** Makes a StatefulsetRollout that leaves its set where it is when it goes. */
export async function createRollout(client: Client, set: RolledSet, image: string): Promise<void> {
  const { name } = set;
  const spec = { percent: 100, deletionPolicy: 'Orphan', statefulset: carriedSet(set, image) };
  const metadata = { name, namespace };
  const body = { apiVersion: 'bedrock.operator.slack.com/v1', kind: type.kind, metadata, spec };
  await client.create(type, { namespace, name }, { body });
}

const every = 20;

/** Resolves when the rollout of the present generation has ended well. @throws when it fails, or after `patience` ms */
export async function rolledOut(client: Client, name: string, patience: number): Promise<void> {
  const deadline = performance.now() + patience;
  for (;;) {
    const stored: JsonObject = await client.get(type, { namespace, name });
    const status = objectAt(stored, 'status');
    const generation = integerAt(objectAt(stored, 'metadata'), 'generation');
    const isObserved = integerAt(status, 'observedGeneration') === generation;
    const phase = stringAt(status, 'phase');
    if (isObserved && phase === 'RolloutDone') return;
    const reason = `${phase}, ${stringAt(status, 'reason')}`;
    if (isObserved && phase === 'RolloutFailed') throw new Error(`${name} has failed: ${reason}`);
    if (performance.now() > deadline) throw new Error(`${name} is not rolled out: ${reason}`);
    await sleep(every);
  }
}

/** Deletes the StatefulsetRollout, and resolves when it is gone. */
export async function deleteRollout(client: Client, name: string): Promise<void> {
  const key = { namespace, name };
  await client.delete(type, key, { preconditions: {} });
  for (;;) {
    const { items } = await client.list(type, { namespace });
    if (!items.some(({ metadata }) => metadata.name === name)) return;
    await sleep(every);
  }
}

/** Resolves when all pods of the set are ready, by its status. @throws after `patience` ms */
export async function setIsWhole(
  client: Client,
  { name, replicas }: RolledSet,
  limit: number,
): Promise<void> {
  const deadline = performance.now() + limit;
  for (;;) {
    const stored: JsonObject = await client.get(resourceTypes.statefulSets, { namespace, name });
    const ready = integerAt(objectAt(stored, 'status'), 'readyReplicas') ?? 0;
    if (ready === replicas) return;
    if (performance.now() > deadline) throw new Error(`${name} has ${ready} pods ready`);
    await sleep(every);
  }
}
