import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '#base/json.ts';
import { reviewDocument } from '#testing/admission-requests.ts';
import type { Bench } from './bench.ts';
import { bounded, type Findings, percentile, type Size, told } from './figures.ts';
import { shippedNodeFlags } from './node-flags.ts';
import { PostConnection, type ReviewServer, reviewBytes } from './post-connection.ts';
import { loadSince, machineReading, usageOf } from './process-usage.ts';

const objectBytes = 8_000;
/** Connections that the API server of a busy cluster keeps. */
const connections = 32;
const stormConnections = 200;
const target = '/admission/no-downscale?timeout=10s';
const program = 'admission-process.ts';

/** What is posted, and what must be answered. */
interface Review {
  readonly post: Buffer;
  readonly want: string;
}

interface Load {
  /** Reviews to a server that does not look at them. */
  readonly bare: number;
  /** Reviews before anything is measured. */
  readonly warmUp: number;
  /** Reviews as fast as they are answered. */
  readonly flood: number;
  /** Reviews at a fixed rate, and that rate a second. */
  readonly paced: number;
  readonly rate: number;
}

const loads: Readonly<Record<Size, Load>> = {
  full: { bare: 30_000, warmUp: 20_000, flood: 100_000, paced: 10_000, rate: 1_000 },
  tiny: { bare: 50, warmUp: 50, flood: 200, paced: 50, rate: 500 },
};

/** How fast the webhook server answers. */
export const admission: Bench = {
  about: 'webhook server over TLS: no-downscale reviews a second, and how late they are',
  run: async (size) => [await measure(size)],
};

async function measure(size: Size): Promise<Findings> {
  const load = loads[size];
  // What is shipped keeps its compiled sources (scripts/with-node.sh): this start leaves them for the next.
  await stop((await startServer(program)).child);
  const { child, server } = await startServer(program);
  const pid = child.pid ?? 0;
  const { body, want } = reviewOfSet();
  const review = { post: reviewBytes(target, body), want };
  const before = machineReading();
  const open = await connect(server);
  await flood(open, load.warmUp, review);
  const cpuBefore = usageOf(pid).cpuSeconds;
  const took = await flood(open, load.flood, review);
  const cpu = usageOf(pid).cpuSeconds - cpuBefore;
  const late = await paced(open, load, review);
  const { rss } = usageOf(pid);
  for (const each of open) each.close();
  const storm = await handshakes(server, review);
  const machine = loadSince(before);
  await stop(child);
  const bare = await bareRate(load.bare, review);
  return {
    bench: 'admission',
    setting: `reviews of ${body.length} bytes over ${connections} connections with TLS, log level debug; compile cache on; client and server in separate processes; ${machine}`,
    figures: [
      bounded(
        'no-downscale reviews',
        {
          value: load.flood / took,
          how: `${load.flood} reviews in ${took.toFixed(2)} s; the server used ${cpu.toFixed(2)} s of CPU`,
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
        {
          value: rss,
          how: `VmRSS of /proc after ${load.warmUp + load.flood + load.paced} reviews`,
        },
        size,
      ),
      told('CPU a review', {
        value: (cpu / load.flood) * 1e6,
        unit: 'µs',
        how: 'CPU of the server while flooded',
      }),
      told('the same reviews without a look at them', {
        value: bare,
        unit: '/s',
        how: 'what TLS and HTTP of Node in as many threads give just then: how fast the machine is at this minute',
      }),
    ],
  };
}

/** Floods a server that only reads and answers. @returns reviews a second */
async function bareRate(count: number, review: Review): Promise<number> {
  const { child, server } = await startServer('bare-review-server.ts', review.want);
  const open = await connect(server);
  await flood(open, Math.ceil(count / 3), review);
  const took = await flood(open, count, review);
  for (const each of open) each.close();
  await stop(child);
  return count / took;
}

function connect(server: ReviewServer): Promise<readonly PostConnection[]> {
  return Promise.all(Array.from({ length: connections }, () => PostConnection.overTls(server)));
}

async function startServer(
  file: string,
  ...args: readonly string[]
): Promise<{
  readonly child: ChildProcess;
  readonly server: ReviewServer;
}> {
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

/** @returns seconds */
async function flood(
  open: readonly PostConnection[],
  count: number,
  { post, want }: Review,
): Promise<number> {
  let left = count;
  const start = performance.now();
  await Promise.all(
    open.map(async (connection) => {
      for (; left > 0; left -= 1) {
        const { body } = await connection.post(post);
        if (body !== want) throw new Error(`The webhook answered ${body}`);
      }
    }),
  );
  return (performance.now() - start) / 1_000;
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
