import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { AwsServer } from '#support/external-services/aws-server.ts';
import type { Bench } from '../bench.ts';
import { Cluster } from '../cluster/cluster.ts';
import type { Access } from '../cluster/cluster-commands.ts';
import { images } from '../cluster/workload.ts';
import { bounded, type Findings, percentile, type Size } from '../figures.ts';
import { bundledEnvironment, withBundle } from '../operator/bundle.ts';
import { Operator } from '../operator/operator.ts';
import { loadSince, machineReading, type Usage } from '../operator/process-usage.ts';
import { adminOf } from '../phased-rollout/phased-sets.ts';
import { apiVersion, createBudget, openSet, setKey, setName, zones } from './zone-set.ts';

interface Setting {
  readonly podsPerZone: number;
  readonly starts: number;
  /** How long it settles, in ms. */
  readonly settle: number;
}

const settings: Readonly<Record<Size, Setting>> = {
  full: { podsPerZone: 334, starts: 3, settle: 15_000 },
  tiny: { podsPerZone: 2, starts: 1, settle: 500 },
};

const mebibyte = 2 ** 20;
const alarm = 'latency';

/** What the zone-aware controllers as an image has them take of memory. */
export const zoneMemory: Bench = {
  about: 'memory of the zone-aware controllers with 1,000 pods, a budget, and an alarm that rings',
  run: (size) => withBundle(async (program) => [await measure(program, size)]),
};

async function measure(program: string, size: Size): Promise<Findings> {
  const { podsPerZone, starts, settle } = settings[size];
  await using cluster = new Cluster();
  const access = await cluster.call('open', { isJudged: false });
  await cluster.call('pace', { milliseconds: 500, jitter: 0 });
  const client = await adminOf(access);
  await using watch = await openSet(client, podsPerZone);
  const aws = new AwsServer();
  aws.alarms.push({ name: alarm, kind: 'composite', state: 'ALARM' });
  const url = await aws.listen();
  try {
    await createBudget(client, 1);
    await createUpdate(client);
    await outdate(client);
    await watch.until('the pods are outdated', () => {
      const { updateRevision } = watch.set.status;
      return watch.pods().every(({ revision }) => revision !== updateRevision);
    });
    const machine = machineReading();
    const used: Usage[] = [];
    while (used.length < starts) {
      const asked = aws.calls.length;
      await using operator = await start(access, program, { aws, url });
      while (aws.calls.length === asked) await sleep(50);
      await sleep(settle);
      used.push(operator.usage());
    }
    return findings(used, { pods: zones * podsPerZone, load: loadSince(machine) }, size);
  } finally {
    await aws.close();
  }
}

function start(
  access: Access,
  program: string,
  { aws, url }: { readonly aws: AwsServer; readonly url: string },
): Promise<Operator> {
  return Operator.start(access, 'zone-aware-controllers', {
    program,
    flags: ['--rollout.predecessor-horizon=1ms'],
    env: {
      ...bundledEnvironment,
      CONTROLLERS: 'zau',
      AWS_REGION: 'eu-west-1',
      AWS_ENDPOINT_URL_CLOUDWATCH: url,
      AWS_ACCESS_KEY_ID: aws.keys.id,
      AWS_SECRET_ACCESS_KEY: aws.keys.secret,
    },
  });
}

async function createUpdate(client: Client): Promise<void> {
  const spec = { statefulset: setName, maxUnavailable: 1, pauseRolloutAlarm: alarm };
  const body = { apiVersion, kind: 'ZoneAwareUpdate', metadata: setKey, spec };
  await client.create(resourceTypes.zoneAwareUpdates, setKey, { body });
}

async function outdate(client: Client): Promise<void> {
  const [, image] = images;
  const document = { spec: { template: { spec: { containers: [{ name: 'store', image }] } } } };
  const body = { kind: 'strategic', document } as const;
  await client.patch(resourceTypes.statefulSets, setKey, { body });
}

function findings(
  used: readonly Usage[],
  { pods, load }: { readonly pods: number; readonly load: string },
  size: Size,
): Findings {
  const peaks = used.map(({ peakRss }) => (peakRss * 1e6) / mebibyte);
  const settled = used.map(({ rss }) => ((rss * 1e6) / mebibyte).toFixed(0)).join(', ');
  return {
    bench: 'zone-memory',
    setting: `${pods} pods of one set over ${zones} zones, outdated, a ZoneDisruptionBudget over them, and an alarm that rings at a stand-in for CloudWatch, so that the SDK is loaded; the bundle with the heap of its container; ${load}`,
    figures: [
      bounded(
        'RSS of zone-aware controllers with 1,000 pods',
        {
          value: percentile(peaks, 0.5),
          how: `the most ever (VmHWM of /proc), in the median of ${used.length} starts: ${peaks.map((peak) => peak.toFixed(0)).join(', ')} MiB; settled: ${settled} MiB`,
        },
        size,
      ),
    ],
  };
}
