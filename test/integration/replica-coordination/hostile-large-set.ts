import type { JsonObject } from '#base/json.ts';
import { minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { numberAt } from '#support/objects/json-path.ts';
import { World } from '#support/world/world.ts';
import { images, NAMESPACE, setName } from '#support/world/world-group.ts';
import { eventsAbout, podsDeletedSince } from '../stages/hostile-stage.ts';
import { blockedBy, small } from '../stages/rollout-stage.ts';

/** What an operator did about a set that is too large, and about another group. */
export interface LargeSetOutcome {
  /** Pods that were deleted once the rollout of the other group was let go. */
  readonly deleted: readonly string[];
  /** Lines of level error in its log. */
  readonly errors: readonly string[];
  readonly isAlive: boolean;
  /** What the gauge says of the group of the large set. */
  readonly blockedBy: string | undefined;
  /** What Events say of the large set. */
  readonly told: readonly string[];
  /** How much more memory the process used at most, in MiB, than before the set was large. */
  readonly grownBy: number;
}

/** Runs in a process of its own, whose memory is limited: all pods of such a set do not fit into it. */
async function run(replicas: number): Promise<LargeSetOutcome> {
  const world = await World.create(small);
  await world.addGroup('store-gateway');
  const operator = await world.readyOperator();
  await world.clock.advance(minutes(1));
  await world.setImage(images.new, ['b']);
  await pause(world, 'true');
  await world.setImageOf('store-gateway', images.new);
  await world.clock.advance(seconds(10));
  // Nobody but the operator looks at the set once it is so large.
  await world.freezeEnvironment();
  const before = process.resourceUsage().maxRSS;
  await enlarge(world, setName('b'), replicas);
  await world.clock.advance(seconds(10));
  const from = world.clock.now();
  await pause(world, null);
  await world.clock.advance(minutes(1));
  const errors = world.record.log.filter(({ level }) => level === 'error');
  return {
    deleted: podsDeletedSince(world, from),
    errors: errors.map(({ message }) => message),
    isAlive: operator.isAlive,
    blockedBy: await blockedBy(world, operator),
    grownBy: Math.round((process.resourceUsage().maxRSS - before) / 1_024),
    told: eventsAbout(world, setName('b')).map(({ message }) => message),
  };
}

/** Sets `spec.replicas` as a person does, and the status as a controller that has seen it. */
async function enlarge(world: World, name: string, replicas: number): Promise<void> {
  const key = { namespace: NAMESPACE, name };
  const patch = async (document: JsonObject, subresource?: 'status'): Promise<void> => {
    const body = { kind: 'merge', document } as const;
    const write = subresource === undefined ? { body } : { body, subresource };
    await world.run(world.admin.patch(resourceTypes.statefulSets, key, write));
  };
  await patch({ spec: { replicas } });
  const generation = numberAt(
    world.stored('statefulsets.apps', name) ?? {},
    'metadata',
    'generation',
  );
  await patch({ status: { observedGeneration: generation ?? 0 } }, 'status');
}

/** Pauses the other group, or lets it go. */
async function pause(world: World, value: 'true' | null): Promise<void> {
  const document = { metadata: { annotations: { 'grafana.com/rollout-paused': value } } };
  const body = { kind: 'merge', document } as const;
  for (const zone of world.zones) {
    const key = { namespace: NAMESPACE, name: setName(zone, 'store-gateway') };
    await world.run(world.admin.patch(resourceTypes.statefulSets, key, { body }));
  }
}

const outcome = await run(Number(process.argv[2]));
process.send?.(outcome, () => process.exit(0));
