import { type Millis, millis, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { delayAnnotations, forceAnnotation, mirrorAnnotations } from '#support/objects/scaling.ts';
import type { World, WorldOptions } from '#support/world/world.ts';
import { GROUP, images, NAMESPACE, setName, setOf } from '#support/world/world-group.ts';
import { takeoverFor, usualRenewals } from '#support/world/world-operator.ts';
import {
  annotateSet,
  autoscale,
  autoscaleSet,
  createTemplate,
  follow,
  untilScaled,
} from '../integration/stages/scaling-stage.ts';
import { boundOf, pause, reference, type Scenario, small, swift } from './scenario.ts';

/** {@link small} where two ends in a row leave nobody at work for less than a minute (LIVE-2). */
const handedOver: WorldOptions = { ...small, flags: [...(swift.flags ?? []), ...usualRenewals] };

/** {@link boundOf} where the story itself kills an operator. */
function boundAfterKill(waves: number): Millis {
  return millis(boundOf(waves) + takeoverFor);
}

/** About when the second pod of the first zone goes, when nothing is late. */
const middle = seconds(1.2);

/** Returns the stories in which people do more than start one rollout. */
export function otherStories(): readonly Scenario[] {
  const story = { ...reference, isPlainRollout: false };
  return [
    {
      ...story,
      name: 'rollback',
      play: async (world) => {
        await world.setImage(images.new);
        await world.clock.advance(middle);
        await world.setImage(images.old);
      },
      image: images.old,
      removals: 2,
    },
    {
      ...story,
      name: 'broken-then-fixed',
      play: async (world) => {
        // Stuck in the words of the kubelet: what is merely not ready keeps its turn for 30 minutes.
        world.kubelet.behaviours.add({ behave: 'imagePullBackOff', match: { image: images.new } });
        await world.setImage(images.new);
        await world.clock.advance(seconds(20));
        await world.setImage(images.next);
      },
      image: images.next,
      removals: 2,
    },
    {
      ...story,
      name: 'paused-zone',
      play: async (world) => {
        await world.patchSet('a', pause('true'));
        await world.setImage(images.new);
        await world.clock.advance(seconds(20));
        await world.patchSet('a', pause(null));
      },
    },
    {
      ...story,
      name: 'scaled-up',
      play: async (world) => {
        await world.setImage(images.new);
        await world.clock.advance(middle);
        await world.patchSet('b', { spec: { replicas: 3 } });
      },
      bound: boundOf(5),
      removals: 1,
    },
    {
      ...story,
      name: 'recreated-set',
      world: { ...small, controllers: { only: ['statefulset', 'garbage-collector'] } },
      play: async (world) => {
        await world.setImage(images.new);
        await world.clock.advance(middle);
        await recreate(world, 'b');
        await world.setImage(images.new);
      },
      removals: 2,
    },
    {
      ...story,
      name: 'follower-shrinks',
      world: { ...swift, replicas: 2, maxUnavailable: '1' },
      play: async (world) => {
        for (const zone of ['b', 'c']) await annotateSet(world, zone, follow('a'));
        await autoscaleSet(world, 'a', 1);
        // Between two sets the world looks complete.
        await untilScaled(world, [1, 1, 1]);
      },
      image: images.old,
      removals: 0,
    },
    {
      ...story,
      name: 'follower-shrinks-while-rolled',
      play: async (world) => {
        await annotateSet(world, 'b', follow('a'));
        await world.setImage(images.new);
        await world.clock.advance(middle);
        await autoscaleSet(world, 'a', 1);
        await untilScaled(world, [1, 1]);
      },
      removals: 1,
    },
    {
      ...story,
      name: 'rolled-back-then-shrinks',
      play: async (world) => {
        await annotateSet(world, 'b', follow('a'));
        await world.setImage(images.new, ['a']);
        await world.clock.advance(seconds(0.05));
        await world.setImage(images.old, ['a']);
        await annotateSet(world, 'b', forceAnnotation(1));
        await untilScaled(world, [2, 1]);
      },
      image: images.old,
      removals: 2,
    },
    {
      ...story,
      name: 'mirrors-shrink',
      play: async (world) => {
        await createTemplate(world, 'ingester', 2);
        for (const zone of world.zones)
          await annotateSet(world, zone, mirrorAnnotations('ingester'));
        await autoscale(world, { type: resourceTypes.replicaTemplates, name: 'ingester' }, 1);
        await untilScaled(world, [1, 1]);
      },
      image: images.old,
      removals: 0,
    },
    {
      ...story,
      name: 'mirrors-shrink-delayed',
      play: async (world) => {
        // One pod takes long to answer, so that an operator may die while it waits.
        const slow = { kind: 'late', after: seconds(2), behaves: { kind: 'application' } } as const;
        world.fleet.behave(slow, 'ingester-zone-b-1');
        await mirrorDelayed(world, '20s');
        await autoscale(world, { type: resourceTypes.replicaTemplates, name: 'ingester' }, 1);
        await untilScaled(world, [1, 1]);
      },
      image: images.old,
      removals: 0,
    },
    {
      ...story,
      name: 'delayed-count-returns',
      play: async (world) => {
        await mirrorDelayed(world, '1h');
        const template = { type: resourceTypes.replicaTemplates, name: 'ingester' };
        await autoscale(world, template, 1);
        await world.clock.advance(seconds(10));
        await autoscale(world, template, 2);
        await world.clock.advance(seconds(10));
      },
      image: images.old,
      removals: 0,
    },
    {
      ...story,
      name: 'hand-over',
      world: handedOver,
      play: async (world) => {
        await world.setImage(images.new);
        await world.clock.advance(middle);
        for (const operator of world.operators) operator.kill();
        world.startOperator();
      },
      bound: boundAfterKill(4),
    },
    {
      ...story,
      name: 'hand-over-in-good-order',
      world: handedOver,
      play: async (world) => {
        await world.setImage(images.new);
        await world.clock.advance(middle);
        await world.run(Promise.all(world.operators.map((operator) => operator.stop())));
        world.startOperator();
      },
    },
    { ...reference, name: 'two-replicas', world: { ...small, operators: 2 } },
    {
      ...reference,
      name: 'three-replicas',
      world: { ...small, operators: 3, zones: ['a', 'b', 'c'] },
      bound: boundOf(6),
    },
  ];
}

/** Every zone mirrors one template that asks for two, and asks pods `delay` before they go. */
async function mirrorDelayed(world: World, delay: string): Promise<void> {
  await createTemplate(world, 'ingester', 2);
  const annotations = { ...mirrorAnnotations('ingester'), ...delayAnnotations(delay) };
  for (const zone of world.zones) await annotateSet(world, zone, annotations);
}

/** Deletes the set of `zone`, waits until its pods are gone, and creates it as it was at first. */
async function recreate(world: World, zone: string): Promise<void> {
  const at = { namespace: NAMESPACE, name: setName(zone) };
  const { metadata } = await world.run(world.admin.get(resourceTypes.statefulSets, at));
  const preconditions = { uid: metadata.uid };
  await world.run(world.admin.delete(resourceTypes.statefulSets, at, { preconditions }));
  await world.clock.runUntil(
    () => !world.names('pods').some((name) => name.startsWith(`${at.name}-`)),
  );
  const body = setOf({ zone, group: GROUP }, world.options);
  await world.run(world.admin.create(resourceTypes.statefulSets, at, { body }));
}
