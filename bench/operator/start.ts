import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { Cluster } from '../cluster/cluster.ts';
import type { Access } from '../cluster/cluster-commands.ts';
import type { GroupsOptions } from '../cluster/workload.ts';
import { bounded, type Figure, type Findings, percentile, type Size, told } from '../figures.ts';
import { Operator, type Way } from './operator.ts';
import { loadSince, machineReading } from './process-usage.ts';

interface Setting extends GroupsOptions {
  readonly sets: number;
  /** Starts by the way of a pod, and by a kubeconfig. */
  readonly starts: Readonly<Record<Way, number>>;
  /** How long the operator is left alone before its settled memory is read, in ms. */
  readonly settle: number;
}

/** The sets and pods that `start` and `idle` work with. */
export const settings: Readonly<Record<Size, Setting>> = {
  full: {
    groups: 334,
    zones: 3,
    sets: 1_000,
    podsPerSet: 10,
    maxUnavailable: 1,
    podBytes: 8_000,
    starts: { 'in-cluster': 5, kubeconfig: 3 },
    settle: 10_000,
  },
  tiny: {
    groups: 3,
    zones: 3,
    sets: 8,
    podsPerSet: 2,
    maxUnavailable: 1,
    podBytes: 8_000,
    starts: { 'in-cluster': 1, kubeconfig: 1 },
    settle: 100,
  },
};

interface Start {
  readonly seconds: number;
  readonly cpu: number;
  readonly peak: number;
  readonly settled: number;
}

/** How soon the operator is ready in a full cluster, and what it takes of memory for it. */
export const start: Bench = {
  about: 'process start → /ready with 10,000 pods of 8 KB; peak and settled RSS',
  run: async (size) => [await measure(settings[size], size)],
};

async function measure(setting: Setting, size: Size): Promise<Findings> {
  await using cluster = new Cluster();
  const access = await cluster.call('open', { isJudged: false });
  const filled = await cluster.call('fill', setting);
  const before = machineReading();
  const inCluster = await startOften(access, { way: 'in-cluster' }, setting);
  const serving = await startOften(access, { way: 'in-cluster', flags: webhooks }, setting);
  const kubeconfig = await startOften(access, { way: 'kubeconfig' }, setting);
  const load = loadSince(before);
  return {
    bench: 'start',
    setting:
      `${setting.sets} sets and ${setting.sets * setting.podsPerSet} pods of ${filled.podBytes} bytes; ` +
      `medians of ${inCluster.length} starts as in a pod and ${kubeconfig.length} with a kubeconfig; ` +
      `compile cache ${process.env['NODE_COMPILE_CACHE'] === undefined ? 'off' : 'on'}; ` +
      `operator and cluster in separate processes over HTTP; ${load}`,
    figures: [
      ...inClusterFigures(inCluster, size),
      bounded(
        'peak RSS with webhooks',
        {
          value: (median(serving, 'peak') * 1e6) / 2 ** 20,
          how: `VmHWM of /proc, settled; each in MB: ${each(serving, 'peak', 0)}`,
        },
        size,
      ),
      ...kubeconfigFigures(kubeconfig),
    ],
  };
}

/** How the operator is started. */
interface Manner {
  readonly way: Way;
  readonly flags?: readonly string[];
}

/** The webhooks as they are shipped, at any port. */
export const webhooks = [
  '-server-tls.enabled=true',
  '-server-tls.port=0',
  '-use-zone-tracker=true',
];

async function startOften(
  access: Access,
  manner: Manner,
  setting: Setting,
): Promise<readonly Start[]> {
  const starts: Start[] = [];
  while (starts.length < setting.starts[manner.way]) {
    starts.push(await startOnce(access, manner, setting));
  }
  return starts;
}

async function startOnce(
  access: Access,
  { way, flags = [] }: Manner,
  { settle }: Setting,
): Promise<Start> {
  await using operator = await Operator.start(access, way, { flags });
  const { cpuSeconds } = operator.usage();
  await sleep(settle);
  const { peakRss, rss } = operator.usage();
  return { seconds: operator.readyAfter / 1_000, cpu: cpuSeconds, peak: peakRss, settled: rss };
}

function inClusterFigures(starts: readonly Start[], size: Size): readonly Figure[] {
  return [
    bounded(
      'process start → ready',
      {
        value: median(starts, 'seconds'),
        how: `from spawn to the first 200 of /ready, asked every 20 ms; each: ${each(starts, 'seconds', 2)} s; CPU until then ${each(starts, 'cpu', 2)} s`,
      },
      size,
    ),
    bounded(
      'peak RSS',
      {
        value: median(starts, 'peak'),
        how: `VmHWM of /proc, settled; each: ${each(starts, 'peak', 0)} MB`,
      },
      size,
    ),
    told('settled RSS', {
      value: median(starts, 'settled'),
      unit: 'MB',
      how: `VmRSS of /proc after the operator was left alone; each: ${each(starts, 'settled', 0)} MB`,
    }),
  ];
}

function kubeconfigFigures(starts: readonly Start[]): readonly Figure[] {
  const how = 'as above; a kubeconfig loads the official client’s library, a pod does not';
  const of = { seconds: 's', peak: 'MB', settled: 'MB' } as const;
  const names = {
    seconds: 'process start → ready (kubeconfig)',
    peak: 'peak RSS (kubeconfig)',
    settled: 'settled RSS (kubeconfig)',
  };
  return (['seconds', 'peak', 'settled'] as const).map((key) =>
    told(names[key], { value: median(starts, key), unit: of[key], how }),
  );
}

function median(starts: readonly Start[], key: keyof Start): number {
  return percentile(
    starts.map((start) => start[key]),
    0.5,
  );
}

function each(starts: readonly Start[], key: keyof Start, digits: number): string {
  return starts.map((start) => start[key].toFixed(digits)).join(', ');
}
