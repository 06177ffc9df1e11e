import { isJsonObject, type JsonObject } from '#base/json.ts';
import { canonicalJson } from '#cluster/json/read-json.ts';
import type { World } from '#support/world/world.ts';

/**
 * What a story ends in, by object: of each set and each pod its labels, annotations and spec, of sets the counts and
 * revisions of the status, and of pods whether they are prepared to go (SWEEP-2 a). The reviewed masks (SWEEP-2 c) are all that is missing: uids, revisions,
 * times, nodes and addresses, which differ with every schedule.
 */
export function endState(world: World): ReadonlyMap<string, string> {
  const state = new Map<string, string>();
  for (const resource of ['statefulsets.apps', 'pods']) {
    for (const name of world.names(resource)) {
      const object = world.stored(resource, name) ?? {};
      const isPrepared = world.fleet.preparedSince(name) !== undefined;
      const shown = resource === 'pods' ? shownPod(object, isPrepared) : shownSet(object);
      state.set(`${resource} ${name}`, canonicalJson(shown));
    }
  }
  return state;
}

function shownSet(set: JsonObject): JsonObject {
  const { conditions: _, ...status } = objectAt(set, 'status');
  return { ...shownMetadata(set), spec: objectAt(set, 'spec'), status };
}

function shownPod(pod: JsonObject, isPrepared: boolean): JsonObject {
  const { containers = [] } = objectAt(pod, 'spec');
  const { phase = '' } = objectAt(pod, 'status');
  return { ...shownMetadata(pod), containers, phase, isPrepared };
}

function shownMetadata(object: JsonObject): JsonObject {
  const metadata = objectAt(object, 'metadata');
  return { labels: objectAt(metadata, 'labels'), annotations: objectAt(metadata, 'annotations') };
}

function objectAt(object: JsonObject, member: string): JsonObject {
  const value = object[member];
  return isJsonObject(value) ? value : {};
}
