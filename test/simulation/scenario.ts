import type { JsonObject } from '#base/json.ts';
import { type Millis, millis, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { replicaTemplates } from '#replica-coordination/replica-template.ts';
import { completionBound } from '#testing/invariants/completion.ts';
import { delayAnnotations, forceAnnotation, mirrorAnnotations } from '#testing/scaling.ts';
import type { World, WorldOptions } from '#testing/world.ts';
import { GROUP, images, NAMESPACE, setName, setOf } from '#testing/world-group.ts';
import {
  annotateSet,
  autoscale,
  autoscaleSet,
  createTemplate,
  follow,
  untilScaled,
} from '../integration/scaling-stage.ts';

/** One story that is told once without faults, and then again with each fault. */
export interface Scenario {
  readonly name: string;
  readonly world: WorldOptions;
  /** What people do once the operator is ready; returns when they have done all. */
  play(world: World): Promise<void>;
  /** What every pod runs in the end. */
  readonly image: string;
  /** B of LIVE-1, counted from the last deed or fault. */
  readonly bound: Millis;
  /**
   * How often we may take each pod away. `reference`: exactly as often as without faults. A number: at most so often,
   * for stories in which a late operator finds another world than an early one.
   */
  readonly removals: 'reference' | number;
}

/** Small delays, so that a run is mostly decisions; one node, and no controller that takes no part. */
const swift: WorldOptions = {
  kubelet: {
    nodes: { count: 1 },
    delays: { stop: seconds(0.1), bind: seconds(0.1), start: seconds(0.3), ready: seconds(0.5) },
  },
  controllers: { only: ['statefulset'] },
  // A rare safety resync: nothing may depend on it, and a quiet half hour is cheap.
  flags: ['-reconcile.interval=5m'],
};

const small: WorldOptions = { ...swift, zones: ['a', 'b'], replicas: 2, maxUnavailable: '1' };

/** B for `waves` restarts: besides them the longest backoff (30 s) and the silence of a watch (90 s). */
function boundOf(waves: number): Millis {
  const podReady = seconds(1);
  return completionBound({ waves, podReady, controller: millis(0), recovery: seconds(120) });
}

/** The usual story: two zones of two pods, one at a time (D-45). */
export const reference: Scenario = {
  name: 'reference',
  world: small,
  play: (world) => world.setImage(images.new),
  image: images.new,
  bound: boundOf(4),
  removals: 'reference',
};

/** About when the second pod of the first zone goes, when nothing is late. */
const middle = seconds(1.2);

/** The stories of `npm run sweep`; {@link reference} is the one of `npm test`. */
export const scenarios: readonly Scenario[] = [
  reference,
  {
    ...reference,
    name: 'three-zones',
    world: { ...swift, replicas: 3, maxUnavailable: '2' },
    bound: boundOf(6),
  },
  {
    ...reference,
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
    ...reference,
    name: 'broken-then-fixed',
    play: async (world) => {
      world.kubelet.behaviours.add({ behave: 'neverReady', match: { image: images.new } });
      await world.setImage(images.new);
      await world.clock.advance(seconds(20));
      await world.setImage(images.next);
    },
    image: images.next,
    removals: 2,
  },
  {
    ...reference,
    name: 'paused-zone',
    play: async (world) => {
      await world.patchSet('a', pause('true'));
      await world.setImage(images.new);
      await world.clock.advance(seconds(20));
      await world.patchSet('a', pause(null));
    },
  },
  {
    ...reference,
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
    ...reference,
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
    ...reference,
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
    ...reference,
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
    ...reference,
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
    ...reference,
    name: 'mirrors-shrink',
    play: async (world) => {
      await createTemplate(world, 'ingester', 2);
      for (const zone of world.zones) await annotateSet(world, zone, mirrorAnnotations('ingester'));
      await autoscale(world, { type: replicaTemplates, name: 'ingester' }, 1);
      await untilScaled(world, [1, 1]);
    },
    image: images.old,
    removals: 0,
  },
  {
    ...reference,
    name: 'mirrors-shrink-delayed',
    play: async (world) => {
      // One pod takes long to answer, so that an operator may die while it waits.
      const slow = { kind: 'late', after: seconds(2), behaves: { kind: 'application' } } as const;
      world.fleet.behave(slow, 'ingester-zone-b-1');
      await mirrorDelayed(world, '20s');
      await autoscale(world, { type: replicaTemplates, name: 'ingester' }, 1);
      await untilScaled(world, [1, 1]);
    },
    image: images.old,
    removals: 0,
  },
  {
    ...reference,
    name: 'delayed-count-returns',
    play: async (world) => {
      await mirrorDelayed(world, '1h');
      const template = { type: replicaTemplates, name: 'ingester' };
      await autoscale(world, template, 1);
      await world.clock.advance(seconds(10));
      await autoscale(world, template, 2);
      await world.clock.advance(seconds(10));
    },
    image: images.old,
    removals: 0,
  },
  {
    ...reference,
    name: 'hand-over',
    play: async (world) => {
      await world.setImage(images.new);
      await world.clock.advance(middle);
      for (const operator of world.operators) operator.kill();
      world.startOperator();
    },
  },
];

/** Every zone mirrors one template that asks for two, and asks pods `delay` before they go. */
async function mirrorDelayed(world: World, delay: string): Promise<void> {
  await createTemplate(world, 'ingester', 2);
  const annotations = { ...mirrorAnnotations('ingester'), ...delayAnnotations(delay) };
  for (const zone of world.zones) await annotateSet(world, zone, annotations);
}

function pause(value: 'true' | null): JsonObject {
  return { metadata: { annotations: { 'grafana.com/rollout-paused': value } } };
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
