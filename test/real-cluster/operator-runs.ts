/** The operators of one namespace, as processes of their own. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '#base/json.ts';
import type { Instant } from '#base/units.ts';
import { SeededRandom } from '#cluster/seeded-random.ts';
import type { PodFleet } from '#support/pods/pod-fleet.ts';
import { PodFleetServer } from '#support/pods/pod-fleet-server.ts';
import type { OperatorHandle } from '../scenarios/env.ts';
import type { ControlPlane, OwnControlPlane } from './control-plane/control-plane.ts';
import type { OperatorAccount } from './control-plane/operator-account.ts';
import type { Program, ProgramOptions } from './control-plane/programs.ts';
import { LateProxy, type LateWrite, predecessorHorizon, type WriteMoment } from './late-proxy.ts';
import { SaidBook } from './said-book.ts';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** What one operator is told. */
export interface OperatorTold {
  readonly number: number;
  /** Of the API server's proxy, if there is one. */
  readonly through: URL | undefined;
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Makes of what an operator is told the program that is started. */
export type OperatorProgram = (
  told: OperatorTold,
  options: Pick<OperatorRunsOptions, 'plane' | 'namespace' | 'account' | 'own'>,
) => Promise<Pick<ProgramOptions, 'path' | 'args' | 'env'>>;

/** The sources, which reach the cluster by a kubeconfig. */
const fromSources: OperatorProgram = async (told, options) => {
  const args = [main, `-kubernetes.config-file=${await kubeconfigOf(told, options)}`];
  return { path: process.execPath, args: [...args, ...told.flags], env: told.env };
};

async function kubeconfigOf(
  { number, through }: Pick<OperatorTold, 'number' | 'through'>,
  { plane, namespace, account }: Parameters<OperatorProgram>[1],
): Promise<string> {
  const kubeconfig = join(plane.programs.folder, `${namespace}-${number}.kubeconfig`);
  await writeFile(kubeconfig, plane.kubeconfig(account.token, through), { mode: 0o600 });
  return kubeconfig;
}

/**
 * The sources as the program for the StatefulsetRollouts of the namespace alone.
 *
 * @param flags besides
 */
export function asStatefulsetRollout(flags: readonly string[] = []): OperatorProgram {
  return async (told, options) => ({
    path: process.execPath,
    args: [
      main,
      'statefulset-rollout',
      `--kubeconfig=${await kubeconfigOf(told, options)}`,
      `--watch-namespace=${options.namespace}`,
      '--leader-elect=false',
      '--metrics-bind-address=0',
      '--health-probe-bind-address=0',
      '--zap-encoder=json',
      // Nothing of ours has run in the namespace before.
      '--rollout.predecessor-horizon=1s',
      ...flags,
    ],
    env: told.env,
  });
}

/** Takes the method and path of a write, where it is, and whose and what it is. */
export type OnOperatorWrite = (
  line: string,
  moment: WriteMoment,
  write: { readonly operator: number; readonly body: string },
) => void;

/** What {@link OperatorRuns} work with. */
export interface OperatorRunsOptions {
  readonly plane: ControlPlane;
  readonly namespace: string;
  readonly account: OperatorAccount;
  /** The pods that the operators call. */
  readonly pods: PodFleet;
  /** Told after each line of a log. */
  readonly onLine: () => void;
  /** The same plane where it is ours. */
  readonly own: OwnControlPlane | undefined;
  /** What operators that are killed had sent arrives late, as this seed says. Needs a plane of ours. @default nothing is late */
  readonly latenessSeed: number | undefined;
  /** Told of what is late or may be. */
  readonly onWrite?: OnOperatorWrite | undefined;
  /** What is started. @default the sources */
  readonly program?: OperatorProgram | undefined;
}

/** A process of an operator. */
export interface RealOperator extends OperatorHandle {
  /** The first of a namespace is 1. */
  readonly number: number;
  /** Whether it leads, as it said last. */
  isLeading(): boolean;
  /** Resolves when it has ended, by itself or not. */
  readonly ended: Promise<unknown>;
  /** SIGSTOP. */
  pause(): void;
  /** SIGCONT. */
  resume(): void;
}

/** One operator that was started. */
export interface OperatorRun {
  readonly handle: RealOperator;
  /** Whether its caches have synced. @throws {Error} when it has ended */
  readonly isReady: () => boolean;
}

/** Starts operators, and keeps what they say. */
export class OperatorRuns {
  /** Lines of all logs so far. */
  readonly log: JsonObject[] = [];
  /** What of it a judge can check. */
  readonly said: SaidBook;
  readonly #options: OperatorRunsOptions;
  readonly #podServer: PodFleetServer;
  readonly #programs: Program[] = [];
  readonly #lateProxies: LateProxy[] = [];
  #proxy: URL | undefined;

  constructor(options: OperatorRunsOptions) {
    this.#options = options;
    this.#podServer = new PodFleetServer(options.pods, options.plane.clock);
    this.said = new SaidBook({ namespace: options.namespace, user: options.account.user });
  }

  /** What killed operators had sent, and what became of it so far. */
  get lateWrites(): readonly LateWrite[] {
    return this.#lateProxies.flatMap(({ late }) => late);
  }

  /** When an operator sent the write that the audit log has under `auditId`; undefined where no proxy was asked. */
  sentAt(auditId: string): Instant | undefined {
    for (const { sentAt } of this.#lateProxies) {
      const at = sentAt.get(auditId);
      if (at !== undefined) return at;
    }
    return undefined;
  }

  /** Resolves when nothing that an operator sent is on its way any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#lateProxies.map((proxy) => proxy.settled()));
  }

  /** Starts another operator; resolves before it is ready. */
  async start(
    flags: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<OperatorRun> {
    const { plane, namespace, onLine, program: programOf = fromSources } = this.#options;
    const number = this.#programs.length + 1;
    const lateProxy = this.#lateProxy(number);
    this.#proxy ??= await this.#podServer.listen();
    const told: OperatorTold = {
      number,
      through: await lateProxy?.listen(),
      flags: [
        `-kubernetes.namespace=${namespace}`,
        '-server.port=0',
        '-log.format=json',
        `-rollout.predecessor-horizon=${predecessorHorizon / 1_000}s`,
        ...flags,
      ],
      env: { HTTP_PROXY: this.#proxy.href, ...env },
    };
    const said = { isReady: false, isLeading: false };
    const program = await plane.programs.start({
      name: `${namespace}-operator-${number}`,
      ...(await programOf(told, this.#options)),
      onLine: (line) => {
        const entry = this.#take(line);
        if (entry['msg'] === 'caches synced') said.isReady = true;
        if (entry['msg'] === 'leading') said.isLeading = true;
        if (entry['msg'] === 'following' || entry['msg'] === 'leadership lost') {
          said.isLeading = false;
        }
        onLine();
      },
    });
    this.#programs.push(program);
    return {
      handle: {
        ...handleOf(program, lateProxy),
        number,
        isLeading: () => said.isLeading && !program.hasEnded,
        ended: program.ended,
      },
      isReady: () => {
        if (program.hasEnded)
          throw new Error(`The operator ended: ${JSON.stringify(this.log.slice(-5))}`);
        return said.isReady;
      },
    };
  }

  /** Ends all of them, in an orderly way. */
  async close(): Promise<void> {
    await Promise.all(this.#programs.map((program) => program.end('SIGTERM')));
    if (this.#proxy !== undefined) await this.#podServer.close();
    await Promise.all(this.#lateProxies.map((proxy) => proxy.close()));
  }

  /** What is before the API server for operator `number`; undefined where nothing is to be late. */
  #lateProxy(number: number): LateProxy | undefined {
    const { own, latenessSeed, onWrite } = this.#options;
    if (own === undefined || latenessSeed === undefined) return undefined;
    const { server, ca, clock } = own;
    const random = new SeededRandom(latenessSeed).derive(`operator ${number}`);
    const proxy = new LateProxy({
      server,
      ca,
      clock,
      random,
      onWrite: (line, moment, body) => onWrite?.(line, moment, { operator: number, body }),
    });
    this.#lateProxies.push(proxy);
    return proxy;
  }

  #take(line: string): JsonObject {
    let entry: JsonObject;
    try {
      entry = JSON.parse(line) as JsonObject;
    } catch {
      // What Node itself says, such as a stack trace, is no JSON.
      entry = { msg: line };
    }
    this.log.push(entry);
    this.said.take(entry);
    return entry;
  }
}

function handleOf(
  program: Program,
  lateProxy: LateProxy | undefined,
): Omit<RealOperator, 'number' | 'isLeading' | 'ended'> {
  return {
    pause: () => program.signal('SIGSTOP'),
    resume: () => program.signal('SIGCONT'),
    kill: async () => {
      const ended = program.end('SIGKILL');
      // At the same instant: what the operator can have sent is in its sockets.
      lateProxy?.orphan();
      await ended;
    },
    stop: async () => {
      const code = await program.end('SIGTERM');
      if (code !== 0) throw new Error(`The operator ended with ${code} on SIGTERM`);
    },
  };
}
