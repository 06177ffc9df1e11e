/** The stand-in of the first peer, which deletes pods as that does; started here as its Deployment would start it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Millis } from '#base/units.ts';
import { ownProgramPath } from '../../real-cluster/control-plane/binaries.ts';
import type { OwnControlPlane } from '../../real-cluster/control-plane/control-plane.ts';
import {
  createAccount,
  type OperatorAccount,
} from '../../real-cluster/control-plane/operator-account.ts';
import { LateProxy } from '../../real-cluster/late-proxy.ts';

/** A process of the stand-in. */
export interface PeerRun {
  /** SIGTERM, as the kubelet does it; resolves when it has ended well. */
  stop(): Promise<void>;
}

/** How a process of the stand-in dies. */
export interface Death {
  /** It is killed when it has sent this deletion, the first being 1. */
  readonly atDeletion: number;
  /** When after that the deletion arrives at the API server, unless it is made to arrive sooner. */
  readonly late: Millis;
}

/** The stand-in for one namespace. */
export class Peer {
  /** As whom it works: in a real move both programs use one account, and nobody could tell who did what. */
  readonly account: OperatorAccount;
  readonly #own: OwnControlPlane;
  readonly #namespace: string;
  readonly #path: string;
  readonly #proxies: LateProxy[] = [];
  #runs = 0;

  private constructor(
    own: OwnControlPlane,
    parts: { readonly namespace: string; readonly path: string; readonly account: OperatorAccount },
  ) {
    this.#own = own;
    this.account = parts.account;
    this.#namespace = parts.namespace;
    this.#path = parts.path;
  }

  /** Makes its account, under its own Role; undefined where the program is not built. */
  static async in(own: OwnControlPlane, namespace: string): Promise<Peer | undefined> {
    const options = { env: process.env, say: () => undefined };
    const path = await ownProgramPath('peer-stand-in', options);
    if (path === undefined) return undefined;
    const account = await createAccount(own.admin, { namespace, role: 'peer', who: 'peer' });
    return new Peer(own, { namespace, path, account });
  }

  /** Starts it. */
  async start(): Promise<PeerRun> {
    const program = await this.#launch();
    return {
      stop: async () => {
        const code = await program.end('SIGTERM');
        if (code !== 0) throw new Error(`The peer ended with ${code}:\n${await program.logTail()}`);
      },
    };
  }

  /** Starts it, and kills it while a deletion of it is on its way; resolves when it is gone. */
  async startAndDie({ atDeletion, late }: Death): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const state = { sent: 0, kill: (): Promise<unknown> => Promise.resolve() };
    const { server, ca, clock } = this.#own;
    const proxy = new LateProxy({
      server,
      ca,
      clock,
      longestDelay: late,
      // Holds nothing while it lives, and what is late as long as may be.
      random: { fraction: () => 1, below: (bound) => bound - 1 },
      onWrite: (line, moment) => {
        if (moment !== 'sent' || !line.startsWith('DELETE ')) return;
        state.sent += 1;
        if (state.sent === atDeletion) state.kill().then(() => resolve(), reject);
      },
    });
    this.#proxies.push(proxy);
    const program = await this.#launch(await proxy.listen());
    state.kill = () => {
      const ended = program.end('SIGKILL');
      proxy.orphan();
      return ended;
    };
    await promise;
  }

  /** Makes what it sent arrive now. */
  release(): void {
    for (const proxy of this.#proxies) proxy.release();
  }

  /** Resolves when nothing that it sent is on its way any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#proxies.map((proxy) => proxy.settled()));
  }

  /** What of it arrived late so far, as `DELETE /path`. */
  get late(): readonly string[] {
    return this.#proxies.flatMap(({ late }) => late.map(({ method, path }) => `${method} ${path}`));
  }

  /** Ends the way to the API server. */
  async close(): Promise<void> {
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
  }

  async #launch(through?: URL): ReturnType<OwnControlPlane['programs']['start']> {
    this.#runs += 1;
    const { programs } = this.#own;
    const name = `${this.#namespace}-peer-${this.#runs}`;
    const file = join(programs.folder, `${name}.kubeconfig`);
    await writeFile(file, this.#own.kubeconfig(this.account.token, through), { mode: 0o600 });
    const args = [
      `-kubernetes.config-file=${file}`,
      `-kubernetes.namespace=${this.#namespace}`,
      '-reconcile.interval=1s',
    ];
    return programs.start({ name, path: this.#path, args });
  }
}
