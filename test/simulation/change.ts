import type { JsonObject } from '#base/json.ts';
import { type Millis, millis } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { textAt } from '#support/objects/json-path.ts';
import type { World } from '#support/world/world.ts';
import { images, NAMESPACE, setName } from '#support/world/world-group.ts';

/** What the world does to a rollout that goes from the old image to the new one. */
export type Change = 'rollback' | 'pause' | 'lower limit' | 'lose a pod';

/** All of them. */
export const changes: readonly Change[] = ['rollback', 'pause', 'lower limit', 'lose a pod'];

/** What strikes, where and for how long. */
export interface ChangeStroke {
  readonly change: Change;
  /** The zone that is being rolled; a pod is lost in another one. */
  readonly zone: string;
  /** How long it lasts until it is taken back, so that every story ends alike. */
  readonly lasting: Millis;
}

/** Lets a change happen now, while time may be moving, and takes it back later. */
export function strikeChange(world: World, { change, zone, lasting }: ChangeStroke): void {
  const taken = begin(world, change, zone);
  world.clock.timer(lasting, taken, { owner: 'end of a change' });
}

/** Begins `change`. @returns what ends it */
function begin(world: World, change: Change, zone: string): () => void {
  const limit = (value: string): JsonObject => ({
    metadata: { annotations: { 'rollout-max-unavailable': value } },
  });
  const pause = (value: 'true' | null): JsonObject => ({
    metadata: { annotations: { 'grafana.com/rollout-paused': value } },
  });
  switch (change) {
    case 'rollback':
      world.setImageNow(images.old);
      return () => world.setImageNow(images.new);
    case 'pause':
      world.patchSetsNow(pause('true'));
      return () => world.patchSetsNow(pause(null));
    case 'lower limit':
      world.patchSetsNow(limit('1'));
      return () => world.patchSetsNow(limit(world.options.maxUnavailable ?? '2'));
    case 'lose a pod':
      return losePod(world, zone);
    default:
      return change satisfies never;
  }
}

/** The last pod of another zone than `zone` goes, and what comes after it is not ready before the end. */
function losePod(world: World, zone: string): () => void {
  const other = world.zones.findLast((each) => each !== zone) ?? zone;
  const name = `${setName(other)}-${(world.options.replicas ?? 3) - 1}`;
  const rule = world.kubelet.behaviours.add({ behave: 'neverReady', match: { name } });
  const uid = textAt(world.stored('pods', name) ?? {}, 'metadata', 'uid') ?? '';
  world.admin
    .delete(resourceTypes.pods, { namespace: NAMESPACE, name }, { preconditions: { uid } })
    // It is gone already.
    .catch(() => undefined);
  return () => rule.remove();
}

/** All probes of `zones` fail from now on, and succeed again after `span`. */
export function strikeHiccup(world: World, zones: readonly string[], span = millis(2_000)): void {
  for (const zone of zones) {
    const match = { name: `${setName(zone)}-*` };
    const rule = world.kubelet.behaviours.add({ behave: 'neverReady', match });
    world.clock.timer(span, () => rule.remove(), { owner: 'end of a hiccup' });
  }
}

/** The zone of a world in whose set the pod or set `name` is; the first one where it is in none. */
export function zoneOf(world: World, name: string): string {
  const found = world.zones.find((zone) => `${name}-`.startsWith(`${setName(zone)}-`));
  return found ?? world.zones[0] ?? '';
}
