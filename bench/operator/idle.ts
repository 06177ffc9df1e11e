import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { Cluster } from '../cluster/cluster.ts';
import { bounded, type Findings, type Size, told } from '../figures.ts';
import { Operator } from './operator.ts';
import { loadSince, machineReading } from './process-usage.ts';
import { countWrites, describeRequests } from './requests.ts';
import { settings } from './start.ts';

/** How long the operator settles, and how long it is watched, in ms. */
const spans: Readonly<Record<Size, { readonly settle: number; readonly watch: number }>> = {
  full: { settle: 10_000, watch: 120_000 },
  tiny: { settle: 200, watch: 1_000 },
};

/** What the operator does when there is nothing to do. */
export const idle: Bench = {
  about: 'requests and CPU per minute when nothing changes, with 10,000 pods present',
  run: async (size) => [await measure(size)],
};

async function measure(size: Size): Promise<Findings> {
  const setting = settings[size];
  const { settle, watch } = spans[size];
  await using cluster = new Cluster();
  const access = await cluster.call('open', { isJudged: false });
  await cluster.call('fill', setting);
  await using operator = await Operator.start(access);
  await using follower = await Operator.start(access);
  await sleep(settle);
  await cluster.call('requests');
  const sentBefore = await operator.requestsSent();
  const load = machineReading();
  const [leads, follows] = [cpuOf(operator), cpuOf(follower)];
  await sleep(watch);
  const [led, followed] = [leads(), follows()];
  const requests = await cluster.call('requests');
  const sent = (await operator.requestsSent()) - sentBefore;
  const minutes = watch / 60_000;
  return {
    bench: 'idle',
    setting: `${setting.sets} sets and ${setting.sets * setting.podsPerSet} pods, watched for ${watch / 1_000} s in which nothing changed; ${loadSince(load)}`,
    figures: [
      bounded(
        'writes while nothing changes',
        {
          value: countWrites(requests) / minutes,
          how: `counted at the server; requests of what it serves: ${describeRequests(requests)}`,
        },
        size,
      ),
      bounded(
        'CPU while nothing changes',
        {
          value: (led / watch) * 100_000,
          how: `/proc: ${led.toFixed(2)} s of user and system time of the leader, with the resync at its default`,
        },
        size,
      ),
      bounded(
        'CPU of a follower while nothing changes',
        {
          value: (followed / watch) * 100_000,
          how: `/proc: ${followed.toFixed(2)} s of user and system time of the replica that does not lead`,
        },
        size,
      ),
      told('requests', {
        value: sent / minutes,
        unit: '/min',
        how: 'by the metric of the operator, with those for types that the server does not have',
      }),
      told('RSS', { value: operator.usage().rss, unit: 'MB', how: 'VmRSS of /proc at the end' }),
    ],
  };
}

/** Begins to count CPU time. @returns the seconds since then */
function cpuOf(operator: Operator): () => number {
  const before = operator.usage().cpuSeconds;
  return () => operator.usage().cpuSeconds - before;
}
