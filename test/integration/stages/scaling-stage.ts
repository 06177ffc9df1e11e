import { isJsonObject, type JsonObject } from '#base/json.ts';
import { minutes, seconds } from '#base/units.ts';
import { type ResourceType, resourceTypes } from '#kubernetes/resource-type.ts';
import * as scaling from '#support/objects/scaling.ts';
import type { World } from '#support/world/world.ts';
import { NAMESPACE, setName } from '#support/world/world-group.ts';

/** Annotations that make a set follow `zone`. */
export function follow(zone: string): JsonObject {
  return scaling.followAnnotations(setName(zone));
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
  await world.run(scaling.installReplicaTemplates(world.admin));
  await world.clock.advance(seconds(5));
  const key = { namespace: NAMESPACE, name };
  await world.run(scaling.createReplicaTemplate(world.admin, key, replicas));
}

/** What an autoscaler does to an object of the world's namespace. */
export async function autoscale(
  world: World,
  target: { readonly type: ResourceType; readonly name: string },
  replicas: number,
): Promise<void> {
  const scalable = { ...target, namespace: NAMESPACE };
  await world.run(scaling.autoscale(world.admin, scalable, () => replicas));
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
