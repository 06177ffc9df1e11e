import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { bounded, type Findings, percentile, type Size } from '../figures.ts';
import { loadSince, machineReading, usageOf } from '../operator/process-usage.ts';
import { measureHostile } from './hostile-reviews.ts';
import { PostConnection, type ReviewServer } from './post-connection.ts';
import { connectTo, type StartedServer, startServer, stop } from './review-servers.ts';
import { flood, type Review, reviewOfSet } from './set-review.ts';

/** Reviews in flight, each over a connection of its own. */
const connections = 50;
const stormConnections = 200;
const program = 'admission-process.ts';

interface Load {
  /** Times that each server is measured, in turns. */
  readonly turns: number;
  /** Reviews of a turn before it is measured. */
  readonly warmUp: number;
  /** Reviews of a turn, as fast as they are answered. */
  readonly flood: number;
  /** Reviews at a fixed rate, and that rate a second. */
  readonly paced: number;
  readonly rate: number;
}

const loads: Readonly<Record<Size, Load>> = {
  full: { turns: 8, warmUp: 2_000, flood: 20_000, paced: 10_000, rate: 1_000 },
  tiny: { turns: 1, warmUp: 50, flood: 200, paced: 50, rate: 500 },
};

/** What the webhook server costs, and what a stranger can make it cost. */
export const admission: Bench = {
  about: 'webhook server over TLS: CPU a review beside a bare server, delays, and hostile reviews',
  run: async (size) => [await measure(size), await measureHostile(size)],
};

async function measure(size: Size): Promise<Findings> {
  const load = loads[size];
  const { review, bytes } = reviewOfSet();
  const { want } = review;
  // What is shipped keeps its compiled sources (scripts/with-node.sh): this start leaves them for the next.
  await stop((await startServer(program)).child);
  const own = await startServer(program);
  const bare = await startServer('bare-review-server.ts', want);
  const before = machineReading();
  const costs: { readonly own: number; readonly bare: number }[] = [];
  while (costs.length < load.turns) {
    costs.push({ own: await costOf(own, load, review), bare: await costOf(bare, load, review) });
  }
  const open = await connectTo(own.server, connections);
  const late = await paced(open, load, review);
  const { rss } = usageOf(own.child.pid ?? 0);
  for (const each of open) each.close();
  const storm = await handshakes(own.server, review);
  const machine = loadSince(before);
  await Promise.all([own, bare].map(({ child }) => stop(child)));
  // What else runs on the machine adds about as much to either, so that a median of ratios is the lower the busier it is.
  const least = {
    own: Math.min(...costs.map((each) => each.own)),
    bare: Math.min(...costs.map((each) => each.bare)),
  };
  const turns = costs.map((each) => `${each.own.toFixed(0)} ÷ ${each.bare.toFixed(0)}`);
  return {
    bench: 'admission',
    setting: `reviews of ${bytes} bytes, ${connections} in flight with TLS, log level debug; compile cache on; client and server in separate processes; ${machine}`,
    figures: [
      bounded(
        'CPU a review ÷ bare HTTPS',
        {
          value: least.own / least.bare,
          how: `the least of ${costs.length} turns of ${load.flood} reviews each, against a server of Node that reads the same bodies and answers the same bytes: ${turns.join(', ')} µs`,
        },
        size,
      ),
      bounded(
        'review at 1,000/s, p99',
        {
          value: percentile(late, 0.99),
          how: `from its due time to the answer, ${late.length} reviews; median ${percentile(late, 0.5).toFixed(1)} ms`,
        },
        size,
      ),
      bounded(
        'TLS handshakes of 200 connections',
        { value: storm, how: 'all opened at once, until each has an answer' },
        size,
      ),
      bounded(
        'RSS of the webhook server',
        { value: rss, how: 'VmRSS of /proc after all these reviews' },
        size,
      ),
    ],
  };
}

/** Floods a server. @returns its CPU a review, in µs */
async function costOf(
  { child, server }: StartedServer,
  { warmUp, flood: count }: Load,
  review: Review,
): Promise<number> {
  const open = await connectTo(server, connections);
  await flood(open, warmUp, review);
  const before = usageOf(child.pid ?? 0).cpuSeconds;
  await flood(open, count, review);
  const used = usageOf(child.pid ?? 0).cpuSeconds - before;
  for (const each of open) each.close();
  return (used / count) * 1e6;
}

/** Posts at a fixed rate, whatever is answered. @returns how late each answer is, in milliseconds */
async function paced(
  open: readonly PostConnection[],
  { paced: count, rate }: Load,
  { post }: Review,
): Promise<readonly number[]> {
  const free = [...open];
  const late: number[] = [];
  const start = performance.now();
  let sent = 0;
  while (late.length < count) {
    const due = Math.min(count, Math.floor(((performance.now() - start) / 1_000) * rate));
    for (; sent < due && free.length > 0; sent += 1) {
      // The one that rested longest: the server ends those on which nothing comes for 10 s.
      const connection = free.shift();
      const dueAt = start + (sent / rate) * 1_000;
      void connection?.post(post).then(() => {
        late.push(performance.now() - dueAt);
        free.push(connection);
      });
    }
    await sleep(1);
  }
  return late;
}

/** @returns seconds */
async function handshakes(server: ReviewServer, { post }: Review): Promise<number> {
  const start = performance.now();
  await Promise.all(
    Array.from({ length: stormConnections }, async () => {
      const connection = await PostConnection.overTls(server);
      await connection.post(post);
      connection.close();
    }),
  );
  return (performance.now() - start) / 1_000;
}
