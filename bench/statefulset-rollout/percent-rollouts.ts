import type { JsonObject } from '#base/json.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { objectAt } from '#statefulset/parse-fields.ts';
import { statefulsetRolloutDefinition } from '#statefulset-rollout/definition.ts';
import type { Bench } from '../bench.ts';
import { Cluster } from '../cluster/cluster.ts';
import type { Requests } from '../cluster/cluster-commands.ts';
import type { RolloutSight, Rotated } from '../cluster/percent-commands.ts';
import { images, namespace } from '../cluster/workload.ts';
import { bounded, type Figure, type Findings, percentile, type Size, told } from '../figures.ts';
import { bundledEnvironment, withBundle } from '../operator/bundle.ts';
import { Operator } from '../operator/operator.ts';
import { loadSince, machineReading, type Usage } from '../operator/process-usage.ts';
import { describeRequests } from '../operator/requests.ts';
import { adminOf } from '../phased-rollout/phased-sets.ts';
import { PercentDriver } from './percent-driver.ts';
import {
  carriedSet,
  createNativeBudget,
  createRollout,
  deleteRollout,
  type RolledSet,
  rolledOut,
  setIsWhole,
} from './percent-set.ts';
import { PercentSlack } from './percent-slack.ts';

interface Setting {
  readonly replicas: number;
  readonly maxUnavailable: number;
  /** From the eviction to Ready of the replacement, in ms. */
  readonly restart: number;
  readonly turns: number;
  /** How long Slack is told nothing before all has been reported: longer than a page waits for news, in ms. */
  readonly quiet: number;
}

const settings: Readonly<Record<Size, Setting>> = {
  full: { replicas: 1_000, maxUnavailable: 100, restart: 2_200, turns: 3, quiet: 16_000 },
  // Pods that are back before the controller of budgets has seen them go count as gone for two minutes.
  tiny: { replicas: 6, maxUnavailable: 3, restart: 2_200, turns: 1, quiet: 1_000 },
};

const patience = 300_000;
const mebibyte = 2 ** 20;

/** A StatefulsetRollout of a large set, compared with a perfect driver of the same Eviction API. */
export const percentRollouts: Bench = {
  about: 'a StatefulsetRollout of 1,000 pods, a hundred at a time, compared with a perfect driver',
  run: (size) => withBundle(async (program) => [await measure(program, size)]),
};

/** The same rollout by the driver and by the operator. */
interface Turn {
  readonly driven: Rotated;
  readonly rolled: Rotated;
  readonly sight: RolloutSight;
  readonly requests: Requests;
  readonly cpu: number;
  readonly slack: {
    readonly posts: number;
    readonly calls: number;
    readonly rate: number;
    readonly unfinished: number;
  };
}

interface Parts {
  readonly cluster: Cluster;
  readonly client: Client;
  readonly operator: Operator;
  readonly slack: PercentSlack;
  readonly setting: Setting;
  readonly set: RolledSet;
}

async function measure(program: string, size: Size): Promise<Findings> {
  const setting = settings[size];
  const { replicas, maxUnavailable, restart } = setting;
  const set: RolledSet = { name: 'store', replicas, podBytes: 0 };
  await using cluster = new Cluster();
  const access = await cluster.call('open', { isJudged: false });
  await cluster.call('pace', { milliseconds: restart, jitter: 0, hasBudgets: true });
  const client = await adminOf(access);
  const body = statefulsetRolloutDefinition;
  await client.create(resourceTypes.customResourceDefinitions, {}, { body });
  await client.create(
    resourceTypes.statefulSets,
    { namespace },
    { body: carriedSet(set, images[0]) },
  );
  await createNativeBudget(client, set, maxUnavailable);
  await setIsWhole(client, set, patience);
  await using slack = await PercentSlack.start();
  await using operator = await Operator.start(access, 'statefulset-rollout', {
    program,
    env: bundledEnvironment,
    // Nobody was there before.
    flags: ['--leader-elect=false', '--rollout.predecessor-horizon=1ms', ...slack.flags],
  });
  const machine = machineReading();
  const turns: Turn[] = [];
  const parts = { cluster, client, operator, slack, setting, set };
  while (turns.length < setting.turns) turns.push(await turn(parts));
  const load = loadSince(machine);
  return {
    bench: 'percent-rollouts',
    setting: `${replicas} pods of one set, a native budget of ${maxUnavailable}, restarts of ${restart} ms, Slack on; by turns a driver and the operator, which is the bundle with the heap of its container; ${load}`,
    figures: figuresOf(turns, { setting, usage: operator.usage() }, size),
  };
}

async function turn({ cluster, client, operator, slack, setting, set }: Parts): Promise<Turn> {
  const { maxUnavailable: most } = setting;
  const { name, replicas: pods } = set;
  const driven = await drive({ cluster, client }, { ...set, most });
  await createRollout(client, set, images[1]);
  await rolledOut(client, name, patience);
  slack.begin();
  const { cpuSeconds } = operator.usage();
  await cluster.call('requests');
  await cluster.call('watchRotation', { set: name, pods, image: images[0] });
  const statefulset = carriedSet(set, images[0]);
  const document = { spec: { channel: slack.channel, statefulset } };
  const key = { namespace, name };
  const type = resourceTypes.statefulsetRollouts;
  await client.patch(type, key, { body: { kind: 'merge', document } });
  const rolled = await cluster.call('rotated', { patience });
  await rolledOut(client, name, patience);
  const cpu = operator.usage().cpuSeconds - cpuSeconds;
  const requests = await cluster.call('requests');
  await slack.settled(setting.quiet);
  const sight = await cluster.call('seenRollouts');
  const { posts, calls, rate } = slack;
  const unfinished = slack.unfinished(isFinal);
  await deleteRollout(client, name);
  await slack.settled(setting.quiet);
  return { driven, rolled, sight, requests, cpu, slack: { posts, calls, rate, unfinished } };
}

/** Pages end with all their pods ready, the summary with the phase. */
function isFinal(text: string): boolean {
  return text.includes('RolloutDone') || !/ (?:starting|restarting|failing|to go)/.test(text);
}

async function drive(
  { cluster, client }: Pick<Parts, 'cluster' | 'client'>,
  set: RolledSet & { readonly most: number },
): Promise<Rotated> {
  const [, image] = images;
  await using driver = await PercentDriver.start(client, set);
  const watched = { set: set.name, pods: set.replicas, image };
  await cluster.call('watchRotation', watched);
  const rotated = cluster.call('rotated', { patience });
  const template: JsonObject = objectAt(objectAt(carriedSet(set, image), 'spec'), 'template');
  await driver.drive({ spec: { template } });
  return await rotated;
}

function figuresOf(
  turns: readonly Turn[],
  { setting, usage }: { readonly setting: Setting; readonly usage: Usage },
  size: Size,
): readonly Figure[] {
  const { maxUnavailable } = setting;
  const ratios = turns.map(({ driven, rolled }) => rolled.wall / driven.wall);
  const pairs = turns.map(
    ({ driven, rolled }) =>
      `${(rolled.wall / 1_000).toFixed(2)} ÷ ${(driven.wall / 1_000).toFixed(2)} s`,
  );
  const last = turns.at(-1);
  const mostAway = Math.max(...turns.map(({ rolled }) => rolled.mostAway));
  return [
    bounded(
      'rollout by percent ÷ perfect driver',
      {
        value: percentile(ratios, 0.5),
        how: `the median of ${turns.length}, from the change of the template to the last Ready: ${pairs.join(', ')}; phases of the last in ms: ${last?.sight.phases.map((each) => each.join(' ')).join(', ')}`,
      },
      size,
    ),
    bounded(
      'pods away beyond the budget',
      {
        value: mostAway - maxUnavailable,
        how: `at each commit; at most ${mostAway} by the operator, ${Math.max(...turns.map(({ driven }) => driven.mostAway))} by the driver`,
      },
      size,
    ),
    bounded(
      'evictions under way at once',
      {
        value: Math.max(...turns.map(({ sight }) => sight.evictionsAtOnce)),
        how: `by their begin and end at the API server; answers of the last turn: ${JSON.stringify(last?.sight.evictions)}`,
      },
      size,
    ),
    ...statusFigures(turns, size),
    ...slackFigures(turns, size),
    bounded(
      'RSS of a rollout of 1,000 pods',
      {
        value: (usage.peakRss * 1e6) / mebibyte,
        how: `the most ever (VmHWM of /proc), by the bundle with the heap of its container, in ${turns.length} rollouts after one another; ${((usage.rss * 1e6) / mebibyte).toFixed(0)} MiB in the end`,
      },
      size,
    ),
    told('CPU of a rollout', {
      value: percentile(
        turns.map(({ cpu }) => cpu),
        0.5,
      ),
      unit: 's',
      how: `/proc, until it says that it is done; the median of ${turns.map(({ cpu }) => cpu.toFixed(1)).join(', ')}; requests of the last: ${describeRequests(last?.requests ?? {})}`,
    }),
  ];
}

function statusFigures(turns: readonly Turn[], size: Size): readonly Figure[] {
  const beyond = turns.map(({ sight }) => {
    const { statusWrites, slackWrites, batches, writing } = sight;
    return statusWrites + slackWrites - batches - Math.ceil(writing);
  });
  const each = turns.map(
    ({ sight }) =>
      `${sight.statusWrites} and ${sight.slackWrites} of where Slack's messages stand in ${sight.writing.toFixed(0)} s with ${sight.batches} batches`,
  );
  return [
    bounded(
      'bytes of a status of 1,000 pods',
      {
        value: Math.max(...turns.map(({ sight }) => sight.statusBytes)) / 1_024,
        how: 'the largest that was stored, as JSON',
      },
      size,
    ),
    bounded(
      'status writes beyond one a batch and one a second',
      { value: Math.max(...beyond), how: `the most of any turn; writes: ${each.join('; ')}` },
      size,
    ),
  ];
}

function slackFigures(turns: readonly Turn[], size: Size): readonly Figure[] {
  const most = (of: keyof Turn['slack']): number =>
    Math.max(...turns.map(({ slack }) => slack[of]));
  return [
    bounded(
      'posts to Slack of a rollout',
      { value: most('posts'), how: `the most of any turn; ${most('calls')} calls with changes` },
      size,
    ),
    bounded(
      'calls of Slack a second',
      { value: most('rate'), how: 'over any ten seconds, as the stand-in for Slack saw them' },
      size,
    ),
    bounded(
      'messages of Slack that do not show the end',
      { value: most('unfinished'), how: 'once nothing is sent any more' },
      size,
    ),
  ];
}
