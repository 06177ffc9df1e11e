/** A world with a rollout group, a set `db` for a PhasedRollout, and operators that reconcile both, or groups alone. */
import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json.ts';
import { minutes, seconds } from '#base/units.ts';
import type { Commit } from '#cluster/event-log.ts';
import { numberAt, objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { phasedCapability } from '#operator/phased-rollout/capability.ts';
import { phasedRolloutDefinition } from '#phased-rollout/definition.ts';
import { FakePrometheus } from '#support/external-services/fake-prometheus.ts';
import { World, type WorldOptions } from '#support/world/world.ts';
import { GROUP, images, NAMESPACE } from '#support/world/world-group.ts';
import { OPERATOR_USER } from '#support/world/world-operator.ts';

/** Three zones of two pods, one at a time. */
const usualGroup: WorldOptions = { replicas: 2, maxUnavailable: '1' };

const patience = minutes(20);

const rollouts = resourceTypes.phasedRollouts;

/** Opens a world whose operators reconcile groups and PhasedRollouts. */
export function openBoth(options: WorldOptions = {}): Promise<World> {
  const beside: WorldOptions['beside'] = ({ clock }) => ({
    resources: [phasedCapability(new FakePrometheus(clock))],
  });
  return World.create({ ...usualGroup, beside, ...options });
}

/** Opens a world whose operators reconcile groups alone. */
export function openGroups(options: WorldOptions = {}): Promise<World> {
  return World.create({ ...usualGroup, ...options });
}

/** Lets PhasedRollouts be made. */
export async function installRollouts(world: World): Promise<void> {
  const body = phasedRolloutDefinition;
  await world.run(world.admin.create(resourceTypes.customResourceDefinitions, {}, { body }));
  await world.clock.advance(seconds(1));
}

const otherGroups = [
  '',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apps',
  'coordination.k8s.io',
  'discovery.k8s.io',
  'events.k8s.io',
  'policy',
  'rollout-operator.grafana.com',
];

/** Takes all about PhasedRollouts from the operators' Role, which permits all else. @returns what gives it back */
export function forbidRollouts({ cluster: { authorizer } }: World): () => void {
  const rules = [{ apiGroups: otherGroups, resources: ['*'], verbs: ['*'] }];
  authorizer.restrict([{ user: OPERATOR_USER, rules }]);
  return () => authorizer.restrict([]);
}

/** Makes a set of three pods that the StatefulSet controller rolls, with the label of the group's pods; resolves when they are ready. */
export async function createDb(world: World): Promise<void> {
  const labels = { name: 'db', app: GROUP };
  const body = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', namespace: NAMESPACE, labels },
    spec: {
      replicas: 3,
      serviceName: 'db',
      selector: { matchLabels: { name: 'db' } },
      template: { metadata: { labels }, spec: { containers: [{ name: 'db', image: 'db:1' }] } },
    },
  };
  const at = { namespace: NAMESPACE, name: 'db' };
  await world.run(world.admin.create(resourceTypes.statefulSets, at, { body }));
  await untilDb(world, 'db:1');
}

/** Gives `db` another image. */
export async function changeDb(world: World, image: string): Promise<void> {
  await patchAny(world, 'db', {
    spec: { template: { spec: { containers: [{ name: 'db', image }] } } },
  });
}

/** Waits until all pods of `db` run `image` and are ready. */
export async function untilDb(world: World, image: string): Promise<void> {
  const names = ['db-0', 'db-1', 'db-2'];
  const isDone = (): boolean =>
    names.every((name) => imageOf(world, name) === image && isReady(world.stored('pods', name)));
  await until(world, `db runs ${image}`, isDone);
}

/** Changes the set `name`. */
export async function patchAny(world: World, name: string, document: JsonObject): Promise<void> {
  const at = { namespace: NAMESPACE, name };
  const body = { kind: 'strategic', document } as const;
  await world.run(world.admin.patch(resourceTypes.statefulSets, at, { body }));
}

/** Makes a PhasedRollout of the set `targetRef`; its checks take a few seconds, and pass. */
export async function createRollout(
  world: World,
  targetRef: string,
  name: string = 'pr1',
): Promise<void> {
  const body = {
    apiVersion: `${rollouts.group}/${rollouts.version}`,
    kind: rollouts.kind,
    metadata: { name, namespace: NAMESPACE },
    spec: {
      targetRef,
      check: {
        initialDelaySeconds: 2,
        periodSeconds: 2,
        successThreshold: 2,
        query: { expr: 'errors < 5', url: 'http://prometheus:9090' },
      },
    },
  };
  await world.run(world.admin.create(rollouts, { namespace: NAMESPACE }, { body }));
}

/** Changes the PhasedRollout `name`. */
export async function patchRollout(
  world: World,
  document: JsonObject,
  name: string = 'pr1',
): Promise<void> {
  const body = { kind: 'merge', document } as const;
  await world.run(world.admin.patch(rollouts, { namespace: NAMESPACE, name }, { body }));
}

/** Deletes the PhasedRollout `name`, which goes once it has let its set go. */
export async function deleteRollout(world: World, name: string = 'pr1'): Promise<void> {
  const key = { namespace: NAMESPACE, name };
  await world.run(world.admin.delete(rollouts, key, { preconditions: {} }));
}

function storedRollout(world: World, name: string): JsonObject | undefined {
  return world.stored('phasedrollouts.sts.plus', name);
}

/** Whether there is a PhasedRollout `name`. */
export function hasRollout(world: World, name: string = 'pr1'): boolean {
  return storedRollout(world, name) !== undefined;
}

/** The phase of a PhasedRollout, and why it is not ready. */
export function phaseOf(world: World, name: string = 'pr1'): string {
  return textAt(storedRollout(world, name), 'status', 'phase');
}

/** Message of the condition Ready of a PhasedRollout. */
export function readyMessage(world: World, name: string = 'pr1'): string {
  const conditions = objectsAt(objectAt(storedRollout(world, name), 'status'), 'conditions');
  return textAt(
    conditions.find((each) => textAt(each, 'type') === 'Ready'),
    'message',
  );
}

/** The partition of the set `name`. */
export function partitionOf(world: World, name: string = 'db'): number {
  const set = world.stored('statefulsets.apps', name);
  return numberAt(set, 'spec', 'updateStrategy', 'rollingUpdate', 'partition') ?? 0;
}

/** The PhasedRollout that the annotation of the set `name` names. */
export function ownerOf(world: World, name: string): string {
  const set = world.stored('statefulsets.apps', name);
  return textAt(set, 'metadata', 'annotations', 'sts.plus/phasedRollout');
}

/** The image of a stored pod. */
export function imageOf(world: World, pod: string): string {
  const stored = world.stored('pods', pod);
  return textAt(objectsAt(objectAt(stored, 'spec'), 'containers')[0], 'image');
}

/** How many pods of `zone` run the new image. */
export function newPodsOf(world: World, zone: string): number {
  const names = world.names('pods').filter((pod) => pod.startsWith(`ingester-zone-${zone}-`));
  return names.filter((name) => imageOf(world, name) === images.new).length;
}

/** Messages of Events with `reason` about the object `name`. */
export function messagesOf(world: World, name: string, reason: string): readonly string[] {
  return world
    .names('events')
    .map((event) => world.stored('events', event))
    .filter((event) => textAt(event, 'reason') === reason)
    .filter((event) => textAt(event, 'involvedObject', 'name') === name)
    .map((event) => textAt(event, 'message'));
}

/** Lets time run until `holds`. */
export async function until(world: World, what: string, holds: () => boolean): Promise<void> {
  const end = world.clock.monotonic() + patience;
  await world.clock.runUntil(() => holds() || world.clock.monotonic() > end);
  assert.ok(holds(), what);
}

function isReady(pod: JsonObject | undefined): boolean {
  if (pod === undefined || textAt(pod, 'metadata', 'deletionTimestamp') !== '') return false;
  return objectsAt(objectAt(pod, 'status'), 'conditions').some(
    (each) => textAt(each, 'type') === 'Ready' && textAt(each, 'status') === 'True',
  );
}

/** Watches pods from when all are ready on, and remembers the moments at which several sets lacked some. */
export class LackWatch {
  /** Names of the sets, as in `db,ingester-zone-a`, each once. */
  readonly together = new Set<string>();
  readonly #lacking = new Set<string>();

  constructor({ cluster }: World) {
    cluster.eventLog.onCommit((commit) => this.#see(commit));
  }

  #see({ resource, name, after }: Commit): void {
    if (resource !== 'pods') return;
    if (isReady(after)) this.#lacking.delete(name);
    else this.#lacking.add(name);
    const sets = new Set([...this.#lacking].map((pod) => pod.replace(/-\d+$/, '')));
    if (sets.size > 1) this.together.add([...sets].toSorted().join());
  }
}
