import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Bench } from '../bench.ts';
import { Cluster } from '../cluster/cluster.ts';
import type { Requests } from '../cluster/cluster-commands.ts';
import { type GroupsOptions, namespace } from '../cluster/workload.ts';
import { bounded, type Figure, type Findings, percentile, type Size, told } from '../figures.ts';
import { Operator } from '../operator/operator.ts';
import { loadSince, machineReading } from '../operator/process-usage.ts';
import { countWrites, describeRequests } from '../operator/requests.ts';
import { CountingPrometheus } from './counting-prometheus.ts';
import { adminOf, inPhases } from './phased-sets.ts';

interface Setting extends GroupsOptions {
  /** How long checks are watched, in ms. */
  readonly watch: number;
}

const settings: Readonly<Record<Size, Setting>> = {
  full: { groups: 200, zones: 1, podsPerSet: 3, maxUnavailable: 1, podBytes: 0, watch: 30_000 },
  tiny: { groups: 4, zones: 1, podsPerSet: 3, maxUnavailable: 1, podBytes: 0, watch: 2_000 },
};

/** How long until every resource has asked for the first time, in ms. */
const patience = 60_000;
const every = 50;

/** Resources that ask Prometheus once a second each, in the middle of their rollouts. */
export const phasedChecks: Bench = {
  about: 'CPU, connections and requests of 200 PhasedRollouts with one check a second each',
  run: async (size) => [await measure(size)],
};

interface Watched {
  readonly prometheus: CountingPrometheus;
  readonly cpuSeconds: number;
  readonly requests: Requests;
  readonly spans: readonly number[];
  readonly load: string;
  readonly rss: number;
}

async function measure(size: Size): Promise<Findings> {
  const setting = settings[size];
  await using cluster = new Cluster();
  const access = await cluster.call('open', { isJudged: false });
  await cluster.call('fill', setting);
  await using prometheus = await CountingPrometheus.start();
  await prepare(await adminOf(access), setting, prometheus.url);
  await using operator = await Operator.start(access, 'phased-rollout', {
    env: { ENABLE_WEBHOOKS: 'false' },
  });
  await untilAsked(prometheus, setting.groups);
  await cluster.call('requests');
  prometheus.reset();
  const [machine, before] = [machineReading(), operator.usage().cpuSeconds];
  await sleep(setting.watch);
  const usage = operator.usage();
  const watched: Watched = {
    prometheus,
    cpuSeconds: usage.cpuSeconds - before,
    requests: await cluster.call('requests'),
    spans: prometheus.spans(),
    load: loadSince(machine),
    rss: usage.rss,
  };
  return {
    bench: 'phased-checks',
    setting: `${setting.groups} PhasedRollouts in mid-rollout, one check a second each, watched for ${setting.watch / 1_000} s; ${watched.load}`,
    figures: figuresOf(watched, setting, size),
  };
}

function figuresOf(watched: Watched, { watch }: Setting, size: Size): readonly Figure[] {
  const { prometheus, cpuSeconds, requests, spans, rss } = watched;
  const { asked, connections } = prometheus;
  return [
    bounded(
      'CPU of 200 checks a second',
      {
        value: (cpuSeconds / watch) * 100_000,
        how: `/proc: ${cpuSeconds.toFixed(2)} s of user and system time for ${asked} checks`,
      },
      size,
    ),
    bounded(
      'connections opened while checks go on',
      { value: connections.opened, how: `of ${connections.open} that were open at the end` },
      size,
    ),
    bounded(
      'writes ÷ checks',
      { value: countWrites(requests) / Math.max(1, asked), how: describeRequests(requests) },
      size,
    ),
    ...[0.5, 0.99].map((share) =>
      told(`from one check to the next, p${share * 100}`, {
        value: percentile(spans, share),
        unit: 'ms',
        how: 'as the server saw it; the period is 1,000 ms from answer to question',
      }),
    ),
    told('checks', { value: asked / (watch / 1_000), unit: '/s', how: 'counted at the server' }),
    told('RSS', { value: rss, unit: 'MB', how: 'VmRSS of /proc at the end' }),
  ];
}

async function untilAsked(prometheus: CountingPrometheus, resources: number): Promise<void> {
  const deadline = performance.now() + patience;
  while (prometheus.resources < resources) {
    if (performance.now() > deadline) {
      throw new Error(`${prometheus.resources} of ${resources} have asked after ${patience} ms`);
    }
    await sleep(every);
  }
}

/** Has every set be in the middle of an update that its partition blocks, and a PhasedRollout ask about it for ever. */
async function prepare(client: Client, options: GroupsOptions, url: string): Promise<void> {
  const check = { initialDelaySeconds: 1, periodSeconds: 1, successThreshold: 1_000_000 };
  const between = async (name: string): Promise<void> => {
    const status = { status: { observedGeneration: 2, updateRevision: `${name}-next` } };
    await client.patch(
      resourceTypes.statefulSets,
      { namespace, name },
      { body: { kind: 'merge', document: status }, subresource: 'status' },
    );
  };
  await inPhases(client, options, { url, check, between });
}
