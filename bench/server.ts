import { Agent, request } from 'undici';
import { PostConnection, postBytes } from './admission/post-connection.ts';
import type { Bench } from './bench.ts';
import { Cluster } from './cluster/cluster.ts';
import type { Access } from './cluster/cluster-commands.ts';
import { barePod, namespace } from './cluster/workload.ts';
import { bounded, type Findings, percentile, type Size, told } from './figures.ts';
import { loadSince, machineReading, usageOf } from './operator/process-usage.ts';

const podBytes = 2_000;
/** Requests under way at once. */
const inFlight = 64;
const lists = 5;

const podsPath = `/api/v1/namespaces/${namespace}/pods`;

const podsOf: Readonly<Record<Size, number>> = { full: 10_000, tiny: 50 };

/** How fast the embedded cluster is, over HTTP. */
export const server: Bench = {
  about: 'embedded cluster over HTTP: POSTs of pods a second, list of 10,000 pods of 2 KB',
  run: async (size) => [await measure(size)],
};

async function measure(size: Size): Promise<Findings> {
  const count = podsOf[size];
  await using cluster = new Cluster();
  const access = await cluster.call('open', { isJudged: false });
  const before = machineReading();
  const cpuBefore = usageOf(cluster.pid).cpuSeconds;
  const posting = await postAll(access, count);
  const cpu = usageOf(cluster.pid).cpuSeconds - cpuBefore;
  const agent = new Agent();
  const listing: number[] = [];
  let bytes = 0;
  while (listing.length < lists) {
    const start = performance.now();
    bytes = await listAll(access, agent);
    listing.push(performance.now() - start);
  }
  const load = loadSince(before);
  const { rss } = usageOf(cluster.pid);
  await agent.close();
  return {
    bench: 'server',
    setting: `${count} pods of ${Math.round(bytes / count)} bytes; client and cluster in separate processes over HTTP; ${load}`,
    figures: [
      bounded(
        'pods created over HTTP',
        {
          value: count / posting,
          how: `${count} POSTs, ${inFlight} in flight, in ${posting.toFixed(2)} s; the cluster used ${cpu.toFixed(2)} s of CPU`,
        },
        size,
      ),
      bounded(
        'list of all pods over HTTP',
        {
          value: percentile(listing, 0.5),
          how: `request to last byte, median of ${lists}: ${listing.map((each) => each.toFixed(0)).join(', ')} ms; ${(bytes / 1e6).toFixed(1)} MB`,
        },
        size,
      ),
      told('RSS of the cluster', { value: rss, unit: 'MB', how: 'VmRSS of /proc at the end' }),
    ],
  };
}

/** @returns seconds */
async function postAll(access: Access, count: number): Promise<number> {
  const posts = Array.from({ length: count }, (_, index) => {
    const body = JSON.stringify(barePod(`pod-${index}`, podBytes));
    return postBytes(podsPath, body, authorization(access));
  });
  const open = await Promise.all(
    Array.from({ length: inFlight }, () => PostConnection.plain(Number(new URL(access.url).port))),
  );
  const start = performance.now();
  await Promise.all(
    open.map(async (connection) => {
      for (let post = posts.pop(); post !== undefined; post = posts.pop()) {
        const { status, body } = await connection.post(post);
        if (status !== 201) throw new Error(`POST was answered ${status}: ${body}`);
      }
    }),
  );
  const took = (performance.now() - start) / 1_000;
  for (const connection of open) connection.close();
  return took;
}

/** @returns the bytes of the answer */
async function listAll(access: Access, agent: Agent): Promise<number> {
  const headers = authorization(access);
  const { statusCode, body } = await request(`${access.url}${podsPath}`, {
    headers,
    dispatcher: agent,
  });
  if (statusCode !== 200) throw new Error(`The list was answered ${statusCode}`);
  return (await body.bytes()).length;
}

function authorization({ token }: Access): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${token}`, accept: 'application/json' };
}
