import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { statefulsetRolloutDefinition } from '#statefulset-rollout/definition.ts';
import type { Bench } from '../bench.ts';
import { Cluster } from '../cluster/cluster.ts';
import type { Access, Requests } from '../cluster/cluster-commands.ts';
import { inTurns } from '../cluster/in-turns.ts';
import { images } from '../cluster/workload.ts';
import { bounded, type Figure, type Findings, percentile, type Size, told } from '../figures.ts';
import { bundledEnvironment, withBundle } from '../operator/bundle.ts';
import { Operator } from '../operator/operator.ts';
import { loadSince, machineReading, type Usage } from '../operator/process-usage.ts';
import { describeRequests } from '../operator/requests.ts';
import { adminOf } from '../phased-rollout/phased-sets.ts';
import { createNativeBudget, createRollout, type RolledSet, rolledOut } from './percent-set.ts';

interface Setting {
  readonly resources: number;
  readonly podsPerSet: number;
  readonly starts: number;
  /** How long each start settles, in ms. */
  readonly settle: number;
  /** How long the last of them is watched, in ms. */
  readonly watch: number;
}

const settings: Readonly<Record<Size, Setting>> = {
  full: { resources: 200, podsPerSet: 50, starts: 3, settle: 10_000, watch: 600_000 },
  tiny: { resources: 3, podsPerSet: 2, starts: 1, settle: 500, watch: 1_000 },
};

const podBytes = 8_000;
const patience = 300_000;
const mebibyte = 2 ** 20;

/** What the program takes where all rollouts have ended, as an image has it. */
export const percentRest: Bench = {
  about:
    '200 StatefulsetRollouts that have ended: requests for ten minutes, memory with 10,000 pods',
  run: (size) => withBundle(async (program) => [await measure(program, size)]),
};

/** One start: what it used once it had settled. */
interface Rested {
  readonly usage: Usage;
  /** Of the last alone. */
  readonly asked: Requests;
  /** In % of a core, of the last alone. */
  readonly cpu: number;
}

async function measure(program: string, size: Size): Promise<Findings> {
  const setting = settings[size];
  const { resources, podsPerSet, starts, watch } = setting;
  await using cluster = new Cluster();
  const access = await cluster.call('open', { isJudged: false });
  await cluster.call('pace', { milliseconds: 500, jitter: 0 });
  const client = await adminOf(access);
  await rollOut(client, { access, program }, setting);
  const machine = machineReading();
  const rests: Rested[] = [];
  while (rests.length < starts) {
    const isLast = rests.length === starts - 1;
    rests.push(
      await rest(cluster, { access, program }, isLast ? setting : { ...setting, watch: 0 }),
    );
  }
  return {
    bench: 'percent-rest',
    setting: `${resources} StatefulsetRollouts that have ended, and ${resources * podsPerSet} pods; the bundle with the heap of its container, watched for ${watch / 1_000} s; ${loadSince(machine)}`,
    figures: figuresOf(rests, setting, size),
  };
}

/** Where a program runs. */
interface Place {
  readonly access: Access;
  readonly program: string;
}

function start({ access, program }: Place): Promise<Operator> {
  return Operator.start(access, 'statefulset-rollout', {
    program,
    env: bundledEnvironment,
    // Nobody was there before.
    flags: ['--leader-elect=false', '--rollout.predecessor-horizon=1ms'],
  });
}

/** Has all sets made by their resources. */
async function rollOut(
  client: Client,
  place: Place,
  { resources, podsPerSet }: Setting,
): Promise<void> {
  const body = statefulsetRolloutDefinition;
  await client.create(resourceTypes.customResourceDefinitions, {}, { body });
  const sets = Array.from(
    { length: resources },
    (_, index): RolledSet => ({ name: `store-${index}`, replicas: podsPerSet, podBytes }),
  );
  await using operator = await start(place);
  await inTurns(sets, async (set) => {
    await createNativeBudget(client, set, 1);
    await createRollout(client, set, images[0]);
    await rolledOut(client, set.name, patience);
  });
  if (operator.hasEnded) throw new Error('The operator ended before it was told to');
}

async function rest(cluster: Cluster, place: Place, { settle, watch }: Setting): Promise<Rested> {
  await using operator = await start(place);
  await sleep(settle);
  await cluster.call('requests');
  const { cpuSeconds } = operator.usage();
  await sleep(watch);
  const asked = await cluster.call('requests');
  const usage = operator.usage();
  return { usage, asked, cpu: ((usage.cpuSeconds - cpuSeconds) / watch) * 100_000 };
}

function figuresOf(rests: readonly Rested[], { watch }: Setting, size: Size): readonly Figure[] {
  const peaks = rests.map(({ usage }) => (usage.peakRss * 1e6) / mebibyte);
  const settled = rests.map(({ usage }) => ((usage.rss * 1e6) / mebibyte).toFixed(0)).join(', ');
  const last = rests.at(-1);
  const asked = Object.entries(last?.asked ?? {}).filter(([key]) => !key.startsWith('watch '));
  return [
    bounded(
      'requests while all rollouts have ended',
      {
        value: asked.reduce((sum, [, count]) => sum + count, 0),
        how: `counted at the server for ${watch / 1_000} s, watches apart; all requests: ${describeRequests(last?.asked ?? {})}`,
      },
      size,
    ),
    bounded(
      'RSS with 200 StatefulsetRollouts and 10,000 pods',
      {
        value: percentile(peaks, 0.5),
        how: `the most ever (VmHWM of /proc), in the median of ${rests.length} starts: ${peaks.map((peak) => peak.toFixed(0)).join(', ')} MiB; settled: ${settled} MiB`,
      },
      size,
    ),
    told('CPU while all rollouts have ended', {
      value: last?.cpu ?? Number.NaN,
      unit: '% of a core',
      how: '/proc, user and system time of the last start once it had settled',
    }),
  ];
}
