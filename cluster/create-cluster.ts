/**
 * A Kubernetes API server with its controllers and kubelets, in the process and in virtual time. It answers as a real one
 * does, which the conversations of `test/differential/` hold it to, or refuses and says so; the operator never imports it.
 */
import type { JsonObject } from '#base/json.ts';
import { HttpsDialer } from './admission/https-dialer.ts';
import { startAdmission } from './admission/start-admission.ts';
import { noNetwork, type WebhookDialer } from './admission/webhook-dialer.ts';
import { WebhookHosts } from './admission/webhook-hosts.ts';
import { ADMINISTRATOR } from './auth/administrator.ts';
import { Authorizer } from './auth/authorizer.ts';
import { Activity } from './clock/activity.ts';
import { timestamp } from './clock/timestamp.ts';
import { VirtualClock } from './clock/virtual-clock.ts';
import type { Cluster, ClusterOptions, ClusterTransport, Listener, User } from './cluster.ts';
import { DefinitionLifecycle } from './crd/definition-lifecycle.ts';
import { Faults } from './faults.ts';
import { applyPatch, checkPatchType } from './patch/apply-patch.ts';
import { RecordingEventLog } from './recording-event-log.ts';
import { resourceTable } from './resource/table.ts';
import { ApiServer } from './rest/api-server.ts';
import { RowIndex } from './rest/request/row-index.ts';
import type { ServerContext, ServerRules } from './rest/request/server-context.ts';
import { SeededRandom } from './seeded-random.ts';
import { parseFieldSelector } from './selector/field-selector.ts';
import { parseLabelSelector } from './selector/label-selector.ts';
import { Store } from './store/store.ts';
import { type DeliveryProfile, InProcessTransport } from './transport/in-process-transport.ts';
import { HttpListener, type ListenOptions } from './transport/listener.ts';

const FIRST_NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

/** Options of {@link EmbeddedCluster}. */
export interface ServerOptions extends ClusterOptions {
  readonly rules: ServerRules;
  /** Whether revisions skip 0…3 per write (ST-1). @default false */
  readonly isSparse?: boolean;
}

/** Options of {@link EmbeddedCluster.transport}. */
export interface TransportOptions {
  /** @default `system:admin` */
  readonly user?: User | string;
  /** Identifies the client in the event log and to faults. @default `client-<n>` */
  readonly client?: string;
  /** @default events arrive at once */
  readonly delivery?: DeliveryProfile;
}

/** The API server in this process, with its faults and its rules. */
export class EmbeddedCluster implements Cluster {
  readonly clock: ServerOptions['clock'];
  readonly eventLog: RecordingEventLog;
  readonly faults: Faults;
  readonly authorizer: Authorizer;
  readonly random: SeededRandom;
  /** For the rooms that extend the server: admission, eviction, custom resources. */
  readonly context: ServerContext;
  /** Webhooks in this process; in virtual time there are no others. */
  readonly webhooks = new WebhookHosts();
  readonly #dialer: WebhookDialer;
  readonly #server: ApiServer;
  readonly #definitions: DefinitionLifecycle;
  readonly #transports: InProcessTransport[] = [];
  readonly #listeners: HttpListener[] = [];
  #clients = 0;

  constructor(options: ServerOptions) {
    this.clock = options.clock;
    this.random = new SeededRandom(options.seed);
    this.eventLog = new RecordingEventLog();
    this.authorizer = new Authorizer();
    this.context = newContext(options, this);
    const { store } = this.context;
    this.faults = new Faults(this.random.derive('faults'), (revision) => store.compact(revision));
    this.#server = new ApiServer(this.context, this.faults, this.random);
    this.#definitions = new DefinitionLifecycle(this.#server);
    this.#dialer = this.clock instanceof VirtualClock ? noNetwork : new HttpsDialer();
    const ways = { hosts: this.webhooks, dialer: this.#dialer };
    startAdmission(this.context, ways, this.random.derive('reviews'));
    for (const name of FIRST_NAMESPACES) this.#seedNamespace(name);
  }

  transport(user: User | string | TransportOptions = ADMINISTRATOR): ClusterTransport {
    const options = isTransportOptions(user) ? user : { user };
    this.#clients += 1;
    const transport = new InProcessTransport({
      server: this.#server,
      client: options.client ?? `client-${this.#clients}`,
      user: userOf(options.user ?? ADMINISTRATOR),
      delivery: options.delivery,
    });
    this.#transports.push(transport);
    return transport;
  }

  async listen(options: ListenOptions = {}): Promise<Listener> {
    if (this.clock instanceof VirtualClock) {
      throw new Error('Cannot listen with a virtual clock as sockets take real time');
    }
    const listener = await HttpListener.open(this.#server, options);
    this.#listeners.push(listener);
    return listener;
  }

  async close(): Promise<void> {
    this.#definitions.close();
    this.faults.live.endAll();
    this.#dialer.close();
    for (const transport of this.#transports.splice(0)) await transport.close();
    for (const listener of this.#listeners.splice(0)) await listener.close();
  }

  #seedNamespace(name: string): void {
    const row = this.context.rows.find('v1', 'namespaces');
    if (row === undefined) return;
    const metadata: JsonObject = {
      name,
      uid: this.context.random.uids.uuid(),
      creationTimestamp: timestamp(this.clock.now()),
    };
    const after = row.prepareForCreate({ kind: 'Namespace', apiVersion: 'v1', metadata });
    this.context.store.commit({ resource: 'namespaces', key: name, before: undefined, after });
  }
}

/** Returns a cluster that serves the built-in resources (EM-1); nothing of it is shared with another. */
export async function createCluster(options: ClusterOptions): Promise<EmbeddedCluster> {
  const patches = { checkPatchType, applyPatch };
  const rules = { resourceTable, parseLabelSelector, parseFieldSelector, ...patches };
  await Promise.resolve();
  return new EmbeddedCluster({ ...options, rules });
}

function newContext(
  options: ServerOptions,
  parts: Pick<EmbeddedCluster, 'eventLog' | 'authorizer' | 'random'>,
): ServerContext {
  const { clock, rules, version = '1.36', isSparse = false } = options;
  const { eventLog, authorizer, random } = parts;
  return {
    store: new Store({ random: random.derive('revisions'), now: () => clock.now(), isSparse }),
    clock,
    activity: clock instanceof VirtualClock ? clock.activity : new Activity(),
    rules,
    rows: new RowIndex(rules.resourceTable),
    eventLog,
    authorizer,
    random: {
      uids: random.derive('uids'),
      names: random.derive('names'),
      timeouts: random.derive('timeouts'),
    },
    admission: undefined,
    subresourceHandlers: new Map(),
    version,
  };
}

function isTransportOptions(value: User | string | TransportOptions): value is TransportOptions {
  return typeof value === 'object' && !('name' in value);
}

function userOf(user: User | string): User {
  return typeof user === 'string' ? { name: user, groups: ['system:authenticated'] } : user;
}
