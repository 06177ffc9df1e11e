import { setTimeout as sleep } from 'node:timers/promises';
import { PostConnection, type ReviewServer } from '../admission/post-connection.ts';
import { bounded, type Figure, type Findings, percentile, type Size, told } from '../figures.ts';
import { withBundle } from '../operator/bundle.ts';
import { loadSince, machineReading, type Usage } from '../operator/process-usage.ts';
import { countWrites, describeRequests } from '../operator/requests.ts';
import { settings } from '../operator/start.ts';
import { evictionReview, replyOf } from './eviction-requests.ts';
import { EvictionStage } from './eviction-stage.ts';

/** How long the operator is watched while nothing changes, how often its memory is measured, and how long it settles. */
const spans: Readonly<
  Record<Size, { readonly watch: number; readonly starts: number; readonly settle: number }>
> = {
  full: { watch: 60_000, starts: 3, settle: 10_000 },
  tiny: { watch: 1_000, starts: 1, settle: 500 },
};

const mebibyte = 2 ** 20;

/** What an operator as an image has it takes of memory, and writes, with many pods under budgets and nothing to do. */
export function measureGovernedPods(size: Size): Promise<Findings> {
  return withBundle((program) => measureBundle(program, size));
}

async function measureBundle(program: string, size: Size): Promise<Findings> {
  const setting = settings[size];
  const { watch, starts, settle } = spans[size];
  const before = machineReading();
  await using stage = await EvictionStage.open({ ...setting, program });
  await stage.cluster.call('createBudgets', { groups: stage.groups, maxUnavailable: 1 });
  const answers = await askAll(stage, stage.server);
  await sleep(settle);
  await stage.cluster.call('requests');
  const cpuBefore = stage.operator.usage().cpuSeconds;
  await sleep(watch);
  const cpu = stage.operator.usage().cpuSeconds - cpuBefore;
  const requests = await stage.cluster.call('requests');
  const used: Usage[] = [stage.operator.usage()];
  await stage.operator[Symbol.asyncDispose]();
  while (used.length < starts) used.push(await usedByAnother(stage, settle));
  const load = loadSince(before);
  return {
    bench: 'evictions: memory',
    setting: `${setting.sets} sets and ${setting.sets * setting.podsPerSet} pods of ${setting.podBytes / 1_000} KB, ${stage.groups.length} groups with a budget each; webhooks on; every budget was asked once about an eviction, as a dry run (${answers}); ${load}`,
    figures: [
      memoryFigure(used, size),
      bounded(
        'writes while nothing changes',
        {
          value: countWrites(requests) / (watch / 60_000),
          how: `counted at the server for ${watch / 1_000} s, the Lease and Events apart; all requests: ${describeRequests(requests)}; CPU ${((100_000 * cpu) / watch).toFixed(1)} % of a core`,
        },
        size,
      ),
      told('settled RSS with governed pods', {
        value: percentile(
          used.map(({ rss }) => (rss * 1e6) / mebibyte),
          0.5,
        ),
        unit: 'MiB',
        how: `VmRSS of /proc; each: ${used.map(({ rss }) => ((rss * 1e6) / mebibyte).toFixed(0)).join(', ')} MiB`,
      }),
    ],
  };
}

function memoryFigure(used: readonly Usage[], size: Size): Figure {
  const peaks = used.map(({ peakRss }) => (peakRss * 1e6) / mebibyte);
  return bounded(
    'RSS with 10,000 governed pods',
    {
      value: percentile(peaks, 0.5),
      how: `the most ever (VmHWM of /proc), in the median of ${used.length} starts: ${peaks.map((peak) => peak.toFixed(0)).join(', ')} MiB`,
    },
    size,
  );
}

async function usedByAnother(stage: EvictionStage, settle: number): Promise<Usage> {
  const { operator, server } = await stage.startAnother();
  try {
    await askAll(stage, server);
    await sleep(settle);
    return operator.usage();
  } finally {
    await operator[Symbol.asyncDispose]();
  }
}

/** Asks about one pod of each budget, which is not evicted. @returns how often which code was answered */
async function askAll({ groups }: EvictionStage, server: ReviewServer): Promise<string> {
  const connection = await PostConnection.overTls(server);
  const codes = new Map<number, number>();
  for (const group of groups) {
    const { code } = replyOf(await connection.post(evictionReview(`${group}-zone-a-0`, true)));
    codes.set(code, (codes.get(code) ?? 0) + 1);
  }
  connection.close();
  return [...codes].map(([code, count]) => `${count} × ${code}`).join(', ');
}
