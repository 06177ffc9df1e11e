import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selfSigned } from '#cluster/transport/self-signed.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { PodView } from '#statefulset/view.ts';
import { freePort } from '#support/free-ports.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import type { PostConnection } from '../admission/post-connection.ts';
import { connectTo } from '../admission/review-servers.ts';
import type { Bench } from '../bench.ts';
import { Cluster } from '../cluster/cluster.ts';
import type { Requests } from '../cluster/cluster-commands.ts';
import { namespace } from '../cluster/workload.ts';
import { evictionReview, replyOf } from '../evictions/eviction-requests.ts';
import { bounded, type Figure, type Findings, type Size, told } from '../figures.ts';
import { Operator } from '../operator/operator.ts';
import { loadSince, machineReading } from '../operator/process-usage.ts';
import { adminOf } from '../phased-rollout/phased-sets.ts';
import { LedgerWatch } from './zone-ledger-watch.ts';
import { createBudget, openSet } from './zone-set.ts';
import type { ZoneWatch } from './zone-watch.ts';

interface Setting {
  readonly podsPerZone: number;
  readonly maxUnavailable: number;
  /** From DELETE to Ready of the replacement, in ms. */
  readonly restart: number;
  readonly inFlight: number;
  /** In ms. */
  readonly span: number;
}

const settings: Readonly<Record<Size, Setting>> = {
  full: { podsPerZone: 60, maxUnavailable: 10, restart: 800, inFlight: 50, span: 30_000 },
  tiny: { podsPerZone: 4, maxUnavailable: 2, restart: 110, inFlight: 6, span: 1_000 },
};

/** Evictions over all zones at once, under a ZoneDisruptionBudget. */
export const zoneEvictions: Bench = {
  about: 'fifty evictions in flight over three zones, under a ZoneDisruptionBudget',
  run: async (size) => [await measure(size)],
};

interface Seen {
  readonly replies: Map<string, number>;
  readonly errors: string[];
  readonly watch: ZoneWatch;
  readonly writes: Requests;
  readonly ledger: LedgerWatch;
  grants: number;
}

async function measure(size: Size): Promise<Findings> {
  const setting = settings[size];
  const { podsPerZone, maxUnavailable, restart, inFlight, span } = setting;
  await using cluster = new Cluster();
  const access = await cluster.call('open', { isJudged: false });
  await cluster.call('pace', { milliseconds: restart, jitter: 0.1 });
  const client = await adminOf(access);
  await using watch = await openSet(client, podsPerZone);
  await using certificate = await Certificate.make();
  const port = await freePort();
  await using operator = await Operator.start(access, 'zone-aware-controllers', {
    env: { TMPDIR: certificate.folder },
    flags: ['--rollout.predecessor-horizon=1ms', `--server-tls.port=${port}`],
  });
  await createBudget(client, maxUnavailable);
  await using ledger = await LedgerWatch.start(client);
  await ledger.until(() => ledger.hasAny);
  const connections = await connectTo({ port, ca: certificate.pem }, inFlight);
  const machine = machineReading();
  const cpuBefore = operator.usage().cpuSeconds;
  watch.begin();
  await cluster.call('requests');
  const evicting = new Evicting(client, watch);
  await evicting.run(connections, span);
  const cpu = operator.usage().cpuSeconds - cpuBefore;
  const load = loadSince(machine);
  for (const each of connections) each.close();
  await watch.until('all pods are ready', () => watch.isWhole());
  await ledger.until(() => ledger.isEmpty);
  const writes = await cluster.call('requests');
  const seen = { ...evicting.found, watch, writes, ledger };
  return {
    bench: 'zone-evictions',
    setting: `${inFlight} evictions in flight for ${span / 1_000} s over 3 zones × ${podsPerZone} pods that may lose ${maxUnavailable} of one zone; what is allowed is deleted at once, restarts of ${restart} ms; CPU of the operator ${((100_000 * cpu) / span).toFixed(0)} % of a core; ${load}`,
    figures: figuresOf(seen, setting, size),
  };
}

/** Asks for pods in turns, and deletes those that may go. */
class Evicting {
  readonly found = { replies: new Map<string, number>(), errors: [] as string[], grants: 0 };
  readonly #client: Client;
  readonly #watch: ZoneWatch;
  /** uids of pods that are asked for, or were let go. */
  readonly #taken = new Set<string>();
  #next = 0;

  constructor(client: Client, watch: ZoneWatch) {
    this.#client = client;
    this.#watch = watch;
  }

  /** On every connection one after the other. @param span in ms */
  async run(connections: readonly PostConnection[], span: number): Promise<void> {
    const end = performance.now() + span;
    await Promise.all(
      connections.map(async (connection) => {
        while (performance.now() < end) await this.#ask(connection);
      }),
    );
  }

  async #ask(connection: PostConnection): Promise<void> {
    const pod = this.#take();
    if (pod === undefined) throw new Error('There is no pod left to ask for');
    const { kind, code, message } = replyOf(
      await connection.post(evictionReview(pod.name, false, '/pod-eviction-v1')),
    );
    const { replies, errors } = this.found;
    const text = `${kind} ${code}`;
    replies.set(text, (replies.get(text) ?? 0) + 1);
    if (kind === 'allowed') {
      this.found.grants += 1;
      await this.#remove(pod);
      return;
    }
    if (code !== 429) errors.push(`${pod.name}: ${text} ${message}`);
    this.#taken.delete(pod.uid);
  }

  #take(): PodView | undefined {
    const pods = this.#watch.pods();
    for (const _ of pods) {
      const pod = pods[this.#next % pods.length];
      this.#next += 1;
      if (pod === undefined || this.#taken.has(pod.uid) || pod.unready !== undefined) continue;
      if (pod.isTerminating) continue;
      this.#taken.add(pod.uid);
      return pod;
    }
    return undefined;
  }

  async #remove({ name, uid }: PodView): Promise<void> {
    const options = { preconditions: { uid } };
    await this.#client.delete(resourceTypes.pods, { namespace, name }, options);
  }
}

/** A certificate where the program looks for that of its webhook. */
class Certificate {
  readonly folder: string;
  readonly pem: string;

  private constructor(folder: string, pem: string) {
    this.folder = folder;
    this.pem = pem;
  }

  static async make(): Promise<Certificate> {
    const { cert, key } = await selfSigned(systemClock().now());
    const folder = mkdtempSync(join(tmpdir(), 'bench-zone-evictions-'));
    const files = join(folder, 'k8s-webhook-server', 'serving-certs');
    mkdirSync(files, { recursive: true });
    writeFileSync(join(files, 'tls.crt'), cert);
    writeFileSync(join(files, 'tls.key'), key, { mode: 0o600 });
    return new Certificate(folder, cert);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    rmSync(this.folder, { recursive: true });
    return Promise.resolve();
  }
}

function figuresOf(
  { replies, errors, watch, writes, ledger, grants }: Seen,
  { maxUnavailable, span }: Setting,
  size: Size,
): readonly Figure[] {
  const tried = writes['update configmaps'] ?? 0;
  const { most } = watch;
  const { rounds, releases } = ledger;
  return [
    bounded(
      'answers other than allowed and 429',
      {
        value: errors.length,
        how: `${[...replies].map(([reply, count]) => `${count} × ${reply}`).join(', ')}${errors[0] === undefined ? '' : `; first: ${errors[0]}`}`,
      },
      size,
    ),
    bounded(
      'zones or pods away beyond a step',
      {
        of: 'evictions',
        value: Math.max(most.zones - 1, most.pods - maxUnavailable),
        how: `looked at as each pod goes; at most ${most.zones} zone and ${most.pods} pods of ${maxUnavailable}`,
      },
      size,
    ),
    bounded(
      'ledger writes ÷ rounds of grants',
      {
        value: (tried - releases) / rounds,
        how: `${tried} writes that the operator tried; ${rounds} of them stored a reservation, ${releases} only took out what had ended and are not counted, the others failed or were lost to another write`,
      },
      size,
    ),
    told('pods evicted a second', {
      value: grants / (span / 1_000),
      unit: '/s',
      how: `${grants} in ${span / 1_000} s`,
    }),
  ];
}
