import type { JsonObject } from '#base/json.ts';
import { type Millis, millis, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { completionBound } from '#testing/invariants/completion.ts';
import { delayAnnotations, forceAnnotation, mirrorAnnotations } from '#testing/scaling.ts';
import type { World, WorldOptions } from '#testing/world.ts';
import { GROUP, images, NAMESPACE, setName, setOf } from '#testing/world-group.ts';
import { OPERATOR_USER, takeoverFor, usualRenewals } from '#testing/world-operator.ts';
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
  /** What is arranged before the operator starts. */
  prepare?(world: World): Promise<void>;
  /** What people do once the operator is ready; returns when they have done all. */
  play(world: World): Promise<void>;
  /** The groups that have to be complete in the end. @default the usual one */
  readonly groups?: readonly string[];
  /** What every pod runs in the end. */
  readonly image: string;
  /** B of LIVE-1, counted from the last deed or fault. */
  readonly bound: Millis;
  /**
   * How often we may take each pod away. `reference`: exactly as often as without faults. A number: at most so often,
   * for stories in which a late operator finds another world than an early one.
   */
  readonly removals: 'reference' | number;
  /**
   * Whether it is nothing but a rollout from the old image to the new one, into which the world may break: a rollback,
   * a pause and so on, each taken back (D-57). @default false
   */
  readonly isPlainRollout?: boolean;
  /** `npm run sweep` tries one fault in so many, for stories of thousands of calls that are all alike. @default 1: each */
  readonly sample?: number;
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

/** {@link small} where two ends in a row leave nobody at work for less than a minute (LIVE-2). */
const handedOver: WorldOptions = { ...small, flags: [...(swift.flags ?? []), ...usualRenewals] };

/** B for `waves` restarts: besides them the longest backoff (30 s) and the silence of a watch (90 s). */
function boundOf(waves: number): Millis {
  const podReady = seconds(1);
  return completionBound({ waves, podReady, controller: millis(0), recovery: seconds(120) });
}

/** The same where the story itself kills an operator. */
function boundAfterKill(waves: number): Millis {
  return millis(boundOf(waves) + takeoverFor);
}

/** The usual story: two zones of two pods, one at a time (D-45). */
export const reference: Scenario = {
  name: 'reference',
  world: small,
  play: (world) => world.setImage(images.new),
  image: images.new,
  bound: boundOf(4),
  removals: 'reference',
  isPlainRollout: true,
};

/** A deletion whose effect comes 3 s after it was sent. */
const slowDelete = { kind: 'delay', delay: seconds(3) } as const;

/** A rollout of three zones of three pods, two at a time. */
const threeZones: Scenario = {
  ...reference,
  name: 'three-zones',
  world: { ...swift, replicas: 3, maxUnavailable: '2' },
  bound: boundOf(6),
};

/** {@link threeZones} where each deletion takes 3 s, so that a batch is long under way. */
export const slowDeletions: Scenario = {
  ...threeZones,
  name: 'slow-deletions',
  prepare: async (world) => {
    const match = { user: OPERATOR_USER, verb: 'delete', resource: 'pods' };
    world.cluster.faults.add({ match, action: slowDelete });
    await Promise.resolve();
  },
  bound: boundOf(12),
};

/** {@link threeZones} where the client of the operator lets one request a second go. */
export const limitedClient: Scenario = {
  ...threeZones,
  name: 'limited-client',
  world: {
    ...threeZones.world,
    flags: [...(swift.flags ?? []), '-kubernetes.client-qps=1', '-kubernetes.client-burst=1'],
  },
  bound: boundOf(20),
};

/** Two groups of one namespace are rolled at once: the deletions of each keep the cache of both proven young. */
export const twoGroups: Scenario = {
  ...reference,
  name: 'two-groups',
  groups: [GROUP, 'store'],
  world: { ...small, zones: ['a', 'b', 'c'] },
  prepare: (world) => world.addGroup('store'),
  play: async (world) => {
    await world.setImageOf('store', images.new);
    await world.setImage(images.new);
  },
  bound: boundOf(6),
};

/** Three zones mirror a resource while they are rolled: each pass reads its count first. */
export const mirroredRollout: Scenario = {
  ...reference,
  name: 'mirrored-rollout',
  world: { ...small, zones: ['a', 'b', 'c'] },
  play: async (world) => {
    await createTemplate(world, 'ingester', 2);
    for (const zone of world.zones) await annotateSet(world, zone, mirrorAnnotations('ingester'));
    await world.setImage(images.new);
  },
  bound: boundOf(6),
};

/**
 * {@link mirroredRollout} beside a group that is rolled for long: its deletions keep proving the cache of pods, while a
 * pass over the first group waits for the count that it mirrors just when it may begin.
 */
export const mirroredBesideAnother: Scenario = {
  ...mirroredRollout,
  name: 'mirrored-beside-another',
  groups: [GROUP, 'store'],
  prepare: (world) => world.addGroup('store', { replicas: 14, maxUnavailable: '1' }),
  play: async (world) => {
    await world.setImageOf('store', images.new);
    world.patchSetsNow(pause('true'));
    await mirroredRollout.play(world);
    await world.clock.advance(seconds(1));
    // The pass that reads the count is the one that may begin to roll.
    world.patchSetsNow(pause(null));
    await touchTemplate(world, 1);
  },
  bound: boundOf(42),
  // A prime, so that of the faults of one call it is not always the same that is tried.
  sample: 7,
};

/** About when the second pod of the first zone goes, when nothing is late. */
const middle = seconds(1.2);

/** The stories of `npm run sweep`; {@link reference} is the one of `npm test`. */
export const scenarios: readonly Scenario[] = [
  reference,
  threeZones,
  slowDeletions,
  limitedClient,
  twoGroups,
  mirroredRollout,
  mirroredBesideAnother,
  ...otherStories(),
];

/** Stories in which people do more than start one rollout. */
function otherStories(): readonly Scenario[] {
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

/** Changes the template that is mirrored, but not its count: it has to be read anew. */
async function touchTemplate(world: World, touches: number): Promise<void> {
  const at = { namespace: NAMESPACE, name: 'ingester' };
  const document = { metadata: { annotations: { touches: String(touches) } } };
  await world.run(
    world.admin.patch(resourceTypes.replicaTemplates, at, { body: { kind: 'merge', document } }),
  );
}

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
