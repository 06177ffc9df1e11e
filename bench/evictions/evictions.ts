import type { Bench } from '../bench.ts';
import type { Findings, Size } from '../figures.ts';
import { measureDenials } from './eviction-denials.ts';
import { measureDrain } from './eviction-drain.ts';
import { measureGovernedPods } from './eviction-memory.ts';
import { measurePacedEvictions } from './eviction-rate.ts';
import { measureGovernedRollouts } from './eviction-rollout.ts';
import { measureTroubles } from './eviction-troubles.ts';

/** What can be run by itself, such as `evictions/drain`. */
const parts: Readonly<Record<string, (size: Size) => Promise<readonly Findings[]>>> = {
  drain: async (size) => [await measureDrain(size)],
  denials: async (size) => [await measureDenials(size)],
  rate: async (size) => [await measurePacedEvictions(size)],
  troubles: async (size) => [await measureTroubles(size)],
  rollout: measureGovernedRollouts,
  memory: async (size) => [await measureGovernedPods(size)],
};

/** What budgets cost those who evict, and those who roll. */
export const evictions: Bench = {
  about: `evictions and rollouts under a budget; parts: ${Object.keys(parts)
    .map((part) => `evictions/${part}`)
    .join(', ')}`,
  run: async (size) => {
    // What measures nothing need not wait for anybody.
    if (size === 'tiny') {
      return (await Promise.all(Object.values(parts).map((measure) => measure(size)))).flat();
    }
    const findings: Findings[] = [];
    for (const measure of Object.values(parts)) findings.push(...(await measure(size)));
    return findings;
  },
  parts,
};
