import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '#base/json.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Bench } from '../bench.ts';
import { Cluster } from '../cluster/cluster.ts';
import type { Requests } from '../cluster/cluster-commands.ts';
import { images, namespace } from '../cluster/workload.ts';
import { bounded, type Figure, type Findings, percentile, type Size, told } from '../figures.ts';
import { Operator } from '../operator/operator.ts';
import { loadSince, machineReading } from '../operator/process-usage.ts';
import { countWrites, describeRequests } from '../operator/requests.ts';
import { adminOf } from '../phased-rollout/phased-sets.ts';
import {
  apiVersion,
  createBudget,
  setKey as key,
  setName as name,
  openSet,
  zones,
} from './zone-set.ts';
import type { ZoneWatch } from './zone-watch.ts';

interface Setting {
  readonly podsPerZone: number;
  readonly maxUnavailable: number;
  /** From DELETE to Ready of the replacement, in ms. */
  readonly restart: number;
  readonly turns: number;
  /** How long nothing happens, in ms. */
  readonly idle: number;
}

const settings: Readonly<Record<Size, Setting>> = {
  full: { podsPerZone: 60, maxUnavailable: 20, restart: 2_200, turns: 3, idle: 30_000 },
  tiny: { podsPerZone: 4, maxUnavailable: 2, restart: 110, turns: 1, idle: 1_000 },
};

const factor = 2;

/** One set over three zones, updated in growing steps by the operator and by a perfect driver, by turns. */
export const zoneUpdates: Bench = {
  about:
    'a ZoneAwareUpdate of 180 pods in three zones, compared with a perfect driver of the same steps',
  run: async (size) => [await measure(size)],
};

/** One rollout by the operator. */
interface Updated {
  readonly wall: number;
  readonly steps: readonly number[];
  readonly most: ZoneWatch['most'];
  readonly requests: Requests;
}

/** The same rollout by the driver, by the operator, and by the operator under a budget. */
interface Turn {
  readonly driven: number;
  readonly free: Updated;
  readonly governed: Updated;
}

interface Parts {
  readonly cluster: Cluster;
  readonly client: Client;
  readonly watch: ZoneWatch;
  readonly setting: Setting;
}

async function measure(size: Size): Promise<Findings> {
  const setting = settings[size];
  await using cluster = new Cluster();
  const access = await cluster.call('open', { isJudged: false });
  await cluster.call('pace', { milliseconds: setting.restart, jitter: 0 });
  const client = await adminOf(access);
  await using watch = await openSet(client, setting.podsPerZone);
  await using operator = await Operator.start(access, 'zone-aware-controllers', {
    env: { CONTROLLERS: 'zau' },
    // Nobody was there before.
    flags: ['--rollout.predecessor-horizon=1ms'],
  });
  const parts = { cluster, client, watch, setting };
  const machine = machineReading();
  const turns: Turn[] = [];
  while (turns.length < setting.turns) turns.push(await turn(parts));
  const load = loadSince(machine);
  await cluster.call('requests');
  await sleep(setting.idle);
  const idle = await cluster.call('requests');
  const { podsPerZone, maxUnavailable, restart } = setting;
  const { rss } = operator.usage();
  return {
    bench: 'zone-updates',
    setting: `${zones} zones × ${podsPerZone} pods of one set, maxUnavailable ${maxUnavailable}, factor ${factor}, restarts of ${restart} ms; by turns a driver, the operator, and the operator under a ZoneDisruptionBudget of ${maxUnavailable}; RSS ${rss.toFixed(0)} MB; ${load}`,
    figures: [...figuresOf(turns, setting, size), idleFigure(idle, setting, size)],
  };
}

async function turn(parts: Parts): Promise<Turn> {
  const driven = await drive(parts);
  const free = await update(parts);
  await createBudget(parts.client, parts.setting.maxUnavailable);
  const governed = await update(parts);
  await parts.client.delete(resourceTypes.zoneDisruptionBudgets, key, { preconditions: {} });
  return { driven, free, governed };
}

/** Rolls the set by a ZoneAwareUpdate. */
async function update({ cluster, client, watch, setting }: Parts): Promise<Updated> {
  const spec = {
    statefulset: name,
    maxUnavailable: setting.maxUnavailable,
    exponentialFactor: `${factor}.0`,
  };
  const body = { apiVersion, kind: 'ZoneAwareUpdate', metadata: key, spec };
  await client.create(resourceTypes.zoneAwareUpdates, key, { body });
  await completed(client);
  await cluster.call('requests');
  watch.begin();
  const start = performance.now();
  const generation = await change(client);
  await watch.until('all pods are new', () => watch.isRolled(generation));
  const wall = performance.now() - start;
  await completed(client);
  const requests = await cluster.call('requests');
  const { most, steps } = watch;
  await client.delete(resourceTypes.zoneAwareUpdates, key, { preconditions: {} });
  return { wall, steps: steps.map(({ pods }) => pods), most, requests };
}

/** Rolls the set in the same steps, as fast as is possible: each begins the instant the watch shows that all pods are ready. */
async function drive({ client, watch, setting }: Parts): Promise<number> {
  const start = performance.now();
  const generation = await change(client);
  await watch.until('the new spec is observed', () => watch.hasObserved(generation));
  for (const size of stepsOf(setting)) {
    const { updateRevision } = watch.set.status;
    const old = watch.pods().filter(({ revision }) => revision !== updateRevision);
    const [zone] = old.map((pod) => watch.zoneOf(pod)).toSorted();
    const step = old.filter((pod) => watch.zoneOf(pod) === zone).slice(0, size);
    await Promise.all(step.map((pod) => remove(client, pod)));
    const going = new Set(step.map(({ uid }) => uid));
    const areBack = (): boolean =>
      watch.isWhole() && !watch.pods().some(({ uid }) => going.has(uid));
    await watch.until('a step is over', areBack);
  }
  if (!watch.isRolled(generation)) throw new Error('The driver has left pods');
  return performance.now() - start;
}

async function remove(
  client: Client,
  { name: pod, uid }: { readonly name: string; readonly uid: string },
): Promise<void> {
  await client.delete(resourceTypes.pods, { namespace, name: pod }, { preconditions: { uid } });
}

/** How many pods each step takes: ever more up to the limit, the last one of a zone what is left. */
function stepsOf({ podsPerZone, maxUnavailable }: Setting): readonly number[] {
  const steps: number[] = [];
  for (let zone = 0; zone < zones; zone += 1) {
    for (let left = podsPerZone; left > 0; left -= steps.at(-1) ?? left) {
      steps.push(Math.min(factor ** steps.length, maxUnavailable, left));
    }
  }
  return steps;
}

const patience = 60_000;
const every = 20;

/** Resolves when the update says that all is done. */
async function completed(client: Client): Promise<void> {
  const deadline = performance.now() + patience;
  for (;;) {
    const stored: JsonObject = await client.get(resourceTypes.zoneAwareUpdates, key);
    if (JSON.stringify(stored['status'] ?? {}).includes('"Updated"')) return;
    if (performance.now() > deadline) throw new Error('The update does not say that it is over');
    await sleep(every);
  }
}

const current = { image: 0 };

/** @returns the generation of the set that has the other image */
async function change(client: Client): Promise<number> {
  current.image = 1 - current.image;
  const containers = [{ name: 'store', image: images[current.image] ?? '' }];
  const document = { spec: { template: { spec: { containers } } } };
  const body = { kind: 'strategic', document } as const;
  const { metadata } = await client.patch(resourceTypes.statefulSets, key, { body });
  return metadata.generation ?? 0;
}

function figuresOf(turns: readonly Turn[], setting: Setting, size: Size): readonly Figure[] {
  const steps = stepsOf(setting);
  const runs = turns.flatMap(({ free, governed }) => [free, governed]);
  const odd = runs.filter((run) => run.steps.join() !== steps.join());
  const ratio = (of: 'free' | 'governed'): Figure =>
    bounded(
      'update ÷ a perfect driver of the same steps',
      {
        of: of === 'free' ? 'no budget' : 'under a budget',
        value: percentile(
          turns.map((each) => each[of].wall / each.driven),
          0.5,
        ),
        how: `the median of ${turns.length}, from the change of the template to the last Ready: ${turns.map((each) => `${(each[of].wall / 1_000).toFixed(2)} ÷ ${(each.driven / 1_000).toFixed(2)} s`).join(', ')}`,
      },
      size,
    );
  return [
    ratio('free'),
    ratio('governed'),
    bounded(
      'updates in other steps than the driver',
      {
        value: odd.length,
        how: `${steps.length} steps of ${steps.join(', ')} pods; first that differs: ${odd[0]?.steps.join(', ') ?? 'none'}`,
      },
      size,
    ),
    bounded(
      'zones or pods away beyond a step',
      {
        value: Math.max(
          ...runs.flatMap(({ most }) => [most.zones - 1, most.pods - setting.maxUnavailable]),
        ),
        how: `looked at as each pod goes; at most ${Math.max(...runs.map(({ most }) => most.zones))} zone and ${Math.max(...runs.map(({ most }) => most.pods))} pods`,
      },
      size,
    ),
    ...writeFigures(turns, setting),
  ];
}

function writeFigures(turns: readonly Turn[], { podsPerZone }: Setting): readonly Figure[] {
  const pods = zones * podsPerZone;
  return (['free', 'governed'] as const).map((of) =>
    told(`writes ÷ pod, ${of === 'free' ? 'no budget' : 'under a budget'}`, {
      value: Math.max(...turns.map((each) => countWrites(each[of].requests) / pods)),
      unit: '',
      how: `the most of any turn, deletes included, Events and the Lease apart; ${describeRequests(turns.at(-1)?.[of].requests ?? {})}`,
    }),
  );
}

function idleFigure(requests: Requests, { idle }: Setting, size: Size): Figure {
  return bounded(
    'writes while nothing changes',
    {
      value: countWrites(requests) / (idle / 60_000),
      how: `counted at the server for ${idle / 1_000} s, the Lease and Events apart; all requests: ${describeRequests(requests)}`,
    },
    size,
  );
}
