/** One control plane for all scenarios of a test file, and an environment in a namespace of its own for each. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import { type Millis, millis, seconds } from '#base/units.ts';
import { type Kubelet, startKubelet } from '#embedded-cluster/kubelet/start-kubelet.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { Transport } from '#kubernetes/transport.ts';
import { createLogger } from '#telemetry/line-logger.ts';
import { type Judgement, judge } from '#testing/judge.ts';
import { type DisruptionStatement, statementOf } from '#testing/statement.ts';
import type { Env, EnvOptions, Feature, OperatorHandle } from '../scenarios/env.ts';
import { images, isComplete, setBody } from '../scenarios/group.ts';
import { type AuditEntry, attributed, beginsDeletion, callsOf, readAudit } from './audit.ts';
import { findBinaries } from './binaries.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import {
  ACCOUNTS_NAMESPACE,
  createAccount,
  type OperatorAccount,
  type RoleName,
} from './operator-account.ts';
import type { Program } from './programs.ts';
import { Recorder, type StoredCommit } from './recorder.ts';

/** What differs on a real cluster. */
export interface RealEnvOptions extends EnvOptions {
  /** @default ours */
  readonly role?: RoleName;
}

/** What a real cluster offers beyond an {@link Env}. */
export interface RealEnv extends Env {
  readonly role: RoleName;
  /** What the API server wrote down of this operator. */
  audit(): Promise<readonly AuditEntry[]>;
  /** Uids of the pods whose removal the history ascribes to the operator. */
  removedByOperator(): Promise<ReadonlySet<string>>;
  /** Lines of all operators' logs so far. */
  readonly log: readonly JsonObject[];
}

/** A control plane that is shared. */
export interface RealLane {
  readonly plane: ControlPlane;
  readonly recorder: Recorder;
  /** A complete group in a new namespace. */
  env(options?: RealEnvOptions): Promise<RealEnv>;
  close(): Promise<void>;
}

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** Pods move fast here: what is tried is who may move, not how long it takes. */
const delays = { stop: millis(50), bind: millis(20), start: millis(100), ready: millis(150) };

/** Starts the control plane, its nodes and its recorder. */
export async function startRealLane(): Promise<RealLane> {
  const binaries = await findBinaries({ env: process.env, say });
  const plane = await startControlPlane(binaries);
  try {
    const recorder = await Recorder.follow(plane.etcd, () => plane.clock.now());
    const kubelet = await startNodes(plane);
    const metadata = { name: ACCOUNTS_NAMESPACE };
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata };
    await plane.admin.create(resourceTypes.namespaces, metadata, { body });
    return new Lane(plane, recorder, kubelet);
  } catch (error) {
    await plane.close();
    throw error;
  }
}

async function startNodes(plane: ControlPlane): Promise<Kubelet> {
  const transport = plane.connect(plane.adminToken);
  // The lane owns the connection; the stand-in closes what it was given.
  const shared: Transport = {
    request: (request) => transport.request(request),
    stream: (request) => transport.stream(request),
    close: () => Promise.resolve(),
  };
  const { clock } = plane;
  const log = createLogger({ format: 'logfmt', level: 'warn', clock, sink: say });
  const kubelet = startKubelet({ transportFor: () => shared, clock, seed: 1, log, delays });
  await kubelet.ready;
  return kubelet;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

class Lane implements RealLane {
  readonly plane: ControlPlane;
  readonly recorder: Recorder;
  readonly #kubelet: Kubelet;
  #count = 0;

  constructor(plane: ControlPlane, recorder: Recorder, kubelet: Kubelet) {
    this.plane = plane;
    this.recorder = recorder;
    this.#kubelet = kubelet;
  }

  async env(options: RealEnvOptions = {}): Promise<RealEnv> {
    this.#count += 1;
    const { plane, recorder } = this;
    const namespace = `scenario-${this.#count}`;
    const metadata = { name: namespace };
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata };
    await plane.admin.create(resourceTypes.namespaces, metadata, { body });
    const account = await createAccount(plane.admin, namespace, options.role ?? 'ours');
    const parts = { plane, recorder, kubelet: this.#kubelet, namespace, account };
    const env = new NamespaceEnv(parts, options);
    await env.begin();
    return env;
  }

  async close(): Promise<void> {
    await this.#kubelet.stop();
    this.recorder.close();
    await this.plane.close();
  }
}

interface Parts {
  readonly plane: ControlPlane;
  readonly recorder: Recorder;
  readonly kubelet: Kubelet;
  readonly namespace: string;
  readonly account: OperatorAccount;
}

const features: ReadonlySet<Feature> = new Set(['history', 'processes', 'roles']);

/** What a request that died with its API server asked for nobody knows: REV-1 cannot be judged of it. */
function withoutLostCalls(judgement: Judgement, lost: ReadonlySet<number>): Judgement {
  const violations = judgement.violations.filter(
    ({ id, revision }) => id !== 'REV-1' || !lost.has(revision),
  );
  const note = `Not judged: REV-1 of ${lost.size} removals, whose requests died with the API server.`;
  return { violations, report: () => `${judgement.report()}\n${note}` };
}

class NamespaceEnv implements RealEnv {
  readonly cluster = 'real';
  readonly zones: readonly string[];
  readonly replicas: number;
  readonly maxUnavailable: number;
  readonly role: RoleName;
  readonly log: JsonObject[] = [];
  readonly #parts: Parts;
  readonly #statements: DisruptionStatement[] = [];
  readonly #operators: Program[] = [];
  readonly #wakers = new Set<() => void>();

  constructor(parts: Parts, options: RealEnvOptions) {
    this.#parts = parts;
    this.zones = options.zones ?? ['a', 'b', 'c'];
    this.replicas = options.replicas ?? 3;
    this.maxUnavailable = options.maxUnavailable ?? 2;
    this.role = options.role ?? 'ours';
  }

  get namespace(): string {
    return this.#parts.namespace;
  }

  get admin(): Client {
    return this.#parts.plane.admin;
  }

  get kubelet(): Kubelet {
    return this.#parts.kubelet;
  }

  get #clock(): Clock {
    return this.#parts.plane.clock;
  }

  async begin(): Promise<void> {
    const { namespace } = this;
    await this.until('the namespace has its account', () =>
      this.names('serviceaccounts').includes('default'),
    );
    for (const zone of this.zones) {
      const body = setBody(this, zone);
      await this.admin.create(resourceTypes.statefulSets, { namespace }, { body });
    }
    await this.until('the group is complete', () => isComplete(this, images.old), seconds(300));
  }

  supports(feature: Feature): boolean {
    return features.has(feature);
  }

  stored(resource: string, name: string): JsonObject | undefined {
    return this.#parts.recorder.stored(resource, this.namespace, name);
  }

  names(resource: string): readonly string[] {
    return this.#parts.recorder.names(resource, this.namespace);
  }

  run<T>(work: Promise<T>): Promise<T> {
    return work;
  }

  until(what: string, holds: () => boolean, limit: Millis = seconds(120)): Promise<void> {
    const { recorder } = this.#parts;
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        stop();
        deadline.cancel();
        this.#wakers.delete(ask);
        settle();
      };
      const ask = (): void => {
        try {
          if (holds()) end(resolve);
        } catch (error) {
          end(() => reject(error instanceof Error ? error : new Error(String(error))));
        }
      };
      const stop = recorder.onCommit((commit) => {
        if (commit.namespace === this.namespace) ask();
      });
      this.#wakers.add(ask);
      const deadline = this.#clock.timer(limit, () => {
        const tail = this.log.slice(-15).map((line) => JSON.stringify(line));
        const message = `Waited ${limit / 1000} s in vain until ${what}; the operator's last lines:`;
        end(() => reject(new Error([message, ...tail].join('\n'))));
      });
      ask();
    });
  }

  async pass(span: Millis): Promise<void> {
    await this.#clock.sleep(span);
  }

  async startOperator(): Promise<OperatorHandle> {
    const { plane, account, namespace } = this.#parts;
    const number = this.#operators.length + 1;
    const kubeconfig = join(plane.programs.folder, `${namespace}.kubeconfig`);
    await writeFile(kubeconfig, plane.kubeconfig(account.token), { mode: 0o600 });
    let isReady = false;
    const program = await plane.programs.start({
      name: `${namespace}-operator-${number}`,
      path: process.execPath,
      args: [
        main,
        `-kubernetes.config-file=${kubeconfig}`,
        `-kubernetes.namespace=${namespace}`,
        '-server.port=0',
        '-log.format=json',
      ],
      onLine: (line) => {
        const entry = this.#take(line);
        if (entry?.['msg'] === 'caches synced') isReady = true;
        for (const wake of this.#wakers) wake();
      },
    });
    this.#operators.push(program);
    await this.until('the operator is ready', () => {
      if (program.hasEnded)
        throw new Error(`The operator ended: ${JSON.stringify(this.log.slice(-5))}`);
      return isReady;
    });
    return {
      kill: async () => {
        await program.end('SIGKILL');
      },
      stop: async () => {
        const code = await program.end('SIGTERM');
        if (code !== 0) throw new Error(`The operator ended with ${code} on SIGTERM`);
      },
    };
  }

  async removedByOperator(): Promise<ReadonlySet<string>> {
    const { user } = this.#parts.account;
    const commits = attributed(this.#commits(), await this.audit());
    const removals = commits.filter(
      (commit) => commit.user === user && (commit.verb === 'delete' || beginsDeletion(commit)),
    );
    return new Set(removals.map(({ uid }) => uid));
  }

  async judge(): Promise<Judgement> {
    const entries = await this.audit();
    const commits = attributed(this.#commits(), entries);
    const { user } = this.#parts.account;
    const judgement = judge(
      { commits, calls: callsOf(entries), deliveries: [] },
      {
        ours: (name) => name === user,
        statements: this.#statements,
        areDeliveriesKnown: false,
        end: this.#clock.now(),
      },
    );
    const lost = commits.filter((commit) => commit.user === user && commit.callId === 0);
    return withoutLostCalls(judgement, new Set(lost.map(({ revision }) => revision)));
  }

  async audit(): Promise<readonly AuditEntry[]> {
    const { plane, account, namespace } = this.#parts;
    const entries = await readAudit(plane.auditPath);
    return entries.filter(
      ({ user, objectRef }) => user.username === account.user || objectRef?.namespace === namespace,
    );
  }

  async close(): Promise<void> {
    this.#parts.kubelet.behaviours.clear();
    await Promise.all(this.#operators.map((program) => program.end('SIGTERM')));
  }

  #commits(): readonly StoredCommit[] {
    return this.#parts.recorder.commits.filter(({ namespace }) => namespace === this.namespace);
  }

  #take(line: string): JsonObject | undefined {
    let entry: JsonObject;
    try {
      entry = JSON.parse(line) as JsonObject;
    } catch {
      // What Node itself says, such as a stack trace, is no JSON.
      entry = { msg: line };
    }
    this.log.push(entry);
    if (entry['msg'] === 'deleting pod') this.#statements.push(statementOf(entry));
    return entry;
  }
}
