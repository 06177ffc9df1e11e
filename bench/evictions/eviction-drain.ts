import type { PostConnection } from '../admission/post-connection.ts';
import type { Drained, EvictionSight } from '../cluster/eviction-commands.ts';
import { bounded, type Figure, type Findings, percentile, type Size, told } from '../figures.ts';
import { loadSince, machineReading } from '../operator/process-usage.ts';
import { evictionPost } from './eviction-requests.ts';
import { EvictionStage } from './eviction-stage.ts';

interface Setting {
  readonly podsPerSet: number;
  readonly maxUnavailable: number;
  readonly inFlight: number;
  /** From the eviction to Ready of the replacement, in ms. */
  readonly restart: number;
  /** Drains by a perfect driver and through the webhook, in turns. */
  readonly pairs: number;
}

const settings: Readonly<Record<Size, Setting>> = {
  full: { podsPerSet: 200, maxUnavailable: 20, inFlight: 50, restart: 2_200, pairs: 3 },
  tiny: { podsPerSet: 6, maxUnavailable: 2, inFlight: 4, restart: 110, pairs: 1 },
};

const [group, set] = ['group-0', 'group-0-zone-a'] as const;

/** What the API server answered to evictions, by status. */
type Answers = Map<number, number>;

interface Pair {
  readonly driver: Drained;
  readonly webhook: Drained;
  readonly answers: Answers;
  readonly sight: EvictionSight;
}

/** Drains a zone through the API server, as many pods under way as `kubectl drain` of all its nodes has. */
export async function measureDrain(size: Size): Promise<Findings> {
  const setting = settings[size];
  const { podsPerSet, maxUnavailable, restart, inFlight } = setting;
  await using stage = await EvictionStage.open({
    groups: 1,
    zones: 3,
    podBytes: 0,
    podsPerSet,
    maxUnavailable,
    restart: { milliseconds: restart, jitter: 0 },
  });
  await stage.cluster.call('createBudgets', { groups: [group], maxUnavailable });
  const before = machineReading();
  const pairs: Pair[] = [];
  while (pairs.length < setting.pairs) pairs.push(await drainPair(stage, setting));
  const load = loadSince(before);
  return {
    bench: 'evictions: drain',
    setting: `a zone of 3 × ${podsPerSet} pods, ${inFlight} evictions in flight at the API server, which asks the webhook over TLS; maxUnavailable ${maxUnavailable}, restarts of ${restart} ms; who is denied asks again at once; ${load}`,
    figures: figuresOf(pairs, setting, size),
  };
}

async function drainPair(stage: EvictionStage, setting: Setting): Promise<Pair> {
  const { cluster, server } = stage;
  const { maxUnavailable: atOnce, restart, podsPerSet } = setting;
  const patience = 60_000 + 20 * Math.ceil(podsPerSet / atOnce) * restart;
  await cluster.call('watchEvictions');
  const driver = await cluster.call('drainPerfectly', { set, atOnce, patience });
  await cluster.call('reviewEvictions', { port: server.port });
  await cluster.call('watchEvictions');
  const drained = cluster.call('drained', { set, patience });
  const [webhook, answers] = await Promise.all([drained, drain(stage, setting)]);
  const sight = await cluster.call('seenEvictions');
  await cluster.call('reviewNothing');
  return { driver, webhook, answers, sight };
}

/** Evicts every pod of the zone, each again and again until that is allowed. */
async function drain(stage: EvictionStage, { podsPerSet, inFlight }: Setting): Promise<Answers> {
  const open = await stage.connectToApi(inFlight);
  const answers: Answers = new Map();
  const left = Array.from({ length: podsPerSet }, (_, ordinal) =>
    evictionPost(stage.access, `${set}-${ordinal}`),
  );
  const evict = async (connection: PostConnection, post: Buffer): Promise<void> => {
    for (;;) {
      const { status } = await connection.post(post);
      answers.set(status, (answers.get(status) ?? 0) + 1);
      if (status === 201) return;
    }
  };
  await Promise.all(
    open.map(async (connection) => {
      for (let post = left.shift(); post !== undefined; post = left.shift()) {
        await evict(connection, post);
      }
    }),
  );
  for (const each of open) each.close();
  return answers;
}

function figuresOf(pairs: readonly Pair[], setting: Setting, size: Size): readonly Figure[] {
  const { podsPerSet, maxUnavailable, restart } = setting;
  const waves = Math.ceil(podsPerSet / maxUnavailable);
  const limit = waves * restart;
  const answers = pairs.flatMap((pair) => [...pair.answers]);
  const others = answers.filter(([status]) => status !== 201 && status !== 429);
  const most = pairs.map(({ sight }) => sight.podsDown[set] ?? 0);
  const walls = pairs.map(
    ({ driver, webhook }) => `${inSeconds(webhook)} (perfect driver ${inSeconds(driver)}) s`,
  );
  const ratioTo = (reference: (pair: Pair) => number): number =>
    percentile(
      pairs.map((pair) => pair.webhook.wall / reference(pair)),
      0.5,
    );
  return [
    bounded(
      'drain of a zone ÷ physical limit',
      {
        value: ratioTo(() => limit),
        how: `the median of ${pairs.length}, from the first eviction to Ready of the last replacement, by the server's clock: ${walls.join(', ')}; limit ⌈${podsPerSet} ÷ ${maxUnavailable}⌉ × ${restart / 1_000} s = ${limit / 1_000} s`,
      },
      size,
    ),
    told('drain of a zone ÷ perfect driver', {
      value: ratioTo(({ driver }) => driver.wall),
      unit: '×',
      how: `in turns with one in the process of the cluster that evicts the next of ${maxUnavailable} pods at the commit of Ready of another, and asks no webhook`,
    }),
    bounded(
      'answers other than allowed and 429',
      {
        value: others.reduce((sum, [, count]) => sum + count, 0),
        how: `of the API server, by status: ${answers.map(([status, count]) => `${count} × ${status}`).join(', ')}`,
      },
      size,
    ),
    ...safetyOfEvictions(
      pairs.map(({ sight }) => sight),
      { maxUnavailable, most },
      size,
    ),
  ];
}

function inSeconds({ wall }: Drained): string {
  return (wall / 1_000).toFixed(2);
}

/** Figures that tell whether evictions took more than the budget has. */
function safetyOfEvictions(
  sights: readonly EvictionSight[],
  { maxUnavailable, most }: { readonly maxUnavailable: number; readonly most: readonly number[] },
  size: Size,
): readonly Figure[] {
  return [
    bounded(
      'zones with unavailable pods at once',
      {
        value: Math.max(...sights.map(({ zonesDown }) => zonesDown)),
        how: 'counted at every commit of the server',
      },
      size,
    ),
    bounded(
      'pods unavailable beyond the limit of a zone',
      {
        value: Math.max(0, ...most.map((down) => down - maxUnavailable)),
        how: `counted at every commit; most at once, by drain (limit ${maxUnavailable}): ${most.join(', ')}`,
      },
      size,
    ),
  ];
}
