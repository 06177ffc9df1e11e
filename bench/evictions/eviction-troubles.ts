import { setTimeout as sleep } from 'node:timers/promises';
import { type PacedPost, postAtRate } from '../admission/paced-posts.ts';
import type { PostConnection } from '../admission/post-connection.ts';
import { connectTo } from '../admission/review-servers.ts';
import type { Trouble } from '../cluster/eviction-commands.ts';
import { bounded, type Figure, type Findings, percentile, type Size, told } from '../figures.ts';
import { loadSince, machineReading } from '../operator/process-usage.ts';
import { wrongGrants } from './eviction-rate.ts';
import { type EvictionReply, evictionReview, replyOf, reviewTimeout } from './eviction-requests.ts';
import { EvictionStage } from './eviction-stage.ts';
import { ExecutedGrants } from './executed-grants.ts';

interface Phase {
  readonly name: string;
  readonly trouble: Trouble;
  readonly seconds: number;
}

interface Setting {
  readonly podsPerSet: number;
  readonly maxUnavailable: number;
  /** In ms. */
  readonly restart: number;
  readonly rate: number;
  readonly phases: readonly Phase[];
}

/** @param gone how long there is no API server, in seconds; the other phases follow from `each` */
function phases(each: number, gone: number): readonly Phase[] {
  const none = { kind: 'none' } as const;
  return [
    { name: 'as usual', trouble: none, seconds: each / 2 },
    { name: '+500 ms', trouble: { kind: 'slow', delay: 500 }, seconds: each },
    { name: '20 % errors', trouble: { kind: 'failing', share: 0.2 }, seconds: each },
    { name: 'gone', trouble: { kind: 'gone' }, seconds: gone },
    { name: 'back', trouble: none, seconds: each },
  ];
}

const settings: Readonly<Record<Size, Setting>> = {
  full: { podsPerSet: 60, maxUnavailable: 15, restart: 800, rate: 20, phases: phases(20, 60) },
  tiny: { podsPerSet: 6, maxUnavailable: 2, restart: 110, rate: 20, phases: phases(2, 1) },
};

/**
 * Connections of a phase to each replica, for each review a second: two phases together stay below the 256 that the
 * webhooks keep.
 */
const connectionsPer = 5;

/** One answer. */
interface Answered {
  readonly phase: string;
  /** `unknown`: none came. */
  readonly kind: EvictionReply['kind'] | 'unknown';
  readonly reason: string;
  /** When, by the clock of this process, and how long after it was sent; in ms. */
  readonly at: number;
  readonly took: number;
}

interface Seen {
  readonly answers: Answered[];
  /** When a pod that a ledger had let go was evicted. */
  readonly executed: number[];
  readonly grants: ExecutedGrants;
  backAt: number;
}

/** Evictions, a half of which may be granted, while the API server is slow, fails, and is gone. */
export async function measureTroubles(size: Size): Promise<Findings> {
  const setting = settings[size];
  const { podsPerSet, maxUnavailable, restart, rate } = setting;
  await using stage = await EvictionStage.open({
    groups: 2,
    zones: 3,
    podBytes: 0,
    podsPerSet,
    maxUnavailable,
    restart: { milliseconds: restart, jitter: 0.1 },
    isGated: true,
  });
  await stage.cluster.call('createBudgets', { groups: ['group-0'], maxUnavailable });
  await stage.cluster.call('createBudgets', { groups: ['group-1'], maxUnavailable: 1 });
  await stage.cluster.call('spoil', { pod: 'group-1-zone-b-0' });
  await stage.cluster.call('watchEvictions');
  const { operator, server } = await stage.startAnother();
  await using another = operator;
  const replicas = [stage, { operator: another, server }];
  const before = machineReading();
  const seen = await through(stage, replicas, setting);
  const load = loadSince(before);
  const { podsDown } = await stage.cluster.call('seenEvictions');
  const down = podsDown['group-0-zone-a'] ?? 0;
  const spans = setting.phases.map(({ name, seconds }) => `${name} ${seconds} s`);
  return {
    bench: 'evictions: troubles',
    setting: `${rate} reviews/s over TLS to two replicas, a half each of a zone of ${podsPerSet} pods that may lose ${maxUnavailable} and of an exhausted budget; the API server, for the operator: ${spans.join(', ')}; what is allowed is evicted at once; ${load}`,
    figures: [
      ...wrongGrants({ ...seen.grants.counts, down, maxUnavailable }, size),
      deadlineFigure(seen, size),
      backFigure(seen, { seconds: setting.phases.at(-1)?.seconds ?? 0, size }),
      ...setting.phases.map(({ name }) => phaseFigure(seen, name)),
    ],
  };
}

type Replica = Pick<EvictionStage, 'operator' | 'server'>;

async function through(
  stage: EvictionStage,
  replicas: readonly Replica[],
  setting: Setting,
): Promise<Seen> {
  const { podsPerSet: pods, restart, rate } = setting;
  const executed: number[] = [];
  const grants = new ExecutedGrants(
    stage,
    { set: 'group-0-zone-a', pods, pause: 2 * restart },
    () => executed.push(performance.now()),
  );
  const seen: Seen = { answers: [], executed, grants, backAt: 0 };
  // What was sent in one phase may be answered in the next: no phase waits for its answers.
  const posts: Promise<void>[] = [];
  for (const { name, trouble, seconds } of setting.phases) {
    const open = await connectToAll(replicas, rate * connectionsPer);
    await stage.cluster.call('trouble', trouble);
    if (name === 'back') seen.backAt = performance.now();
    const own = postAtRate(open, { rate, seconds }, (index) =>
      paced({ index, pods, phase: name }, seen),
    );
    posts.push(own.finally(() => open.forEach((each) => each.close())));
    await sleep(seconds * 1_000);
  }
  await Promise.all(posts);
  await grants.settled();
  return seen;
}

/** As a Service would, to those that serve: the leader ends when it can no longer renew its Lease. */
async function connectToAll(
  replicas: readonly Replica[],
  each: number,
): Promise<readonly PostConnection[]> {
  const serving = replicas.filter(({ operator }) => !operator.hasEnded);
  return (await Promise.all(serving.map(({ server }) => connectTo(server, each)))).flat();
}

function paced(
  { index, pods, phase }: { readonly index: number; readonly pods: number; readonly phase: string },
  { answers, grants }: Seen,
): PacedPost {
  const grantable = index % 2 === 0 ? grants.take() : undefined;
  const pod = grantable ?? `group-1-zone-a-${(index >> 1) % pods}`;
  return {
    post: evictionReview(pod),
    answered: (answer, _, took) => {
      const reply = answer === undefined ? undefined : replyOf(answer);
      const kind = reply?.kind ?? 'unknown';
      answers.push({ phase, kind, reason: reply?.reason ?? '', at: performance.now(), took });
      if (grantable !== undefined) grants.answered(grantable, kind === 'allowed');
    },
  };
}

function deadlineFigure({ answers }: Seen, size: Size): Figure {
  const refused = answers.filter(({ kind }) => kind !== 'allowed' && kind !== 'unjudged');
  const late = refused.filter(({ kind, took }) => isNoAnswer(kind) || took > reviewTimeout * 1_000);
  const longest = Math.max(0, ...refused.map(({ took }) => took));
  return bounded(
    'denials beyond their deadline',
    {
      value: late.length,
      how: `of ${refused.length}, each with the ${reviewTimeout} s of the shipped configuration; no answer, or none to a review, counts too; longest ${(longest / 1_000).toFixed(2)} s`,
    },
    size,
  );
}

function isNoAnswer(kind: Answered['kind']): boolean {
  return kind === 'unknown' || kind === 'none';
}

/** Usual are what is let go, and what the budget itself denies. */
function isUsual({ kind, reason }: Answered): boolean {
  return kind === 'allowed' || kind === 'unjudged' || reason === 'BudgetExhausted';
}

/** Longest time between two evictions that is usual at these rates, in ms. */
const usualPause = 1_000;

/** @param seconds how long there was an API server again */
function backFigure(
  { answers, executed, backAt }: Seen,
  { seconds, size }: { readonly seconds: number; readonly size: Size },
): Figure {
  const unusual = answers.filter((each) => each.at > backAt && !isUsual(each));
  const lastUnusual = Math.max(backAt, ...unusual.map(({ at }) => at));
  const end = backAt + seconds * 1_000;
  const after = executed
    .filter((at) => at > backAt && at < end)
    .toSorted((one, other) => one - other);
  const times = [backAt, ...after, end];
  // A budget that stays exhausted, as nobody hears that the pods are back, answers as usual for ever.
  const flowing =
    times.findLast((at, index) => at - (times[index - 1] ?? at) > usualPause) ?? backAt;
  return bounded(
    'API server back → all answers as usual',
    {
      value: (Math.max(lastUnusual, flowing) - backAt) / 1_000,
      how: `until both: the last answer that neither let a pod go nor named an exhausted budget, ${((lastUnusual - backAt) / 1_000).toFixed(2)} s (${unusual.length} of them), and the end of the last second without an eviction, ${((flowing - backAt) / 1_000).toFixed(2)} s`,
    },
    size,
  );
}

function phaseFigure({ answers }: Seen, phase: string): Figure {
  const own = answers.filter((each) => each.phase === phase);
  const counts = new Map<string, number>();
  for (const { kind, reason } of own) {
    const text = `${kind} ${reason}`.trim();
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const took = own.map((each) => each.took);
  return told(`review of an eviction, p99 (${phase})`, {
    value: percentile(took, 0.99),
    unit: 'ms',
    how: `p50 ${percentile(took, 0.5).toFixed(1)} ms, most ${percentile(took, 1).toFixed(0)} ms; answers: ${[...counts].map(([text, count]) => `${count} × ${text}`).join(', ')}`,
  });
}
