import { type Millis, seconds } from '#base/units.ts';
import type { World, WorldOptions } from '#testing/world.ts';
import { images } from '#testing/world-group.ts';

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

/** Small delays, so that a run is mostly decisions. */
const swift = {
  delays: { stop: seconds(0.1), bind: seconds(0.1), start: seconds(0.3), ready: seconds(0.5) },
} as const;

/** A rare safety resync: nothing may depend on it, and a quiet half hour is cheap. */
const flags = ['-reconcile.interval=5m'];

/** The usual story: two zones of two pods, one at a time (D-45). */
export const reference: Scenario = {
  name: 'reference',
  world: { zones: ['a', 'b'], replicas: 2, maxUnavailable: '1', kubelet: swift, flags },
  play: (world) => world.setImage(images.new),
  image: images.new,
  // 2 × 4 waves × (1 s + 0 s + 5 s) + backoff 30 s + silence of a watch 90 s.
  bound: seconds(168),
  removals: 'reference',
};
