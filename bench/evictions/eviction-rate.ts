import { assertNever } from '#base/assert-never.ts';
import { type PacedPost, postAtRate } from '../admission/paced-posts.ts';
import { connectTo, startServer, stop } from '../admission/review-servers.ts';
import type { EvictionSight } from '../cluster/eviction-commands.ts';
import { bounded, type Figure, type Findings, percentile, type Size, told } from '../figures.ts';
import { loadSince, machineReading } from '../operator/process-usage.ts';
import { type EvictionReply, evictionReview, replyOf } from './eviction-requests.ts';
import { EvictionStage } from './eviction-stage.ts';
import { ExecutedGrants } from './executed-grants.ts';

interface Setting {
  readonly podsPerSet: number;
  readonly maxUnavailable: number;
  /** In ms. */
  readonly restart: number;
  readonly rate: number;
  readonly seconds: number;
  readonly connections: number;
}

const settings: Readonly<Record<Size, Setting>> = {
  full: {
    podsPerSet: 100,
    maxUnavailable: 30,
    restart: 800,
    rate: 300,
    seconds: 60,
    connections: 200,
  },
  tiny: { podsPerSet: 6, maxUnavailable: 2, restart: 110, rate: 90, seconds: 1, connections: 20 },
};

/** What a bare server is asked at the same time, a second. */
const bareRate = 30;
const bareConnections = 20;

/** A third of the reviews each; the order is that of the groups. */
const kinds = ['grantable', 'denied', 'not governed'] as const;
type Kind = (typeof kinds)[number];

interface Seen {
  /** Of a bare server, at the same time. */
  readonly bare: number[];
  readonly late: Record<Kind, number[]>;
  readonly errors: string[];
  readonly replies: Map<string, number>;
  readonly grants: ExecutedGrants;
}

/** What was measured, and how. */
interface Found {
  readonly seen: Seen;
  readonly sight: EvictionSight;
  readonly setting: Setting;
}

/** Evictions of pods that may go, of pods that may not, and of pods under no budget, at a fixed rate. */
export async function measurePacedEvictions(size: Size): Promise<Findings> {
  const setting = settings[size];
  const { podsPerSet, maxUnavailable, restart, rate, seconds } = setting;
  await using stage = await EvictionStage.open({
    groups: 3,
    zones: 3,
    podBytes: 0,
    podsPerSet,
    maxUnavailable,
    restart: { milliseconds: restart, jitter: 0.1 },
  });
  await stage.cluster.call('createBudgets', { groups: ['group-0'], maxUnavailable });
  await stage.cluster.call('createBudgets', { groups: ['group-1'], maxUnavailable: 1 });
  await stage.cluster.call('spoil', { pod: 'group-1-zone-b-0' });
  await stage.cluster.call('watchEvictions');
  const before = machineReading();
  const cpuBefore = stage.operator.usage().cpuSeconds;
  const seen = await post(stage, setting);
  const cpu = stage.operator.usage().cpuSeconds - cpuBefore;
  const load = loadSince(before);
  const sight = await stage.cluster.call('seenEvictions');
  return {
    bench: 'evictions: rate',
    setting: `${rate} reviews/s for ${seconds} s whatever is answered, over TLS: a third each of a zone of ${podsPerSet} pods that may lose ${maxUnavailable}, of an exhausted budget, and under none; what is allowed is evicted at once, restarts of ${restart} ms; CPU of the operator ${((100 * cpu) / seconds).toFixed(0)} % of a core; ${load}`,
    figures: figuresOf({ seen, sight, setting }, size),
  };
}

async function post(stage: EvictionStage, setting: Setting): Promise<Seen> {
  const { podsPerSet: pods, restart } = setting;
  const open = await stage.connect(setting.connections);
  const seen: Seen = {
    bare: [],
    late: { grantable: [], denied: [], 'not governed': [] },
    errors: [],
    replies: new Map(),
    grants: new ExecutedGrants(stage, { set: 'group-0-zone-a', pods, pause: 2 * restart }),
  };
  const bare = await startServer('bare-review-server.ts', 'nothing');
  const reference = await connectTo(bare.server, bareConnections);
  const beside = postAtRate(reference, { ...setting, rate: bareRate }, (index) => ({
    post: evictionReview(`group-2-zone-a-${index % pods}`),
    answered: (answer, delay) => {
      if (answer !== undefined) seen.bare.push(delay);
    },
  }));
  await postAtRate(open, setting, (index) => {
    const wanted = kinds[index % kinds.length] ?? 'denied';
    const pod = wanted === 'grantable' ? seen.grants.take() : undefined;
    if (pod !== undefined) return paced(pod, wanted, seen);
    const kind = wanted === 'not governed' ? wanted : 'denied';
    const group = kind === 'denied' ? 'group-1' : 'group-2';
    return paced(`${group}-zone-a-${Math.floor(index / 3) % pods}`, kind, seen);
  });
  await beside;
  await seen.grants.settled();
  for (const each of [...open, ...reference]) each.close();
  await stop(bare.child);
  return seen;
}

function paced(pod: string, kind: Kind, { late, errors, replies, grants }: Seen): PacedPost {
  return {
    post: evictionReview(pod),
    answered: (answer, delay) => {
      const reply = answer === undefined ? lost : replyOf(answer);
      const text = `${kind}: ${reply.kind} ${reply.reason}`.trim();
      late[kind].push(delay);
      replies.set(text, (replies.get(text) ?? 0) + 1);
      if (kind === 'grantable') grants.answered(pod, reply.kind === 'allowed');
      if (!isExpected(kind, reply)) errors.push(`${pod}: ${text} ${reply.message}`);
    },
  };
}

const lost: EvictionReply = { kind: 'none', code: 0, reason: 'connection ended', message: '' };

function isExpected(kind: Kind, { kind: answered, code }: EvictionReply): boolean {
  switch (kind) {
    case 'grantable':
      return code === 200 || code === 429;
    case 'denied':
      return answered === 'denied' && code === 429;
    case 'not governed':
      return answered === 'allowed';
    default:
      return assertNever(kind);
  }
}

function figuresOf({ seen, sight, setting }: Found, size: Size): readonly Figure[] {
  const { late, grants, replies, errors } = seen;
  const { reserved, unreserved } = grants.counts;
  const down = sight.podsDown['group-0-zone-a'] ?? 0;
  const [first] = errors;
  return [
    ...kinds.map((kind) =>
      bounded(
        'review of an eviction at 300/s, p99',
        {
          of: kind,
          value: percentile(late[kind], 0.99),
          how: `from its due time to the answer, ${late[kind].length} reviews; p50 ${percentile(late[kind], 0.5).toFixed(1)}, p90 ${percentile(late[kind], 0.9).toFixed(1)}, most ${percentile(late[kind], 1).toFixed(1)} ms`,
        },
        size,
      ),
    ),
    told('answer of a bare server at the same time, p99', {
      value: percentile(seen.bare, 0.99),
      unit: 'ms',
      how: `the same reviews at ${bareRate}/s from the same client to a server of Node that reads them and looks at nothing: how late answers are for the machine alone; p50 ${percentile(seen.bare, 0.5).toFixed(1)}, most ${percentile(seen.bare, 1).toFixed(1)} ms, ${seen.bare.length} answers`,
    }),
    bounded(
      'executed grants',
      {
        value: (reserved + unreserved) / setting.seconds,
        how: `${reserved + unreserved} pods evicted in ${setting.seconds} s; answers: ${[...replies].map(([reply, count]) => `${count} × ${reply}`).join(', ')}`,
      },
      size,
    ),
    bounded(
      'ledger writes ÷ rounds of grants',
      {
        value: (sight.writes - sight.releases) / sight.rounds,
        how: `${sight.writes} writes that the operator tried from the first grant to the last; ${sight.rounds} of them stored a reservation, ${sight.releases} in a pause only took out what had ended and are not counted, the others failed or were lost to another write`,
      },
      size,
    ),
    told('grants ÷ ledger write', {
      value: reserved / sight.writes,
      unit: '',
      how: 'how many that ask at one instant share a write',
    }),
    bounded(
      'answers other than allowed and 429',
      {
        value: errors.length,
        how: `also what should have been denied and was not, and the other way round${first === undefined ? '' : `; first: ${first}`}`,
      },
      size,
    ),
    ...wrongGrants({ ...grants.counts, down, maxUnavailable: setting.maxUnavailable }, size),
  ];
}

/** Grants without a reservation, and pods beyond the budget. */
export function wrongGrants(
  {
    unreserved,
    predecessor,
    unready,
    absent,
    down,
    maxUnavailable,
  }: {
    readonly unreserved: number;
    readonly predecessor: number;
    readonly unready: number;
    readonly absent: number;
    readonly down: number;
    readonly maxUnavailable: number;
  },
  size: Size,
): readonly Figure[] {
  return [
    bounded(
      'wrong grants',
      {
        value: unreserved,
        how: `pods let go that served, and whose place no ledger had given away when they were to be evicted, by every commit of the server; ${predecessor} had only the reservation of a predecessor of their name, ${unready} did not serve, ${absent} were gone`,
      },
      size,
    ),
    bounded(
      'pods unavailable beyond the limit of a zone',
      {
        value: Math.max(0, down - maxUnavailable),
        how: `counted at every commit; most at once ${down} (limit ${maxUnavailable})`,
      },
      size,
    ),
  ];
}
