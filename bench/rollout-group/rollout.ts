import { availableParallelism } from 'node:os';
import type { Bench } from '../bench.ts';
import { Cluster } from '../cluster/cluster.ts';
import type { Rollout } from '../cluster/cluster-commands.ts';
import { bounded, type Figure, type Findings, percentile, type Size, told } from '../figures.ts';
import { Operator } from '../operator/operator.ts';
import { loadSince, machineReading } from '../operator/process-usage.ts';
import { countWrites, describeRequests } from '../operator/requests.ts';
import { rolloutOnReal } from './real-rollout.ts';

interface Setting {
  readonly podsPerSet: number;
  readonly maxUnavailable: number;
  /** From DELETE to Ready of the replacement, in ms. */
  readonly restart: number;
}

const zones = 3;

const settings: Readonly<Record<Size, readonly Setting[]>> = {
  full: [
    { podsPerSet: 200, maxUnavailable: 20, restart: 2_200 },
    { podsPerSet: 50, maxUnavailable: 10, restart: 20_000 },
  ],
  tiny: [{ podsPerSet: 4, maxUnavailable: 2, restart: 110 }],
};

/** How long a rollout takes beside what it must, and how many pods are down at once. */
export const rollout: Bench = {
  about: 'wall-clock of a rollout ÷ physical limit; pods and zones that are down at once',
  run: async (size) => {
    const findings: Findings[] = [];
    for (const setting of settings[size]) findings.push(await measure(setting, size));
    return findings;
  },
  runOnReal: rolloutOnReal,
};

async function measure(setting: Setting, size: Size): Promise<Findings> {
  const { podsPerSet, maxUnavailable, restart } = setting;
  const limit = zones * Math.ceil(podsPerSet / maxUnavailable) * restart;
  const groups = { groups: 1, zones, podsPerSet, maxUnavailable, podBytes: 0 };
  await using cluster = new Cluster();
  const access = await cluster.call('open', { isJudged: true });
  await cluster.call('fill', groups);
  await cluster.call('pace', { milliseconds: restart, jitter: 0 });
  await using operator = await Operator.start(access);
  await operator.hasLookedAt(1);
  const before = { load: machineReading(), cpu: operator.usage().cpuSeconds };
  const rolled = await cluster.call('roll', { groups: 1, patience: 60_000 + 4 * limit });
  const load = loadSince(before.load);
  const cpu = operator.usage().cpuSeconds - before.cpu;
  return {
    bench: 'rollout',
    setting:
      `${zones} zones × ${podsPerSet} pods, ${maxUnavailable} at a time, Parallel, restarts of exactly ${restart} ms; ` +
      `operator and cluster in separate processes over HTTP; ${availableParallelism()} cores; ${load}`,
    figures: [
      bounded(
        'wall-clock ÷ physical limit',
        {
          value: rolled.wall / limit,
          how: `${(rolled.wall / 1_000).toFixed(2)} s from the first template change to the last Ready, by the server's clock; limit ${zones} × ${Math.ceil(podsPerSet / maxUnavailable)} × ${restart / 1_000} s = ${limit / 1_000} s`,
        },
        size,
      ),
      ...safetyFigures(rolled, maxUnavailable, size),
      bounded(
        'invariants broken',
        {
          value: rolled.violations.length,
          how:
            rolled.violations[0] ??
            'each commit judged by test/support/judge/judge.ts; without statements of proof, so not EXCL-2, MAXU-2 and D-7',
        },
        size,
      ),
      writesFigure(rolled, size),
      told('pod Ready → next delete, p99', {
        value: percentile(rolled.sameZone, 0.99),
        unit: 'ms',
        how: `at the server, n = ${rolled.sameZone.length}; p50 ${percentile(rolled.sameZone, 0.5).toFixed(1)} ms; next zone ${rolled.nextZone.map((each) => `${each.toFixed(1)} ms`).join(', ')}`,
      }),
      told('CPU of the operator per rolled pod', {
        value: (cpu * 1_000) / rolled.pods,
        unit: 'ms',
        how: '/proc: user and system time during the rollout ÷ pods',
      }),
    ],
  };
}

/** Figures that tell whether the operator bought speed with availability. */
export function safetyFigures(
  rolled: Rollout,
  maxUnavailable: number,
  size: Size,
): readonly Figure[] {
  const down = Object.entries(rolled.podsDown);
  const most = Math.max(0, ...down.map(([, pods]) => pods));
  const byZone = down.slice(0, 6).map(([zone, pods]) => `${zone} ${pods}`);
  const more = down.length > byZone.length ? ` and ${down.length - byZone.length} more` : '';
  return [
    bounded(
      'zones with unavailable pods at once',
      { value: rolled.zonesDown, how: 'counted at every commit of the server, per group' },
      size,
    ),
    bounded(
      'pods unavailable beyond the limit of a zone',
      {
        value: Math.max(0, most - maxUnavailable),
        how: `counted at every commit; most at once, by zone (limit ${maxUnavailable}): ${byZone.join(', ')}${more}`,
      },
      size,
    ),
  ];
}

/** Writes beyond one a rolled pod (D-16). */
export function writesFigure(rolled: Rollout, size: Size): Figure {
  const writes = countWrites(rolled.requests);
  return bounded(
    'writes beyond one a pod, by zone',
    {
      value: (writes - rolled.pods) / rolled.zones,
      how: `${writes} writes for ${rolled.pods} pods in ${rolled.zones} zones, Events not counted; all requests: ${describeRequests(rolled.requests)}`,
    },
    size,
  );
}
