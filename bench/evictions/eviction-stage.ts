import { freePort } from '#support/free-ports.ts';
import { PostConnection, type ReviewServer } from '../admission/post-connection.ts';
import { connectTo } from '../admission/review-servers.ts';
import { Cluster } from '../cluster/cluster.ts';
import type { Access, RestartOptions } from '../cluster/cluster-commands.ts';
import { type GroupsOptions, setNames } from '../cluster/workload.ts';
import { bundledEnvironment } from '../operator/bundle.ts';
import { Operator } from '../operator/operator.ts';

/** What an {@link EvictionStage} is made of. */
export interface StageOptions extends GroupsOptions {
  /** How long pods take to be replaced; without it nothing replaces them. */
  readonly restart?: RestartOptions;
  /** Whether the operator reaches the API server by a way that can be shut. @default false */
  readonly isGated?: boolean;
  /** The bundled operator; without it the sources are run. */
  readonly program?: string;
  /** Whether each commit is judged by the invariants. @default false */
  readonly isJudged?: boolean;
}

/** A cluster with groups and budgets in one process, and in another an operator that leads and serves webhooks with TLS. */
export class EvictionStage {
  readonly cluster: Cluster;
  readonly access: Access;
  /** Where operators reach the API server, and what they are. */
  readonly #started: Started;
  readonly operator: Operator;
  /** Its webhooks. */
  readonly server: ReviewServer;
  /** All groups, which the budgets are named after. */
  readonly groups: readonly string[];

  private constructor(
    parts: Pick<EvictionStage, 'cluster' | 'access' | 'operator' | 'server' | 'groups'>,
    started: Started,
  ) {
    this.#started = started;
    this.cluster = parts.cluster;
    this.access = parts.access;
    this.operator = parts.operator;
    this.server = parts.server;
    this.groups = parts.groups;
  }

  /** Starts both, and waits until the operator has looked at all groups. */
  static async open(options: StageOptions): Promise<EvictionStage> {
    const cluster = new Cluster();
    try {
      return await EvictionStage.#over(cluster, options);
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  static async #over(cluster: Cluster, options: StageOptions): Promise<EvictionStage> {
    const { restart, isGated = false, isJudged = false, program } = options;
    const access = await cluster.call('open', { isJudged });
    await cluster.call('fill', options);
    await cluster.call('installBudgets');
    if (restart !== undefined) await cluster.call('pace', restart);
    const url = isGated ? await cluster.call('openGate') : access.url;
    const started = { access: { ...access, url }, program };
    const { operator, port } = await startServing(started);
    try {
      const groups = [...new Set(setNames(options).map(({ group }) => group))];
      await operator.hasLookedAt(groups.length);
      const server = { port, ca: await cluster.call('authority') };
      return new EvictionStage({ cluster, access, operator, server, groups }, started);
    } catch (error) {
      await operator[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** So many connections to the webhooks. @param first posted on each at once, where they may idle */
  connect(count: number, first?: Buffer): Promise<readonly PostConnection[]> {
    return connectTo(this.server, count, first);
  }

  /** So many connections to the API server. */
  connectToApi(count: number): Promise<readonly PostConnection[]> {
    const port = Number(new URL(this.access.url).port);
    return Promise.all(Array.from({ length: count }, () => PostConnection.plain(port)));
  }

  /** Starts one more operator beside, or after, the first. */
  async startAnother(): Promise<Pick<EvictionStage, 'operator' | 'server'>> {
    const { operator, port } = await startServing(this.#started);
    return { operator, server: { ...this.server, port } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.operator[Symbol.asyncDispose]();
    } finally {
      await this.cluster[Symbol.asyncDispose]();
    }
  }
}

interface Started {
  readonly access: Access;
  readonly program: string | undefined;
}

async function startServing({
  access,
  program,
}: Started): Promise<{ readonly operator: Operator; readonly port: number }> {
  const port = await freePort();
  const bundled = program !== undefined && { program, env: bundledEnvironment };
  const operator = await Operator.start(access, 'in-cluster', {
    flags: flagsFor(port),
    ...bundled,
  });
  return { operator, port };
}

/** The webhooks as they are shipped, with a certificate that names where the API server of a bench finds them. */
function flagsFor(port: number): readonly string[] {
  return [
    '-server-tls.enabled=true',
    `-server-tls.port=${port}`,
    '-server-tls.self-signed-cert.dns-name=localhost',
    '-use-zone-tracker=true',
  ];
}
