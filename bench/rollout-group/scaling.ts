import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { Cluster } from '../cluster/cluster.ts';
import type { GroupsOptions } from '../cluster/workload.ts';
import { bounded, type Findings, percentile, type Size, told } from '../figures.ts';
import { Operator } from '../operator/operator.ts';
import { loadSince, machineReading } from '../operator/process-usage.ts';
import { countWrites, describeRequests } from '../operator/requests.ts';

interface Setting extends GroupsOptions {
  /** Sets that are changed one after the other. */
  readonly changes: number;
  readonly perSecond: number;
  /** Sets whose pods are asked before they go. */
  readonly delayed: number;
  /** How long the operator settles, and how long it is watched, in ms. */
  readonly settle: number;
  readonly watch: number;
}

const common = { zones: 1, maxUnavailable: 1, podBytes: 2_000, perSecond: 10 };

const settings: Readonly<Record<Size, Setting>> = {
  full: {
    ...common,
    groups: 1_100,
    podsPerSet: 3,
    changes: 600,
    delayed: 100,
    settle: 10_000,
    watch: 30_000,
  },
  tiny: { ...common, groups: 6, podsPerSet: 2, changes: 4, delayed: 2, settle: 500, watch: 500 },
};

/** Sets whose pods are all asked to prepare at once. */
interface PreparingSetting extends GroupsOptions {
  /** How long a pod takes to answer, in ms. */
  readonly answerAfter: number;
  readonly settle: number;
}

const preparing: Readonly<Record<Size, PreparingSetting>> = {
  full: { ...common, groups: 20, podsPerSet: 500, answerAfter: 50, settle: 20_000 },
  tiny: { ...common, groups: 2, podsPerSet: 40, answerAfter: 20, settle: 500 },
};

/** How soon a set follows what it mirrors, in a cluster that is full of others, and what it costs to do nothing. */
export const scaling: Bench = {
  about:
    'scale of a mirrored resource changed → set patched, with 1,000 sets; calls of pods while idle',
  run: async (size) => [
    await measure(settings[size], size),
    await measurePreparing(preparing[size], size),
  ],
};

async function measure(setting: Setting, size: Size): Promise<Findings> {
  const { groups, podsPerSet, changes, perSecond, delayed, settle, watch } = setting;
  await using cluster = new Cluster();
  const access = await cluster.call('open', { isJudged: false });
  await cluster.call('fill', setting);
  const { proxy } = await cluster.call('mirror', { delayed });
  await using operator = await Operator.start(access, 'in-cluster', {
    proxy: { HTTP_PROXY: proxy },
  });
  await sleep(settle);
  const cancelled = await cluster.call('podCalls');
  const before = machineReading();
  const cpuBefore = operator.usage().cpuSeconds;
  const one = await cluster.call('rescale', { sets: changes, perSecond });
  const cpu = operator.usage().cpuSeconds - cpuBefore;
  const load = loadSince(before);
  const sets = groups - delayed;
  const all = await cluster.call('rescale', { sets, perSecond: 'all at once' });
  await sleep(settle / 2);
  await cluster.call('podCalls');
  await cluster.call('requests');
  await sleep(watch);
  const calls = await cluster.call('podCalls');
  const requests = await cluster.call('requests');
  const tail = (samples: readonly number[]): string =>
    [0.5, 0.9, 0.99, 1].map((share) => percentile(samples, share).toFixed(1)).join(' / ');
  return {
    bench: 'scaling',
    setting:
      `${groups} sets of ${podsPerSet} pods, each mirroring a ReplicaTemplate of its own, ${delayed} of them with a delay; ${changes} changes at ${perSecond}/s, ` +
      `half up and half down; operator and cluster in separate processes over HTTP; ${load}`,
    figures: [
      bounded(
        'change of a scale → patch of its set, p99',
        {
          value: percentile(one.took, 0.99),
          how: `commit of PUT /scale → commit of the patch, by the server's monotonic clock; n = ${one.took.length}; p50 / p90 / p99 / most: ${tail(one.took)} ms`,
        },
        size,
      ),
      told('all sets patched after one instant', {
        value: all.wall,
        unit: 'ms',
        how: `${sets} PUTs of /scale sent at once → the last patch; n = ${all.took.length}; each p50 / p90 / p99 / most: ${tail(all.took)} ms`,
      }),
      bounded(
        'calls of pods while nothing changes',
        {
          value: calls,
          how: `counted at the pods for ${watch / 1_000} s; ${cancelled} calls after the start, which cancel what an earlier process may have asked (D-22)`,
        },
        size,
      ),
      bounded(
        'writes while nothing changes',
        {
          value: countWrites(requests) / (watch / 60_000),
          how: `counted at the server; requests: ${describeRequests(requests)}`,
        },
        size,
      ),
      told('CPU of the operator per change', {
        value: (cpu * 1_000) / one.took.length,
        unit: 'ms',
        how: '/proc: user and system time during the changes ÷ changes',
      }),
    ],
  };
}

async function measurePreparing(setting: PreparingSetting, size: Size): Promise<Findings> {
  const { groups, podsPerSet, answerAfter, settle } = setting;
  await using cluster = new Cluster();
  const access = await cluster.call('open', { isJudged: false });
  await cluster.call('fill', setting);
  const { proxy } = await cluster.call('mirror', { delayed: groups });
  await using operator = await Operator.start(access, 'in-cluster', {
    proxy: { HTTP_PROXY: proxy },
  });
  // By then the pods of all sets are cancelled once (D-22).
  await sleep(settle);
  const before = machineReading();
  const cpuBefore = operator.usage().cpuSeconds;
  const prepared = await cluster.call('prepare', { answerAfter });
  const cpu = operator.usage().cpuSeconds - cpuBefore;
  const load = loadSince(before);
  const { pods, wall, mostOfSet, mostInAll, connections } = prepared;
  return {
    bench: 'scaling',
    setting:
      `${groups} sets of ${podsPerSet} pods with a delay, all of which are to go; each pod answers after ${answerAfter} ms; ` +
      `pods in the process of the cluster; ${load}`,
    figures: [
      told('all pods asked to prepare', {
        value: wall,
        unit: 'ms',
        how: `first PUT of /scale → call of the last of ${pods} pods; at best ${((pods / mostInAll) * answerAfter).toFixed(0)} ms with as many calls at once`,
      }),
      bounded(
        'calls of pods of one set at once',
        {
          value: mostOfSet,
          how: 'counted at the pods: the most of any set, cancelling at the start included',
        },
        size,
      ),
      told('calls of pods at once, in all', {
        value: mostInAll,
        unit: '',
        how: `counted at the pods; ${connections} TCP connections were open at once`,
      }),
      told('CPU of the operator per pod asked', {
        value: (cpu * 1_000) / pods,
        unit: 'ms',
        how: '/proc: user and system time ÷ pods',
      }),
    ],
  };
}
