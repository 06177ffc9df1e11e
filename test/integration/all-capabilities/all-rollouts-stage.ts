/** StatefulsetRollouts in a world whose operators run everything. */
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { objectAt, objectsAt, textAt } from '#cluster/json/read-json.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { statefulsetRolloutDefinition } from '#statefulset-rollout/definition.ts';
import type { World } from '#support/world/world.ts';
import { GROUP, NAMESPACE } from '#support/world/world-group.ts';
import { imageOf, until } from './all-stage.ts';

const type = resourceTypes.statefulsetRollouts;
const stored = 'statefulsetrollouts.bedrock.operator.slack.com';

/** Lets StatefulsetRollouts be made. */
export async function installCarriers(world: World): Promise<void> {
  const body = statefulsetRolloutDefinition;
  await world.run(world.admin.create(resourceTypes.customResourceDefinitions, {}, { body }));
  await world.clock.advance(seconds(1));
}

/** A set as a StatefulsetRollout carries it: its pods have the label of the group's. */
function carriedSet(name: string, image: string, replicas: number): JsonObject {
  const labels = { name, app: GROUP };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, labels },
    spec: {
      replicas,
      serviceName: name,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: { name } },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } },
    },
  };
}

/** Makes the StatefulsetRollout `sr` over the set `name`. */
export async function createCarrier(
  world: World,
  name: string,
  { image = 'carried:1', replicas = 3 } = {},
): Promise<void> {
  const body = {
    apiVersion: `${type.group}/${type.version}`,
    kind: type.kind,
    metadata: { name: 'sr', namespace: NAMESPACE },
    spec: { percent: 100, statefulset: carriedSet(name, image, replicas) },
  };
  await world.run(world.admin.create(type, { namespace: NAMESPACE }, { body }));
}

/** Has the StatefulsetRollout roll `image` out. */
export async function changeCarried(world: World, name: string, image: string): Promise<void> {
  const document = { spec: { statefulset: carriedSet(name, image, 3) } };
  const body = { kind: 'merge', document } as const;
  await world.run(world.admin.patch(type, { namespace: NAMESPACE, name: 'sr' }, { body }));
}

/** Deletes the StatefulsetRollout, which goes once it has let its set go. */
export async function deleteCarrier(world: World): Promise<void> {
  const key = { namespace: NAMESPACE, name: 'sr' };
  await world.run(world.admin.delete(type, key, { preconditions: {} }));
}

/** Whether there is a StatefulsetRollout. */
export function hasCarrier(world: World): boolean {
  return world.stored(stored, 'sr') !== undefined;
}

/** Where the StatefulsetRollout stands, and why, as `phase reason`. */
export function carrierState(world: World): string {
  const status = objectAt(world.stored(stored, 'sr'), 'status');
  const [reason = ''] = textAt(status, 'reason').split(':');
  return `${textAt(status, 'phase')} ${reason}`;
}

/** Waits until all three pods of the set `name` run `image` and are ready. */
export async function untilCarried(world: World, name: string, image: string): Promise<void> {
  const isNew = (pod: string): boolean =>
    imageOf(world, pod) === image &&
    objectsAt(world.stored('pods', pod), 'status', 'conditions').some(
      (each) => textAt(each, 'type') === 'Ready' && textAt(each, 'status') === 'True',
    );
  await until(world, `${name} runs ${image}`, () =>
    [0, 1, 2].every((ordinal) => isNew(`${name}-${ordinal}`)),
  );
}
