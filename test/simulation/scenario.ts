/**
 * Stories that are reported once without faults, and then with each fault at each request or event. The folder has the faults,
 * and compares the ends; what must hold is in `test/support/invariants/`.
 */
import type { JsonObject } from '#base/json.ts';
import { type Millis, millis, minutes, seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { completionBound } from '#support/invariants/liveness/completion.ts';
import { mirrorAnnotations } from '#support/objects/scaling.ts';
import type { World, WorldOptions } from '#support/world/world.ts';
import { GROUP, images, NAMESPACE } from '#support/world/world-group.ts';
import { OPERATOR_USER } from '#support/world/world-operator.ts';
import { allowBudgets, makeBudget } from '../integration/stages/budget-stage.ts';
import { annotateSet, createTemplate } from '../integration/stages/scaling-stage.ts';

/** One story that is reported once without faults, and then again with each fault. */
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
  /** The time in which all must end (LIVE-1), counted from the last deed or fault. */
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
  /** `npm run do sweep` tries one fault in so many, for stories of thousands of calls that are all alike. @default 1: each */
  readonly sample?: number;
}

/** Small delays, so that a run is mostly decisions; one node, and no controller that takes no part. */
export const swift: WorldOptions = {
  kubelet: {
    nodes: { count: 1 },
    delays: { stop: seconds(0.1), bind: seconds(0.1), start: seconds(0.3), ready: seconds(0.5) },
  },
  controllers: { only: ['statefulset'] },
  // A rare safety resync: nothing may depend on it, and a quiet half hour is cheap.
  flags: ['-reconcile.interval=5m'],
};

export const small: WorldOptions = {
  ...swift,
  zones: ['a', 'b'],
  replicas: 2,
  maxUnavailable: '1',
};

/** B for `waves` restarts: besides them the longest backoff (30 s) and the silence of a watch (90 s). */
export function boundOf(waves: number): Millis {
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
  isPlainRollout: true,
};

/** A deletion whose effect comes 3 s after it was sent. */
const slowDelete = { kind: 'delay', delay: seconds(3) } as const;

/** A rollout of three zones of three pods, two at a time. */
export const threeZones: Scenario = {
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

/** {@link reference} under a disruption budget, whose ledger is asked before each deletion. */
export const budgeted: Scenario = {
  ...reference,
  name: 'budgeted',
  prepare: async (world) => {
    await allowBudgets(world);
    await makeBudget(world);
  },
  // Until then it is unknown what was given away before; and what has ended is taken out of the ledger when all is done.
  play: async (world) => {
    await world.clock.advance(minutes(3));
    await world.setImage(images.new);
    await world.clock.advance(minutes(6));
  },
  // A ledger that cannot be read, or is lost, is waited for.
  bound: millis(boundOf(4) + 2 * minutes(2)),
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

/** Changes the template that is mirrored, but not its count: it has to be read again. */
async function touchTemplate(world: World, touches: number): Promise<void> {
  const at = { namespace: NAMESPACE, name: 'ingester' };
  const document = { metadata: { annotations: { touches: String(touches) } } };
  await world.run(
    world.admin.patch(resourceTypes.replicaTemplates, at, { body: { kind: 'merge', document } }),
  );
}

/** What sets, or takes back, the pause of a set. */
export function pause(value: 'true' | null): JsonObject {
  return { metadata: { annotations: { 'grafana.com/rollout-paused': value } } };
}
