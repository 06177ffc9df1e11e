import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** What answers the queries of the demo. */
export interface DemoPrometheus {
  readonly url: string;
  /** Says whether it is a real one. */
  readonly says: string;
  close(): Promise<void>;
}

/** A metric that the pods of the demo are said to serve. */
export interface DemoMetric {
  readonly name: string;
  value: number;
}

/** Starts the Prometheus that is installed, which scrapes `metric`; where none is, a stand-in that says so. */
export async function startDemoPrometheus(metric: DemoMetric): Promise<DemoPrometheus> {
  const exporter = await listening((request) =>
    request === '/metrics' ? `${metric.name} ${metric.value}\n` : undefined,
  );
  const program = await installed();
  if (program !== undefined) return realPrometheus(program, exporter);
  await closed(exporter);
  const server = await listening(() => standInAnswer(metric));
  return {
    url: urlOf(server),
    says: 'no Prometheus is installed: a stand-in answers, which knows one metric and takes every query for "less than 5"',
    close: () => closed(server),
  };
}

/** Returns the first line that it says of itself; undefined where there is none. */
async function installed(): Promise<string | undefined> {
  const child = spawn('prometheus', ['--version'], { stdio: ['ignore', 'pipe', 'pipe'] });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => said.push(chunk.toString()));
  }
  const isThere = await once(child, 'close').then(
    () => true,
    () => false,
  );
  const [version] = said.join('').split('\n');
  return isThere ? (version ?? 'prometheus').replace(/ \(.*/, '') : undefined;
}

async function realPrometheus(version: string, exporter: Server): Promise<DemoPrometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'demo-prometheus-'));
  const target = new URL(urlOf(exporter)).host;
  const job = `{job_name: demo, scrape_interval: 1s, static_configs: [{targets: ["${target}"]}]}`;
  await writeFile(join(folder, 'prometheus.yml'), `scrape_configs: [${job}]\n`);
  const free = await listening(() => undefined);
  const url = urlOf(free);
  await closed(free);
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${new URL(url).host}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const close = async (): Promise<void> => {
    await Promise.all([ended(child), closed(exporter)]);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await untilReady(child);
  } catch (error) {
    await close();
    throw error;
  }
  return { url, says: `${version} scrapes the pods each second`, close };
}

/** Waits until it answers. @throws {Error} when it ends before it answers */
async function untilReady(child: ChildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const lines: string[] = [];
  if (child.stderr !== null) {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line);
      if (line.includes('Server is ready to receive web requests')) resolve();
    });
  }
  child.once('exit', () => {
    reject(new Error(`Prometheus ended before it was ready: ${lines.slice(-3).join('; ')}`));
  });
  await promise;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

function standInAnswer({ name, value }: DemoMetric): string {
  const sample = { metric: { __name__: name }, value: [0, String(value)] };
  const result = value < 5 ? [sample] : [];
  return JSON.stringify({ status: 'success', data: { resultType: 'vector', result } });
}

async function listening(answer: (path: string) => string | undefined): Promise<Server> {
  const server = createServer((request, response) => {
    const body = answer(request.url ?? '');
    response.writeHead(body === undefined ? 404 : 200);
    response.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function urlOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('It listens at no port');
  return `http://127.0.0.1:${address.port}`;
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
}
