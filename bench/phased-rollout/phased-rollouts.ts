import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Bench } from '../bench.ts';
import { Cluster } from '../cluster/cluster.ts';
import { inTurns } from '../cluster/in-turns.ts';
import { type GroupsOptions, images, namespace, setNames } from '../cluster/workload.ts';
import { bounded, type Figure, type Findings, percentile, type Size, told } from '../figures.ts';
import { Operator } from '../operator/operator.ts';
import { loadSince, machineReading } from '../operator/process-usage.ts';
import { CountingPrometheus } from './counting-prometheus.ts';
import { adminOf, inPhases } from './phased-sets.ts';
import { type Release, type SetHistory, SetWatch } from './phased-watch.ts';

const settings: Readonly<Record<Size, GroupsOptions>> = {
  full: { groups: 10, zones: 1, podsPerSet: 10, maxUnavailable: 1, podBytes: 0 },
  tiny: { groups: 2, zones: 1, podsPerSet: 2, maxUnavailable: 1, podBytes: 0 },
};

/** In seconds, and answers that pass on end. */
const check = { initialDelaySeconds: 2, periodSeconds: 1, successThreshold: 2 } as const;
const restart = { milliseconds: 1_000, jitter: 0 } as const;
/** How long anything may take, in ms. */
const patience = 180_000;
const every = 50;

/** Rollouts by phases, each pod after its delay and its checks. */
export const phasedRollouts: Bench = {
  about: 'ten PhasedRollouts of ten pods: from the last check to the next pod, and wall-clock',
  run: async (size) => [await measure(size)],
};

async function measure(size: Size): Promise<Findings> {
  const setting = settings[size];
  await using cluster = new Cluster();
  const access = await cluster.call('open', { isJudged: false });
  await cluster.call('fill', setting);
  await cluster.call('pace', restart);
  await using prometheus = await CountingPrometheus.start();
  const client = await adminOf(access);
  await inPhases(client, setting, { url: prometheus.url, check });
  const names = setNames(setting).map(({ name }) => name);
  await using watch = await SetWatch.start(client, names);
  await using operator = await Operator.start(access, 'phased-rollout', {
    env: { ENABLE_WEBHOOKS: 'false' },
    // Nobody was there before.
    flags: ['--rollout.predecessor-horizon=1ms'],
  });
  await until('all sets are owned', () => names.every((name) => watch.isOwned(name)));
  const machine = machineReading();
  await inTurns(names, async (name) => {
    watch.begin(name);
    await change(client, name);
  });
  await until('all sets are rolled', () => names.every((name) => watch.isRolled(name)));
  const load = `${loadSince(machine)}; RSS ${operator.usage().rss.toFixed(0)} MB`;
  const histories = names.map((name) => ({ name, ...watch.historyOf(name) }));
  return {
    bench: 'phased-rollouts',
    setting: `${names.length} sets of ${setting.podsPerSet} pods at once, delay 2 s, period 1 s, 2 passes, restarts of ${restart.milliseconds} ms; ${load}`,
    figures: figuresOf(histories, prometheus, size),
  };
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = performance.now() + patience;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`Not after ${patience} ms: ${what}`);
    await sleep(every);
  }
}

async function change(client: Client, name: string): Promise<void> {
  const [, image] = images;
  const document = { spec: { template: { spec: { containers: [{ name: 'store', image }] } } } };
  const key = { namespace, name };
  await client.patch(resourceTypes.statefulSets, key, { body: { kind: 'strategic', document } });
}

type Named = SetHistory & { readonly name: string };

function figuresOf(
  histories: readonly Named[],
  prometheus: CountingPrometheus,
  size: Size,
): readonly Figure[] {
  const gates = histories.flatMap(({ name, begun, releases }) =>
    gatesOf({ begun, releases }, prometheus.answersTo(name)),
  );
  const delays = gates.map(({ delay }) => delay);
  const early = gates.filter(({ passes }) => passes < check.successThreshold);
  const ratios = histories.map(ratioOf).toSorted((one, other) => one - other);
  const median = ratios[Math.floor(ratios.length / 2)] ?? Number.NaN;
  return [
    bounded(
      'last check answered → next pod let go, p99',
      {
        value: percentile(delays, 0.99),
        how: `${delays.length} pods; from the answer of Prometheus to the partition as a watch shows it`,
      },
      size,
    ),
    told('last check answered → next pod let go, p50', {
      value: percentile(delays, 0.5),
      unit: 'ms',
      how: 'of the same',
    }),
    bounded(
      'pods let go before their checks',
      {
        value: early.length,
        how: `answers of each step counted at Prometheus, fewest ${Math.min(...gates.map(({ passes }) => passes))}`,
      },
      size,
    ),
    bounded(
      'rollout of 10 pods ÷ its waits',
      {
        value: median,
        how: `the median of ${ratios.length}, most ${(ratios.at(-1) ?? 0).toFixed(3)}; waits: each pod from its release to Ready of all, then 2 s, and 1 s from check to check`,
      },
      size,
    ),
  ];
}

interface Gate {
  /** From the last answer of the step to the release, in ms. */
  readonly delay: number;
  /** Answers since the release before. */
  readonly passes: number;
}

function gatesOf({ begun, releases }: SetHistory, answers: readonly number[]): readonly Gate[] {
  return releases.map(({ at }, index) => {
    const since = releases[index - 1]?.at ?? begun;
    const ofStep = answers.filter((answer) => answer > since && answer <= at);
    return { delay: at - (ofStep.at(-1) ?? Number.NaN), passes: ofStep.length };
  });
}

/** How long a set took until its last pod was let go, by what its steps had to wait for. */
function ratioOf({ begun, releases }: SetHistory): number {
  const end = releases.at(-1)?.at ?? Number.NaN;
  const gate =
    (check.initialDelaySeconds + (check.successThreshold - 1) * check.periodSeconds) * 1_000;
  const restarts = releases
    .slice(0, -1)
    .map(({ at, wholeAt }: Release) => (wholeAt ?? Number.NaN) - at);
  const waits = restarts.reduce((sum, each) => sum + each, releases.length * gate);
  return (end - begun) / waits;
}
