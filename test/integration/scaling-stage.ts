import { isJsonObject, type JsonObject } from '#base/json.ts';
import { minutes, seconds } from '#base/units.ts';
import { resourcePath } from '#kubernetes/resource-path.ts';
import { type ResourceType, resourceTypes } from '#kubernetes/resource-type.ts';
import {
  replicaTemplateDefinition,
  replicaTemplates,
} from '#replica-coordination/replica-template.ts';
import type { World } from '#testing/world.ts';
import { NAMESPACE, setName } from '#testing/world-group.ts';

const PREFIX = 'grafana.com/';

/** Annotations that make a set follow `zone`. */
export function follow(zone: string): JsonObject {
  return { [`${PREFIX}rollout-downscale-leader`]: setName(zone) };
}

/** Annotations that make a set mirror the ReplicaTemplate `name`. */
export function mirror(name: string): JsonObject {
  const key = `${PREFIX}rollout-mirror-replicas-from-resource`;
  return {
    [`${key}-name`]: name,
    [`${key}-kind`]: 'ReplicaTemplate',
    [`${key}-api-version`]: 'rollout-operator.grafana.com/v1',
  };
}

/** Annotates the set of `zone`. */
export async function annotateSet(
  world: World,
  zone: string,
  annotations: JsonObject,
): Promise<void> {
  await world.patchSet(zone, { metadata: { annotations } });
}

/** Installs ReplicaTemplate, and creates one that asks for `replicas`. */
export async function createTemplate(world: World, name: string, replicas: number): Promise<void> {
  const definition = { body: replicaTemplateDefinition };
  await world.run(world.admin.create(resourceTypes.customResourceDefinitions, {}, definition));
  // The server serves a new type a moment later.
  await world.clock.advance(seconds(5));
  const { group, version, kind } = replicaTemplates;
  const body = {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name, namespace: NAMESPACE },
    spec: { replicas },
  };
  await world.run(world.admin.create(replicaTemplates, { namespace: NAMESPACE }, { body }));
}

/** What an autoscaler does: reads the scale of an object, and puts it back with another count. */
export async function autoscale(
  world: World,
  target: { readonly type: ResourceType; readonly name: string },
  replicas: number,
): Promise<void> {
  const { type, name } = target;
  const key = { namespace: NAMESPACE, name };
  const path = resourcePath(type, { ...key, subresource: 'scale' });
  const scale = await world.run(world.admin.raw({ method: 'GET', path }));
  if (!isJsonObject(scale)) throw new Error('the scale is no object');
  const body = { ...scale, spec: { replicas } };
  await world.run(world.admin.replace(type, key, { body, subresource: 'scale' }));
}

/** As {@link autoscale} on the set of `zone`. */
export async function autoscaleSet(world: World, zone: string, replicas: number): Promise<void> {
  await autoscale(world, { type: resourceTypes.statefulSets, name: setName(zone) }, replicas);
}

/** `spec.replicas` of the sets of all zones, in order. */
export function replicasOf(world: World): readonly number[] {
  return world.zones.map((zone) =>
    countIn(world.stored('statefulsets.apps', setName(zone)), 'spec'),
  );
}

/** Lets time run until all sets have `replicas`, wanted and present and ready. */
export async function untilScaled(world: World, replicas: readonly number[]): Promise<void> {
  const isScaled = (): boolean =>
    world.zones.every((zone, index) => {
      const set = world.stored('statefulsets.apps', setName(zone));
      const status = isJsonObject(set?.['status']) ? set['status'] : {};
      const wanted = replicas[index];
      return (
        countIn(world.stored('statefulsets.apps', setName(zone)), 'spec') === wanted &&
        (status['replicas'] ?? 0) === wanted &&
        (status['readyReplicas'] ?? 0) === wanted
      );
    });
  await world.clock.runUntil(isScaled, { maxVirtual: minutes(30) });
}

/** `status.replicas` of a ReplicaTemplate. */
export function reportedBy(world: World, name: string): number {
  return countIn(world.stored('replicatemplates.rollout-operator.grafana.com', name), 'status');
}

function countIn(object: JsonObject | undefined, part: 'spec' | 'status'): number {
  const members = object?.[part];
  const count = isJsonObject(members) ? members['replicas'] : undefined;
  return typeof count === 'number' ? count : 0;
}
