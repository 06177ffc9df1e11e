import type { BoundedFigure } from '../bounds.ts';
import type { Rollout } from '../cluster/cluster-commands.ts';
import { bounded, type Figure, type Findings, percentile, type Size, told } from '../figures.ts';
import { loadSince, machineReading } from '../operator/process-usage.ts';
import { countWrites, describeRequests } from '../operator/requests.ts';
import { safetyFigures } from '../rollout-group/rollout.ts';
import { EvictionStage } from './eviction-stage.ts';

interface Setting {
  readonly podsPerSet: number;
  /** Of the budget, and of the rollout; as many become ready together. */
  readonly maxUnavailable: number;
  /** From DELETE to Ready of the replacement, in ms. */
  readonly restart: number;
  readonly pairs: number;
}

const settings: Readonly<Record<Size, readonly Setting[]>> = {
  full: [
    { podsPerSet: 200, maxUnavailable: 20, restart: 2_200, pairs: 3 },
    { podsPerSet: 20, maxUnavailable: 1, restart: 1_000, pairs: 3 },
  ],
  tiny: [
    { podsPerSet: 4, maxUnavailable: 2, restart: 110, pairs: 1 },
    { podsPerSet: 2, maxUnavailable: 1, restart: 110, pairs: 1 },
  ],
};

const zones = 3;
const budget = { groups: ['group-0'] };

/** The same rollout under no budget, and under one. */
interface Pair {
  readonly free: Rollout;
  readonly governed: Rollout;
}

/** What a budget adds to a rollout: time, and writes. */
export async function measureGovernedRollouts(size: Size): Promise<readonly Findings[]> {
  const findings: Findings[] = [];
  for (const setting of settings[size]) findings.push(await measure(setting, size));
  return findings;
}

async function measure(setting: Setting, size: Size): Promise<Findings> {
  const { podsPerSet, maxUnavailable, restart } = setting;
  await using stage = await EvictionStage.open({
    groups: 1,
    zones,
    podBytes: 0,
    podsPerSet,
    maxUnavailable,
    restart: { milliseconds: restart, jitter: 0 },
    isJudged: true,
  });
  const patience = 60_000 + 4 * zones * Math.ceil(podsPerSet / maxUnavailable) * restart;
  const before = machineReading();
  const pairs: Pair[] = [];
  while (pairs.length < setting.pairs) {
    const free = await stage.cluster.call('roll', { groups: 1, patience });
    await stage.cluster.call('createBudgets', { ...budget, maxUnavailable });
    const governed = await stage.cluster.call('roll', { groups: 1, patience });
    await stage.cluster.call('dropBudgets', budget);
    pairs.push({ free, governed });
  }
  const load = loadSince(before);
  return {
    bench: 'evictions: rollout',
    setting: `${zones} zones × ${podsPerSet} pods, ${maxUnavailable} at a time, restarts of ${restart} ms; by turns without and under a budget of maxUnavailable ${maxUnavailable}; webhooks on; ${load}`,
    figures: figuresOf(pairs, setting, size),
  };
}

function figuresOf(
  pairs: readonly Pair[],
  { maxUnavailable }: Setting,
  size: Size,
): readonly Figure[] {
  const ratios = pairs.map(({ free, governed }) => governed.wall / free.wall);
  const each = pairs.map(
    ({ free, governed }) =>
      `${(governed.wall / 1_000).toFixed(2)} ÷ ${(free.wall / 1_000).toFixed(2)} s`,
  );
  return [
    bounded(
      'rollout under a budget ÷ without',
      {
        value: percentile(ratios, 0.5),
        how: `the median of ${pairs.length} pairs, by turns, from the first template change to the last Ready: ${each.join(', ')}`,
      },
      size,
    ),
    writesFigure(pairs, maxUnavailable, size),
    told('pod Ready → next delete under a budget, p99', {
      value: percentile(
        pairs.flatMap(({ governed }) => governed.sameZone),
        0.99,
      ),
      unit: 'ms',
      how: `at the server; without a budget ${percentile(
        pairs.flatMap(({ free }) => free.sameZone),
        0.99,
      ).toFixed(1)} ms; p50 ${percentile(
        pairs.flatMap(({ governed }) => governed.sameZone),
        0.5,
      ).toFixed(1)} and ${percentile(
        pairs.flatMap(({ free }) => free.sameZone),
        0.5,
      ).toFixed(1)} ms`,
    }),
    ...pairs.slice(-1).flatMap(({ governed }) => safetyFigures(governed, maxUnavailable, size)),
    bounded(
      'invariants broken',
      {
        value: Math.max(...pairs.map(({ governed }) => governed.violations.length)),
        how:
          pairs.at(-1)?.governed.violations[0] ??
          'each commit judged by test/support/judge/judge.ts, with and without the budget',
      },
      size,
    ),
  ];
}

function writesFigure(pairs: readonly Pair[], maxUnavailable: number, size: Size): Figure {
  const name: BoundedFigure =
    maxUnavailable === 1
      ? 'writes ÷ rolled pod under a budget, one at a time'
      : 'writes ÷ rolled pod under a budget';
  const ratios = pairs.map(({ governed }) => countWrites(governed.requests) / governed.pods);
  const [free] = pairs.map((pair) => pair.free);
  const without = free === undefined ? Number.NaN : countWrites(free.requests) / free.pods;
  const all = pairs.map(({ governed }) => describeRequests(governed.requests));
  return bounded(
    name,
    {
      value: Math.max(...ratios),
      how: `the most of any rollout of ${free?.pods ?? 0} pods, deletes included, Events and the Lease apart, counted at the server; ${without.toFixed(2)} without a budget; all requests: ${all.join('; ')}`,
    },
    size,
  );
}
