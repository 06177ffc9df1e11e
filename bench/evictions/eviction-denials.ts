import { setTimeout as sleep } from 'node:timers/promises';
import { errorOf } from '#base/error-of.ts';
import { PostConnection, type ReviewServer } from '../admission/post-connection.ts';
import { flood, reviewOfSet } from '../admission/set-review.ts';
import { bounded, type Figure, type Findings, percentile, type Size } from '../figures.ts';
import { loadSince, machineReading } from '../operator/process-usage.ts';
import { describeRequests } from '../operator/requests.ts';
import { evictionReview, replyOf } from './eviction-requests.ts';
import { EvictionStage } from './eviction-stage.ts';

interface Load {
  readonly podsPerSet: number;
  /** Reviews under way at once, each over a connection of its own. */
  readonly inFlight: readonly number[];
  /** Turns of both webhooks, and reviews in each. */
  readonly pairs: number;
  readonly reviews: number;
  readonly warmUp: number;
}

const loads: Readonly<Record<Size, Load>> = {
  // So many that the end of a turn, in which ever fewer are in flight over connections made for one review, counts for little.
  full: { podsPerSet: 20, inFlight: [50, 1_000], pairs: 3, reviews: 60_000, warmUp: 10_000 },
  tiny: { podsPerSet: 4, inFlight: [4, 20], pairs: 1, reviews: 200, warmUp: 20 },
};

/** Connections of the reviews beside. */
const reference = 20;

const group = 'group-0';
/** A ledger is read again when what is known of it is so old, in ms, however many ask: no denial rests on older ones. */
const readEvery = 10_000;

/** What was measured with so many in flight. */
interface Measured {
  readonly inFlight: number;
  readonly costs: readonly { readonly denial: number; readonly review: number }[];
  /** Answers that were none, or another one than a denial for an exhausted budget. */
  readonly errors: readonly string[];
  /** Of the operator, while it denied; and those of them that its watches and its Lease do not ask for. */
  readonly requests: readonly string[];
  readonly calls: number;
  /** While it denied, in ms. */
  readonly took: number;
}

/** Evictions that an exhausted budget denies, beside reviews of no-downscale by the same operator. */
export async function measureDenials(size: Size): Promise<Findings> {
  const load = loads[size];
  const { podsPerSet } = load;
  await using stage = await EvictionStage.open({
    groups: 1,
    zones: 3,
    podBytes: 0,
    podsPerSet,
    maxUnavailable: 1,
  });
  await stage.cluster.call('createBudgets', { groups: [group], maxUnavailable: 1 });
  await stage.cluster.call('spoil', { pod: `${group}-zone-b-0` });
  const posts = Array.from({ length: podsPerSet }, (_, ordinal) =>
    evictionReview(`${group}-zone-a-${ordinal}`),
  );
  await untilDenied(stage, posts[0]);
  const before = machineReading();
  const measured: Measured[] = [];
  for (const inFlight of load.inFlight) {
    measured.push(await measure(stage, { ...load, inFlight, posts }));
  }
  const machine = loadSince(before);
  return {
    bench: 'evictions: denials',
    setting: `evictions of zone a of 3 × ${podsPerSet} pods, of which one of zone b is not ready, maxUnavailable 1; reviews posted over TLS to an operator in a process of its own; ${machine}`,
    figures: measured.flatMap((each) => figuresOf(each, load, size)),
  };
}

/** Until the operator has seen that the budget is exhausted; what it would have stored before is not asked for. */
async function untilDenied(stage: EvictionStage, post: Buffer | undefined): Promise<void> {
  if (post === undefined) throw new Error('There is no pod to evict');
  const [connection] = await stage.connect(1);
  const dry = evictionReview(`${group}-zone-a-0`, true);
  for (let tries = 0; tries < 500; tries += 1) {
    const answer = await connection?.post(dry);
    if (answer !== undefined && isExhausted(replyOf(answer))) {
      connection?.close();
      return;
    }
    await sleep(20);
  }
  throw new Error('The operator does not deny evictions under an exhausted budget');
}

function isExhausted({ kind, code, reason }: ReturnType<typeof replyOf>): boolean {
  return kind === 'denied' && code === 429 && reason === 'BudgetExhausted';
}

interface Task extends Omit<Load, 'inFlight'> {
  readonly inFlight: number;
  readonly posts: readonly Buffer[];
}

async function measure(stage: EvictionStage, task: Task): Promise<Measured> {
  const { inFlight, pairs, reviews, warmUp } = task;
  const { server } = stage;
  const open: (PostConnection | undefined)[] = Array.from({ length: inFlight });
  const all = { open, server };
  const errors: string[] = [];
  const requests: string[] = [];
  const costs: { denial: number; review: number }[] = [];
  let [calls, took] = [0, 0];
  await deny(all, { posts: task.posts, count: warmUp }, errors);
  await besideOf(stage, warmUp);
  while (costs.length < pairs) {
    await stage.cluster.call('requests');
    const start = performance.now();
    const denial = await cpuOf(stage, () =>
      deny(all, { posts: task.posts, count: reviews }, errors),
    );
    took += performance.now() - start;
    const asked = await stage.cluster.call('requests');
    requests.push(describeRequests(asked));
    calls += Object.entries(asked)
      .filter(([key]) => !/^watch | leases/.test(key))
      .reduce((sum, [, count]) => sum + count, 0);
    costs.push({
      denial: (denial / reviews) * 1e6,
      review: ((await besideOf(stage, reviews)) / reviews) * 1e6,
    });
  }
  for (const each of open) each?.close();
  return { inFlight, costs, errors, requests, calls, took };
}

/** Posts `count` reviews of no-downscale. @returns seconds of CPU of the operator meanwhile */
async function besideOf(stage: EvictionStage, count: number): Promise<number> {
  // Each time over new ones: those that ask nothing for long give way to others.
  const open = await stage.connect(reference);
  const seconds = await cpuOf(stage, () => flood(open, count, reviewOfSet().review));
  for (const each of open) each.close();
  return seconds;
}

/** @returns seconds of CPU of the operator during `work` */
async function cpuOf({ operator }: EvictionStage, work: () => Promise<void>): Promise<number> {
  const before = operator.usage().cpuSeconds;
  await work();
  return operator.usage().cpuSeconds - before;
}

/** Connections that may have been ended as idle meanwhile. */
interface Connections {
  readonly open: (PostConnection | undefined)[];
  readonly server: ReviewServer;
}

/** Returns connection `index`, opened again where the server has ended it: one that did nothing is no error. */
async function usable({ open, server }: Connections, index: number): Promise<PostConnection> {
  const known = open[index];
  if (known?.isOpen === true) return known;
  const renewed = await PostConnection.overTls(server);
  open[index] = renewed;
  return renewed;
}

/** Posts `count` of `posts` in turns, as fast as they are answered; tells `errors` of what is no denial. */
async function deny(
  { open, server }: Connections,
  { posts, count }: { readonly posts: readonly Buffer[]; readonly count: number },
  errors: string[],
): Promise<void> {
  let left = count;
  await Promise.all(
    [...open.keys()].map(async (index) => {
      while (left > 0) {
        left -= 1;

        const post = posts[left % posts.length];
        if (post === undefined) return;
        const answer = await usable({ open, server }, index)
          .then((connection) => connection.post(post))
          .catch((error: unknown) => ({ status: 0, body: errorOf(error).message }));
        const reply = replyOf(answer);
        if (!isExhausted(reply)) errors.push(`${reply.code} ${reply.reason} ${reply.message}`);
      }
    }),
  );
}

function figuresOf(measured: Measured, { reviews }: Load, size: Size): readonly Figure[] {
  const { inFlight, costs, errors, requests, calls, took } = measured;
  const of = `${inFlight} in flight`;
  const all = costs.length * reviews;
  const [first] = errors;
  const expected = costs.length + Math.floor(took / readEvery);
  const ratios = costs.map(({ denial, review }) => denial / review);
  const each = costs.map(({ denial, review }) => `${denial.toFixed(0)} ÷ ${review.toFixed(0)} µs`);
  return [
    bounded(
      'answers other than allowed and 429',
      {
        of,
        value: errors.length,
        how: `of ${all} evictions, each to be denied with 429 for the exhausted budget${first === undefined ? '' : `; first: ${first}`}`,
      },
      size,
    ),
    bounded(
      'API calls for denials',
      {
        of,
        value: Math.max(0, calls - expected),
        how: `${calls} calls besides watches and the Lease for ${all} denials in ${(took / 1_000).toFixed(1)} s, counted at the server; beyond a read of the ledger each ${readEvery / 1_000} s, at most ${expected}, which all denials share; by turn: ${requests.join('; ')}`,
      },
      size,
    ),
    bounded(
      'CPU a denial ÷ no-downscale review',
      {
        of,
        value: percentile(ratios, 0.5),
        how: `/proc of the operator, the median of ${costs.length} turns of ${reviews} each, beside reviews of sets of ${reviewOfSet().bytes} bytes that ask nothing: ${each.join(', ')}`,
      },
      size,
    ),
  ];
}
