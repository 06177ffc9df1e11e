import type { Bench } from '../bench.ts';
import { Cluster } from '../cluster/cluster.ts';
import type { GroupsOptions } from '../cluster/workload.ts';
import { bounded, type Findings, percentile, type Size, told } from '../figures.ts';
import { Operator } from '../operator/operator.ts';
import { loadSince, machineReading } from '../operator/process-usage.ts';
import { safetyFigures, writesFigure } from './rollout.ts';

interface Setting extends GroupsOptions {
  readonly sets: number;
  /** Groups that roll at the same time. */
  readonly rolling: number;
  readonly restart: number;
}

const settings: Readonly<Record<Size, Setting>> = {
  full: {
    groups: 334,
    zones: 3,
    sets: 1_000,
    podsPerSet: 10,
    maxUnavailable: 1,
    podBytes: 2_000,
    rolling: 24,
    restart: 1_000,
  },
  tiny: {
    groups: 3,
    zones: 3,
    sets: 8,
    podsPerSet: 2,
    maxUnavailable: 1,
    podBytes: 2_000,
    rolling: 2,
    restart: 110,
  },
};

/** How soon the operator makes use of a pod that became Ready, in a cluster that is full of others. */
export const reaction: Bench = {
  about: 'pod Ready → next delete seen at the server, with 1,000 sets and 10,000 pods present',
  run: async (size) => [await measure(settings[size], size)],
};

async function measure(setting: Setting, size: Size): Promise<Findings> {
  const { rolling, restart, sets, podsPerSet, maxUnavailable, zones } = setting;
  await using cluster = new Cluster();
  const access = await cluster.call('open', { isJudged: false });
  const filled = await cluster.call('fill', setting);
  await cluster.call('pace', { milliseconds: restart, jitter: 0.3 });
  await using operator = await Operator.start(access);
  await operator.hasLookedAt(setting.groups);
  const before = machineReading();
  const cpuBefore = operator.usage().cpuSeconds;
  const patience = 60_000 + 4 * zones * podsPerSet * restart;
  const rolled = await cluster.call('roll', { groups: rolling, patience });
  const load = loadSince(before);
  const cpu = operator.usage().cpuSeconds - cpuBefore;
  const all = [...rolled.sameZone, ...rolled.nextZone];
  const tail = (samples: readonly number[]): string =>
    [0.5, 0.9, 0.99, 1].map((share) => percentile(samples, share).toFixed(1)).join(' / ');
  return {
    bench: 'reaction',
    setting:
      `${sets} sets and ${sets * podsPerSet} pods of ${filled.podBytes} bytes present, ${rolling} groups rolling at once, restarts of ${restart} ms ± 30 %; ` +
      `operator and cluster in separate processes over HTTP; ${load}`,
    figures: [
      bounded(
        'pod Ready → next delete, p99',
        {
          value: percentile(all, 0.99),
          how: `commit of Ready → commit of the delete that follows in the group, by the server's monotonic clock; n = ${all.length}; p50 / p90 / p99 / most: ${tail(all)} ms`,
        },
        size,
      ),
      told('last Ready of a zone → first delete of the next, p99', {
        value: percentile(rolled.nextZone, 0.99),
        unit: 'ms',
        how: `n = ${rolled.nextZone.length}; p50 / p90 / p99 / most: ${tail(rolled.nextZone)} ms`,
      }),
      ...safetyFigures(rolled, maxUnavailable, size),
      writesFigure(rolled, size),
      told('CPU of the operator per rolled pod', {
        value: (cpu * 1_000) / rolled.pods,
        unit: 'ms',
        how: '/proc: user and system time during the rollout ÷ pods',
      }),
    ],
  };
}
