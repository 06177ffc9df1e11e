import { type Millis, seconds } from '#base/units.ts';
import { SeededRandom } from '#cluster/seeded-random.ts';
import type { WorldOptions } from '#support/world/world.ts';
import type { Scenario } from './scenario.ts';

/**
 * The story with events that reach the operator up to `longest` late, each watch by itself: the order within a watch
 * stays, that between watches does not. Only the delays depend on `seed` (CK-6, `fuzzOrder`).
 */
export function fuzzed(scenario: Scenario, seed: number, longest: Millis): Scenario {
  const delivery: WorldOptions['delivery'] = () => ({
    minimum: seconds(0),
    maximum: longest,
    random: new SeededRandom(seed),
  });
  return {
    ...scenario,
    name: `${scenario.name} with events up to ${longest} ms late, seed ${seed}`,
    world: { ...scenario.world, delivery },
    // Each restart may wait for a few events, one after the other.
    bound: seconds((scenario.bound + 40 * longest) / 1_000),
  };
}
