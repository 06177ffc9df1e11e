import type { JsonObject } from '#base/json.ts';
import { type Millis, millis } from '#base/units.ts';
import { selects } from '../controllers/label-selector.ts';
import { SeededRandom } from '../seeded-random.ts';
import type { KubeletPod } from './views.ts';

/**
 * How long the steps of a pod take (KU-3, KU-4). Each counts from when the step before was due, not from when its
 * write ended, so latency of the API does not add up.
 *
 * From the DELETE of a pod to Ready of its replacement pass `stop + bind + start + ready`, plus what the
 * StatefulSet controller needs to see the one gone and create the other: nothing in virtual time.
 */
export interface Delays {
  /** From DELETE to removal; the pod's grace period where that is shorter. @default 100 ms */
  readonly stop: Millis;
  /** From creation to the binding. @default 100 ms */
  readonly bind: Millis;
  /** From the binding to phase Running. @default 1 s */
  readonly start: Millis;
  /** From Running to Ready. @default 2 s */
  readonly ready: Millis;
  /** Each delay varies by up to this share of it, up or down, by the seed. @default 0 */
  readonly jitter: number;
}

/** Delays for the pods that a LabelSelector matches; later ones win. */
export interface DelayOverride {
  readonly selector: JsonObject;
  readonly delays: Partial<Delays>;
}

/** How long a pod takes from one step of its life to the next (KU-3). */
const defaultDelays: Delays = Object.freeze({
  stop: millis(100),
  bind: millis(100),
  start: millis(1_000),
  ready: millis(2_000),
  jitter: 0,
});

/** Looks up and varies delays; the same seed and pod give the same delays, in whatever order pods start. */
export class DelayTable {
  readonly #base: Delays;
  readonly #overrides: readonly DelayOverride[];
  readonly #random: SeededRandom;

  constructor(
    options: {
      readonly delays?: Partial<Delays> | undefined;
      readonly overrides?: readonly DelayOverride[] | undefined;
    },
    seed: number,
  ) {
    this.#base = { ...defaultDelays, ...options.delays };
    this.#overrides = options.overrides ?? [];
    this.#random = new SeededRandom(seed);
  }

  /** Returns the delays of `pod`, jitter included; whole milliseconds. */
  of(pod: KubeletPod): Delays {
    let delays = this.#base;
    for (const override of this.#overrides) {
      if (selects(override.selector, pod.labels)) delays = { ...delays, ...override.delays };
    }
    if (delays.jitter === 0) return delays;
    const random = this.#random.derive(pod.uid);
    const vary = (delay: Millis): Millis =>
      millis(Math.round(delay * (1 + delays.jitter * (2 * random.fraction() - 1))));
    return {
      stop: vary(delays.stop),
      bind: vary(delays.bind),
      start: vary(delays.start),
      ready: vary(delays.ready),
      jitter: delays.jitter,
    };
  }
}
