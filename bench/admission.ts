import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '#base/json.ts';
import { reviewDocument } from '#testing/admission-requests.ts';
import type { Bench } from './bench.ts';
import { bounded, type Findings, percentile, type Size } from './figures.ts';
import { measureHostile } from './hostile-reviews.ts';
import { shippedNodeFlags } from './node-flags.ts';
import { PostConnection, type ReviewServer, reviewBytes } from './post-connection.ts';
import { loadSince, machineReading, usageOf } from './process-usage.ts';

const objectBytes = 8_000;
/** Reviews in flight, each over a connection of its own. */
const connections = 50;
const stormConnections = 200;
const target = '/admission/no-downscale?timeout=10s';
const program = 'admission-process.ts';

/** What is posted, and what must be answered. */
interface Review {
  readonly post: Buffer;
  readonly want: string;
}

interface Load {
  /** Times that both servers are measured, in turns. */
  readonly pairs: number;
  /** Reviews before anything is measured. */
  readonly warmUp: number;
  /** Reviews as fast as they are answered. */
  readonly flood: number;
  /** Reviews at a fixed rate, and that rate a second. */
  readonly paced: number;
  readonly rate: number;
}

const loads: Readonly<Record<Size, Load>> = {
  full: { pairs: 3, warmUp: 10_000, flood: 40_000, paced: 10_000, rate: 1_000 },
  tiny: { pairs: 1, warmUp: 50, flood: 200, paced: 50, rate: 500 },
};

/** What the webhook server costs, and what a stranger can make it cost. */
export const admission: Bench = {
  about: 'webhook server over TLS: CPU a review beside a bare server, delays, and hostile reviews',
  run: async (size) => [await measure(size), await measureHostile(size)],
};

async function measure(size: Size): Promise<Findings> {
  const load = loads[size];
  const { body, want } = reviewOfSet();
  const review = { post: reviewBytes(target, body), want };
  // What is shipped keeps its compiled sources (scripts/with-node.sh): this start leaves them for the next.
  await stop((await startServer(program)).child);
  const own = await startServer(program);
  const bare = await startServer('bare-review-server.ts', want);
  const before = machineReading();
  const costs: { readonly own: number; readonly bare: number }[] = [];
  while (costs.length < load.pairs) {
    costs.push({ own: await costOf(own, load, review), bare: await costOf(bare, load, review) });
  }
  const open = await connect(own.server);
  const late = await paced(open, load, review);
  const { rss } = usageOf(own.child.pid ?? 0);
  for (const each of open) each.close();
  const storm = await handshakes(own.server, review);
  const machine = loadSince(before);
  await Promise.all([own, bare].map(({ child }) => stop(child)));
  const ratio = percentile(
    costs.map((each) => each.own / each.bare),
    0.5,
  );
  const pairs = costs.map((each) => `${each.own.toFixed(0)} ÷ ${each.bare.toFixed(0)} µs`);
  return {
    bench: 'admission',
    setting: `reviews of ${body.length} bytes, ${connections} in flight with TLS, log level debug; compile cache on; client and server in separate processes; ${machine}`,
    figures: [
      bounded(
        'CPU a review ÷ bare HTTPS',
        {
          value: ratio,
          how: `the median of ${costs.length} turns of ${load.flood} reviews, against a server of Node that reads the same bodies and answers the same bytes: ${pairs.join(', ')}`,
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
  const open = await connect(server);
  await flood(open, warmUp, review);
  const before = usageOf(child.pid ?? 0).cpuSeconds;
  await flood(open, count, review);
  const used = usageOf(child.pid ?? 0).cpuSeconds - before;
  for (const each of open) each.close();
  return (used / count) * 1e6;
}

function connect(server: ReviewServer): Promise<readonly PostConnection[]> {
  return Promise.all(Array.from({ length: connections }, () => PostConnection.overTls(server)));
}

interface StartedServer {
  readonly child: ChildProcess;
  readonly server: ReviewServer;
}

async function startServer(file: string, ...args: readonly string[]): Promise<StartedServer> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [...shippedNodeFlags(), path, ...args], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const lines = createInterface({ input: child.stdout });
  const [line] = (await once(lines, 'line')) as [string];
  return { child, server: JSON.parse(line) as ReviewServer };
}

async function stop(child: ChildProcess): Promise<void> {
  child.stdin?.end();
  await once(child, 'exit');
}

/** A review that changes a set of 8 KB, and its answer. */
function reviewOfSet(): { readonly body: string; readonly want: string } {
  const set = (replicas: number, image: string): JsonObject => {
    const plain = (padding: string): JsonObject => ({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: {
        name: 'ingester-zone-a',
        namespace: 'bench',
        labels: { 'grafana.com/no-downscale': 'true', 'rollout-group': 'ingester' },
      },
      spec: {
        replicas,
        template: {
          spec: {
            containers: Array.from({ length: 20 }, (_, index) => ({
              name: `container-${index}`,
              image,
              args: [`-option-${index}=${padding}`, '-target=ingester'],
              ports: [{ containerPort: 8080 + index, name: 'http', protocol: 'TCP' }],
            })),
          },
        },
      },
    });
    const bare = JSON.stringify(plain('')).length;
    return plain('x'.repeat(Math.max(0, Math.floor((objectBytes - bare) / 20))));
  };
  const uid = '705ab4f5-6393-11e8-b7cc-42010a800002';
  const document = reviewDocument({
    uid,
    namespace: 'bench',
    userInfo: { username: 'admin', groups: ['system:masters'] },
    object: set(3, 'store:2'),
    oldObject: set(3, 'store:1'),
    options: { kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1' },
  });
  const body = JSON.stringify(document);
  const want = `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"${uid}","allowed":true}}`;
  return { body, want };
}

async function flood(
  open: readonly PostConnection[],
  count: number,
  { post, want }: Review,
): Promise<void> {
  let left = count;
  await Promise.all(
    open.map(async (connection) => {
      for (; left > 0; left -= 1) {
        const { body } = await connection.post(post);
        if (body !== want) throw new Error(`The webhook answered ${body}`);
      }
    }),
  );
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
      const connection = free.pop();
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
