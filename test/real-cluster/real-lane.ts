/** One control plane for all scenarios of a test file, and an environment in a namespace of its own for each. */
import { randomBytes } from 'node:crypto';
import { millis } from '#base/units.ts';
import type { Delays } from '#cluster/kubelet/delays.ts';
import { type Kubelet, startKubelet } from '#cluster/kubelet/start-kubelet.ts';
import type { Client } from '#kubernetes/client.ts';
import { type ResourceType, resourceTypes } from '#kubernetes/resource-type.ts';
import { isNotFound } from '#kubernetes/transport/api-error.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';
import { createLogger, unbuffered } from '#telemetry/log/line-logger.ts';
import { followEtcd, type Recorder } from './audit/recorder.ts';
import { followWatches } from './audit/watch-recorder.ts';
import { findBinaries } from './control-plane/binaries.ts';
import {
  type ControlPlane,
  type ControlPlaneOptions,
  minorOf,
  type OwnControlPlane,
  startControlPlane,
} from './control-plane/control-plane.ts';
import {
  connectExisting,
  type ExistingCluster,
  STAND_IN_LABEL,
} from './control-plane/existing-cluster.ts';
import {
  ACCOUNTS_NAMESPACE,
  createAccount,
  type OperatorAccount,
  permitWebhooks,
} from './control-plane/operator-account.ts';
import { NamespaceEnv } from './namespace-env.ts';
import type { RealEnv, RealEnvOptions } from './real-env.ts';

/** A control plane that is shared. */
export interface RealLane {
  readonly plane: ControlPlane;
  /** The control plane when it is ours, to look into and to disturb. */
  readonly own: OwnControlPlane | undefined;
  /** A new namespace with a complete group, or an empty one. */
  env(options?: RealEnvOptions): Promise<RealEnv>;
  /** Ends all of it, the environments too. */
  close(): Promise<void>;
}

/** What differs from the usual lane. */
export interface LaneOptions extends Pick<ControlPlaneOptions, 'featureGates'> {
  /** An existing cluster. @default the one that the command line chose, if any */
  readonly cluster?: ExistingCluster;
  /** How long pods take. */
  readonly delays?: Partial<Delays>;
}

/** Pods move fast here: what is tried is who may move, not how long it takes. */
const briefDelays = { stop: millis(50), bind: millis(20), start: millis(100), ready: millis(150) };

const nodes = ['zone-a', 'zone-b', 'zone-c'].map((zone, index) => ({
  name: `node-${index}`,
  zone,
  labels: { [STAND_IN_LABEL]: 'true' },
}));

/** Starts the control plane, its nodes and its recorder; or connects to the existing cluster that was chosen. */
export async function startRealLane(options: LaneOptions = {}): Promise<RealLane> {
  const { cluster = clusterOf(process.env), delays } = options;
  if (cluster !== undefined) {
    const plane = await connectExisting(cluster);
    const recorder = followWatches(plane.connectAsAdmin(), plane.clock);
    return begin({ plane, own: undefined }, recorder, delays);
  }
  const own = await startControlPlane(await findBinaries({ env: process.env, say }), options);
  const recorder = followEtcd(own.etcd, () => own.clock.now());
  return begin({ plane: own, own }, recorder, delays);
}

/** What the command line has chosen; it reaches us as `REAL_LANE_CONTEXT` beside `TEST_KUBECONFIG`. */
function clusterOf(env: typeof process.env): ExistingCluster | undefined {
  const { TEST_KUBECONFIG: path = '', REAL_LANE_CONTEXT: context } = env;
  if (path === '') return undefined;
  if (context !== undefined) return { path, context };
  throw new Error(
    'TEST_KUBECONFIG is set: start the tests with "npm run do -- test:real --context <name>"',
  );
}

async function begin(
  planes: Pick<RealLane, 'plane' | 'own'>,
  recording: Promise<Recorder>,
  delays: Partial<Delays> = briefDelays,
): Promise<RealLane> {
  const { plane } = planes;
  try {
    const recorder = await recording;
    const kubelet = await startNodes(plane, delays);
    const metadata = { name: ACCOUNTS_NAMESPACE };
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata };
    await plane.admin.create(resourceTypes.namespaces, metadata, { body });
    return new Lane(planes, { recorder, kubelet, minor: await minorOf(plane.admin) });
  } catch (error) {
    await plane.close();
    throw error;
  }
}

async function startNodes(plane: ControlPlane, delays: Partial<Delays>): Promise<Kubelet> {
  const transport = plane.connectAsAdmin();
  // The lane owns the connection; the stand-in closes what it was given.
  const shared: Transport = {
    request: (request) => transport.request(request),
    stream: (request) => transport.stream(request),
    close: () => Promise.resolve(),
  };
  const { clock } = plane;
  const log = createLogger({ format: 'logfmt', level: 'warn', clock, sink: unbuffered(say) });
  const kubelet = startKubelet({ transportFor: () => shared, clock, seed: 1, log, delays, nodes });
  await kubelet.ready;
  return kubelet;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

class Lane implements RealLane {
  readonly plane: ControlPlane;
  readonly own: OwnControlPlane | undefined;
  readonly #recorder: Recorder;
  readonly #kubelet: Kubelet;
  readonly #minor: number;
  /** Differs from run to run, as an existing cluster may still be deleting what an earlier one made. */
  readonly #run = randomBytes(3).toString('hex');
  readonly #namespaces: string[] = [];
  readonly #envs: RealEnv[] = [];

  constructor(
    planes: Pick<RealLane, 'plane' | 'own'>,
    parts: { readonly recorder: Recorder; readonly kubelet: Kubelet; readonly minor: number },
  ) {
    this.plane = planes.plane;
    this.own = planes.own;
    this.#recorder = parts.recorder;
    this.#kubelet = parts.kubelet;
    this.#minor = parts.minor;
  }

  async env(options: RealEnvOptions = {}): Promise<RealEnv> {
    const { plane, own } = this;
    const { installed } = options;
    const namespace =
      installed?.namespace ?? `scenario-${this.#run}-${this.#namespaces.length + 1}`;
    this.#namespaces.push(namespace);
    const metadata = { name: namespace };
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata };
    await plane.admin.create(resourceTypes.namespaces, metadata, { body });
    const account =
      installed === undefined
        ? await permitted(plane.admin, namespace, options)
        : await installed.install(plane.admin);
    const { log } = this.#recorder;
    const env = new NamespaceEnv(
      { plane, own, recorded: log, kubelet: this.#kubelet, namespace, account, minor: this.#minor },
      options,
    );
    this.#envs.push(env);
    await env.begin();
    return env;
  }

  async close(): Promise<void> {
    // A scenario that failed has not closed its own: its servers would keep the process alive.
    await Promise.all(this.#envs.map((env) => env.close()));
    if (this.own === undefined) await this.#leave();
    await this.#kubelet.stop();
    this.#recorder.close();
    await this.plane.close();
  }

  /** An existing cluster is left as it was found. */
  async #leave(): Promise<void> {
    const { admin } = this.plane;
    const namespaces = [...this.#namespaces, ACCOUNTS_NAMESPACE];
    for (const name of namespaces) await remove(admin, resourceTypes.namespaces, name);
    for (const name of namespaces) await untilGone(this.plane, name);
    for (const { name } of nodes) await remove(admin, resourceTypes.nodes, name);
  }
}

/** The account of an operator under one of the Roles that tests make. */
async function permitted(
  admin: Client,
  namespace: string,
  { role = 'ours', hasWebhooks = false }: RealEnvOptions,
): Promise<OperatorAccount> {
  const account = await createAccount(admin, { namespace, role });
  if (hasWebhooks) await permitWebhooks(admin, namespace, role);
  return account;
}

async function remove(admin: Client, type: ResourceType, name: string): Promise<void> {
  await admin.delete(type, { name }, { preconditions: {} }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

async function untilGone({ admin, clock }: ControlPlane, name: string): Promise<void> {
  for (;;) {
    try {
      await admin.get(resourceTypes.namespaces, { name });
    } catch (error) {
      if (isNotFound(error)) return;
      throw error;
    }
    await clock.sleep(millis(200));
  }
}
