import { randomInt } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { millis } from '#base/units.ts';
import type { Listener, User } from '#cluster/cluster.ts';
import { startControllers, usualControllers } from '#cluster/controllers/start-controllers.ts';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import type { Behaviours } from '#cluster/kubelet/behaviours.ts';
import type { Delays } from '#cluster/kubelet/delays.ts';
import type { NodeConfig } from '#cluster/kubelet/node-fleet-options.ts';
import { startKubelet } from '#cluster/kubelet/start-kubelet.ts';
import type { Client } from '#kubernetes/client.ts';
import { staticCredentials, withCredentials } from '#kubernetes/connect/bearer-token.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { createHttpTransport } from '#kubernetes/transport/http-transport.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';

/** How the cluster of this process is set up. */
export interface LocalClusterOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly delays: Omit<Delays, 'jitter'>;
  /** @default one in each of three zones */
  readonly nodes?: readonly NodeConfig[] | undefined;
  /** @default a free one */
  readonly port?: number | undefined;
  /** A file that does not exist yet. @default one in a new temporary folder */
  readonly kubeconfig?: string | undefined;
}

/** An API server on 127.0.0.1 with controllers, a scheduler and kubelets, and a kubeconfig of its administrator. */
export interface LocalCluster {
  readonly eventLog: EmbeddedCluster['eventLog'];
  /** Webhooks of this process. */
  readonly webhooks: EmbeddedCluster['webhooks'];
  /** How its pods depart from a smooth life. */
  readonly behaviours: Pick<Behaviours, 'add'>;
  readonly url: string;
  /** Path of the kubeconfig; mode 0600, gone after {@link close}. */
  readonly kubeconfig: string;
  /** Returns a connection over HTTP. @param user @default the administrator */
  connect(user?: User): Transport;
  /** A client of the administrator. */
  readonly client: Client;
  /** Ends everything; nothing is left behind. */
  close(): Promise<void>;
}

/** Starts a cluster in this process; images with the tag `broken` cannot be pulled. */
export async function startLocalCluster(options: LocalClusterOptions): Promise<LocalCluster> {
  const { clock, log, delays, nodes } = options;
  const seed = randomInt(2 ** 31);
  const cluster = await createCluster({ clock, seed });
  cluster.eventLog.stopRecording();
  const ends: (() => Promise<void>)[] = [() => cluster.close()];
  const close = async (): Promise<void> => {
    for (const end of ends.splice(0).toReversed()) await end();
  };
  try {
    const { port } = options;
    const listener = await cluster.listen({ isTls: true, ...(port !== undefined && { port }) });
    const transportFor = (user: User): Transport => cluster.transport({ user, client: user.name });
    const common = { transportFor, clock, seed, log };
    const only = [...usualControllers, 'endpoints'] as const;
    const controllers = startControllers({ ...common, only });
    ends.push(() => controllers.stop());
    const kubelet = startKubelet({
      ...common,
      delays,
      areVolumesMade: true,
      ...(nodes !== undefined && { nodes }),
    });
    ends.push(() => kubelet.stop());
    kubelet.behaviours.add({ match: { image: '*:broken' }, behave: 'imagePullBackOff' });
    await Promise.all([controllers.ready, kubelet.ready]);
    const file = await writeKubeconfig(listener.kubeconfig(), options.kubeconfig);
    ends.push(() => file.remove());
    const open = (user?: User): Transport => connectTo(listener, { clock, user });
    const transport = open();
    ends.push(() => transport.close());
    const client = createClient({ transport, clock, timeout: millis(10_000), userAgent: 'demo' });
    const { url } = listener;
    const { eventLog, webhooks } = cluster;
    const { behaviours } = kubelet;
    return {
      eventLog,
      webhooks,
      behaviours,
      url,
      kubeconfig: file.path,
      connect: open,
      client,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function connectTo(
  listener: Listener,
  { clock, user }: { readonly clock: Clock; readonly user: User | undefined },
): Transport {
  const { ca } = listener;
  const credentials = staticCredentials(`Bearer ${listener.token(user)}`);
  const tls = { ...(ca !== undefined && { ca }) };
  // No proxy of the environment is between two ends of one process.
  const server = new URL(listener.url);
  return withCredentials(createHttpTransport({ server, tls: () => tls, clock }), credentials);
}

interface OwnedFile {
  readonly path: string;
  remove(): Promise<void>;
}

/** Writes a file that only its owner can read. It also goes when the process exits early. */
async function writeKubeconfig(text: string, wanted: string | undefined): Promise<OwnedFile> {
  const folder =
    wanted === undefined ? await mkdtemp(join(tmpdir(), 'rollout-operator-')) : undefined;
  const path = wanted ?? join(folder ?? '', 'kubeconfig');
  const removeNow = (): void => rmSync(folder ?? path, { recursive: true, force: true });
  try {
    // Never over an existing file: it could be the person's own kubeconfig.
    await writeFile(path, text, { mode: 0o600, flag: 'wx' });
  } catch (cause) {
    if (folder !== undefined) removeNow();
    const why = errorOf(cause).message;
    throw new Error(`Cannot write the kubeconfig ${path}: ${why}`, { cause });
  }
  process.on('exit', removeNow);
  return {
    path,
    remove: () => {
      process.off('exit', removeNow);
      removeNow();
      return Promise.resolve();
    },
  };
}
