import { type Millis, millis } from '#base/units.ts';
import type { Delays } from '#cluster/kubelet/delays.ts';

/** What a pod of the demo takes at speed 1: 1.2 s from its deletion to Ready of the next one. */
const demoDelays = { stop: 100, bind: 50, start: 250, ready: 800 } as const;

/** Returns the delays of the demo, divided by `speed`. */
export function delaysAt(speed: number): Omit<Delays, 'jitter'> {
  const { stop, bind, start, ready } = demoDelays;
  return {
    stop: millis(stop / speed),
    bind: millis(bind / speed),
    start: millis(start / speed),
    ready: millis(ready / speed),
  };
}

/** Returns the time from the deletion of a pod to Ready of its replacement. */
export function restartOf({ stop, bind, start, ready }: Omit<Delays, 'jitter'>): Millis {
  return millis(stop + bind + start + ready);
}

/** One zone, as far as it bounds how fast a group can roll. */
export interface ZoneSize {
  readonly pods: number;
  /** Pods that may be unavailable at once, >= 1. */
  readonly limit: number;
}

/**
 * Returns the time below which no rollout of `zones` can come, one zone after the other: each takes as many restarts in a
 * row as its limit makes necessary.
 */
export function physicalLimit(zones: readonly ZoneSize[], restart: Millis): Millis {
  const waves = zones.map(({ pods, limit }) => Math.ceil(pods / limit));
  return millis(waves.reduce((sum, count) => sum + count, 0) * restart);
}
