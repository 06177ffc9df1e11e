/** The operators of one namespace, as processes of their own. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '#base/json.ts';
import { instant } from '#base/units.ts';
import { textAt } from '#embedded-cluster/controllers/read-json.ts';
import type { PodFleet } from '#testing/pod-fleet.ts';
import { PodFleetServer } from '#testing/pod-fleet-server.ts';
import { type DisruptionStatement, statementOf } from '#testing/statement.ts';
import type { OperatorHandle } from '../scenarios/env.ts';
import type { ControlPlane } from './control-plane.ts';
import type { OperatorAccount } from './operator-account.ts';
import type { Program } from './programs.ts';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** What {@link OperatorRuns} work with. */
export interface OperatorRunsOptions {
  readonly plane: ControlPlane;
  readonly namespace: string;
  readonly account: OperatorAccount;
  /** The pods that the operators call. */
  readonly pods: PodFleet;
  /** Told after each line of a log. */
  readonly onLine: () => void;
}

/** One operator that was started. */
export interface OperatorRun {
  readonly handle: OperatorHandle;
  /** Whether its caches have synced. @throws {Error} when it has ended */
  readonly isReady: () => boolean;
}

/** Starts operators, and keeps what they say. */
export class OperatorRuns {
  /** Lines of all logs so far. */
  readonly log: JsonObject[] = [];
  /** The removals that the logs state. */
  readonly statements: DisruptionStatement[] = [];
  readonly #options: OperatorRunsOptions;
  readonly #podServer: PodFleetServer;
  readonly #programs: Program[] = [];
  #proxy: URL | undefined;

  constructor(options: OperatorRunsOptions) {
    this.#options = options;
    this.#podServer = new PodFleetServer(options.pods, options.plane.clock);
  }

  /** Starts another operator; resolves before it is ready. */
  async start(
    flags: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<OperatorRun> {
    const { plane, account, namespace, onLine } = this.#options;
    const number = this.#programs.length + 1;
    const kubeconfig = join(plane.programs.folder, `${namespace}.kubeconfig`);
    await writeFile(kubeconfig, plane.kubeconfig(account.token), { mode: 0o600 });
    this.#proxy ??= await this.#podServer.listen();
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
        ...flags,
      ],
      env: { HTTP_PROXY: this.#proxy.href, ...env },
      onLine: (line) => {
        const entry = this.#take(line);
        if (entry['msg'] === 'caches synced') isReady = true;
        onLine();
      },
    });
    this.#programs.push(program);
    return {
      handle: handleOf(program),
      isReady: () => {
        if (program.hasEnded)
          throw new Error(`The operator ended: ${JSON.stringify(this.log.slice(-5))}`);
        return isReady;
      },
    };
  }

  /** Ends all of them, in an orderly way. */
  async close(): Promise<void> {
    await Promise.all(this.#programs.map((program) => program.end('SIGTERM')));
    if (this.#proxy !== undefined) await this.#podServer.close();
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
    if (entry['msg'] === 'deleting pod') {
      const sentAt = instant(Date.parse(textAt(entry, 'ts')));
      this.statements.push(statementOf(sentAt, entry));
    }
    return entry;
  }
}

function handleOf(program: Program): OperatorHandle {
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
