import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '#support/free-ports.ts';
import type { Access } from '../cluster/cluster-commands.ts';
import { namespace } from '../cluster/workload.ts';
import { shippedNodeFlags } from './node-flags.ts';
import { type Usage, usageOf } from './process-usage.ts';

/**
 * How the operator learns where the cluster is: from a kubeconfig, which loads the official client's library, or
 * as in a pod, which does not.
 */
export type Way = 'in-cluster' | 'kubeconfig';

/** A name under which the program is started that has flags and probes of its own. */
export type Door = 'phased-rollout' | 'statefulset-rollout' | 'zone-aware-controllers';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const programs: Readonly<Record<Way | Door, string>> = {
  kubeconfig: main,
  'in-cluster': fileURLToPath(new URL('in-cluster-operator.ts', import.meta.url)),
  'phased-rollout': main,
  'statefulset-rollout': main,
  'zone-aware-controllers': main,
};
/** Where it tells that it is ready. */
const readyPaths: Readonly<Record<Way | Door, string>> = {
  kubeconfig: '/ready',
  'in-cluster': '/ready',
  'phased-rollout': '/readyz',
  'statefulset-rollout': '/readyz',
  'zone-aware-controllers': '/readyz',
};

/** How often `/ready` is asked, and how long at most. */
const every = 20;
const patience = 60_000;

/** The last lines that are shown when the operator ends by itself. */
const keptLines = 20;

/** How often requests of one kind were sent. */
const sent =
  /^rollout_operator_kubernetes_api_client_request_duration_seconds_count\{.*\} (?<count>\d+)/u;

/** A group that was looked at. */
const seen = /^rollout_operator_last_successful_group_reconcile_timestamp_seconds\{.*\} [1-9]/u;

/** What differs from the usual start. */
interface StartOptions {
  /** Variables that lead calls of pods elsewhere. */
  readonly proxy?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** A program that was bundled before, in place of the sources. */
  readonly program?: string;
  readonly flags?: readonly string[];
}

interface Place {
  readonly folder: string;
  readonly port: number;
  /** The last of what it has written to standard error; grows while it runs. */
  readonly lines: readonly string[];
}

/** The operator program in a process of its own. */
export class Operator {
  /** From the start of the process to the first 200 of `/ready`, in ms. */
  readonly readyAfter: number;
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #port: number;
  readonly #lines: readonly string[];

  private constructor(child: ChildProcess, place: Place, readyAfter: number) {
    this.#child = child;
    this.#folder = place.folder;
    this.#port = place.port;
    this.#lines = place.lines;
    this.readyAfter = readyAfter;
  }

  /** Starts the operator and waits until it is ready. */
  static async start(
    access: Access,
    way: keyof typeof programs = 'in-cluster',
    { proxy = {}, env = {}, flags: more = [], program = programs[way] }: StartOptions = {},
  ): Promise<Operator> {
    const port = await freePort();
    const folder = mkdtempSync(join(tmpdir(), 'bench-operator-'));
    const file = join(folder, 'kubeconfig');
    writeFileSync(file, access.kubeconfig, { mode: 0o600 });
    const flags = [...flagsOf(way, { port, file }), ...more];
    const start = performance.now();
    const child = spawn(
      process.execPath,
      [...shippedNodeFlags(), ...nodeOptions(), program, ...flags],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
        env: {
          ...process.env,
          ...proxy,
          ...env,
          BENCH_API_URL: access.url,
          BENCH_API_TOKEN: access.token,
        },
      },
    );
    const lines = tailOf(child);
    try {
      await untilReady({ port, path: readyPaths[way] }, child);
    } catch (cause) {
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true });
      throw new Error(`Cannot start the operator:\n${lines.join('\n')}`, { cause });
    }
    return new Operator(child, { folder, port, lines }, performance.now() - start);
  }

  /** Waits until it has looked at so many groups: what its start still writes is no part of a rollout. */
  async hasLookedAt(groups: number): Promise<void> {
    const deadline = performance.now() + patience;
    while ((await this.#groupsSeen()) < groups) {
      if (performance.now() > deadline) {
        throw new Error(`The operator has not looked at ${groups} groups after ${patience} ms`);
      }
      await sleep(every);
    }
  }

  /** How many requests it has sent, also those that the cluster does not serve, by its own metric. */
  async requestsSent(): Promise<number> {
    const counts = (await this.#metrics()).map((line) => sent.exec(line)?.groups?.['count']);
    return counts.reduce((sum, count) => sum + Number(count ?? 0), 0);
  }

  async #groupsSeen(): Promise<number> {
    return (await this.#metrics()).filter((line) => seen.test(line)).length;
  }

  async #metrics(): Promise<readonly string[]> {
    const answer = await fetch(`http://127.0.0.1:${this.#port}/metrics`);
    return (await answer.text()).split('\n');
  }

  /** What the process has used. */
  usage(): Usage {
    return usageOf(this.#child.pid ?? 0);
  }

  /** Whether the process has ended, by itself or as it was told. */
  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Whether it ended by itself as a process must that can no longer renew its Lease. */
  get hasLostItsLease(): boolean {
    return (
      this.#child.exitCode === 1 && (this.#lines.at(-1) ?? '').startsWith('The Lease was lost')
    );
  }

  /** Ends the process as Kubernetes does. @throws when its exit code is not 0 */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.hasEnded) {
      const gone = once(this.#child, 'exit');
      this.#child.kill('SIGTERM');
      await gone;
    }
    rmSync(this.#folder, { recursive: true, force: true });
    if (this.#child.exitCode !== 0 && !this.hasLostItsLease) {
      const ending = this.#child.exitCode ?? this.#child.signalCode ?? 'nothing';
      throw new Error(`The operator ended with ${ending}:\n${this.#lines.join('\n')}`);
    }
  }
}

function tailOf(child: ChildProcess): string[] {
  const lines: string[] = [];
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    lines.push(...text.trimEnd().split('\n'));
    lines.splice(0, lines.length - keptLines);
  });
  return lines;
}

function flagsOf(
  way: keyof typeof programs,
  { port, file }: { readonly port: number; readonly file: string },
): readonly string[] {
  if (way !== 'in-cluster' && way !== 'kubeconfig') {
    // The peers of one of them serve metrics at a fixed port otherwise.
    const probes = `--health-probe-bind-address=127.0.0.1:${port}`;
    return [way, `--kubeconfig=${file}`, probes, '--metrics-bind-address=0'];
  }
  const flags = [`-kubernetes.namespace=${namespace}`, `-server.port=${port}`];
  return way === 'kubeconfig' ? [...flags, `-kubernetes.config-file=${file}`] : flags;
}

/** Where a process is asked whether it is ready. */
interface Probe {
  readonly port: number;
  readonly path: string;
}

async function untilReady(probe: Probe, child: ChildProcess): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const deadline = performance.now() + patience;
  try {
    while (!(await isReady(probe, agent))) {
      if (child.exitCode !== null) throw new Error('it ended before it was ready');
      if (performance.now() > deadline) throw new Error(`it was not ready after ${patience} ms`);
      await sleep(every);
    }
  } finally {
    agent.destroy();
  }
}

function isReady({ port, path }: Probe, agent: Agent): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, path, agent }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode === 200));
    });
    // It does not listen yet.
    request.on('error', () => resolve(false));
  });
}

/** Options of Node for the operator, for profiles: `BENCH_OPERATOR_OPTIONS=--cpu-prof npm run do bench …`. */
function nodeOptions(): readonly string[] {
  return (process.env['BENCH_OPERATOR_OPTIONS'] ?? '').split(' ').filter((text) => text !== '');
}
