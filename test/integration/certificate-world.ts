import { X509Certificate } from 'node:crypto';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { JsonObject } from '#base/json.ts';
import { type Instant, instant, type Millis, millis, minutes } from '#base/units.ts';
import type { RunningCertificate } from '#certificate/certificate-source.ts';
import { type IssuedPair, issueSelfSigned } from '#certificate/issue.ts';
import { createCertificateMetrics } from '#certificate/metrics.ts';
import { certificateBlocks } from '#certificate/pem.ts';
import { openSelfSignedCertificate } from '#certificate/self-signed-certificate.ts';
import {
  createWebhookInformer,
  type WebhookKind,
  webhookTypes,
} from '#certificate/webhook-configuration.ts';
import type { ClusterTransport } from '#embedded-cluster/cluster.ts';
import { createCluster, type EmbeddedCluster } from '#embedded-cluster/create-cluster.ts';
import type { Commit } from '#embedded-cluster/event-log.ts';
import { VirtualClock } from '#embedded-cluster/virtual-clock.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { createMetricsRegistry, type MetricsRegistry } from '#telemetry/metrics.ts';
import { KeptLog } from '#testing/kept-log.ts';

/** The namespace of the operator. */
export const NAMESPACE = 'test';
/** The default name of the Secret. */
export const SECRET = 'rollout-operator-self-signed-certificate';
/** The name that clients call the operator by. */
export const DNS_NAME = 'rollout-operator.test.svc';

/** What differs from the usual replica. */
export interface ReplicaOptions {
  readonly dnsName?: string;
  /** How far its clock is ahead of the cluster's. @default 0 */
  readonly ahead?: Millis;
  /** @default true */
  readonly updatesCaBundle?: boolean;
  readonly namespace?: string;
}

/** One process that serves. */
export interface Replica {
  readonly name: string;
  readonly log: KeptLog;
  readonly registry: MetricsRegistry;
  readonly transport: ClusterTransport;
  /** Undefined until it has been opened. */
  readonly certificate: () => RunningCertificate | undefined;
  /** Whether clients may be sent to it. */
  readonly isReady: () => boolean;
  /** Why it could not start. */
  readonly failure: () => Error | undefined;
  /** Serial texts of what it has served, oldest first. */
  readonly served: readonly X509Certificate[];
  stop(): Promise<void>;
}

/** An embedded cluster in virtual time, and replicas that share one Secret there. */
export class CertificateWorld {
  readonly clock = new VirtualClock();
  readonly cluster: EmbeddedCluster;
  readonly admin: Client;
  readonly replicas: Replica[] = [];
  /** Life of new certificates. */
  expiration: Millis = minutes(110);
  /** Each moment at which a ready replica served what a configuration did not trust; empty when all is well. */
  readonly distrust: string[] = [];
  /** The configurations as stored, by resource and name. */
  readonly #configurations = new Map<string, Commit>();
  #count = 0;

  private constructor(cluster: EmbeddedCluster, clock: VirtualClock) {
    this.cluster = cluster;
    this.clock = clock;
    this.admin = createClient({
      transport: cluster.transport({ client: 'admin' }),
      clock,
      timeout: millis(0),
      userAgent: 'admin',
    });
    cluster.eventLog.onCommit((commit) => this.#committed(commit));
  }

  #committed(commit: Commit): void {
    if (!commit.resource.includes('webhookconfigurations')) return;
    const key = `${commit.resource}/${commit.name}`;
    if (commit.after === undefined) this.#configurations.delete(key);
    else this.#configurations.set(key, commit);
    this.checkTrust(`${commit.user} ${commit.verb} ${commit.name}`);
  }

  /** Notes each replica that serves what a labelled configuration does not trust, unless a stranger just wrote it. */
  checkTrust(after: string): void {
    for (const { served, isReady, name } of this.replicas) {
      const leaf = served.at(-1);
      if (leaf === undefined || !isReady()) continue;
      if (leaf.validToDate.getTime() <= this.clock.now()) {
        this.distrust.push(`${this.clock.now()} after ${after}: ${name} serves what has expired`);
      }
      for (const [key, { user, after: object = {} }] of this.#configurations) {
        if (!user.startsWith('operator')) continue;
        if (bundlesIn(object).every((bundle) => isTrusted(leaf, bundle))) continue;
        this.distrust.push(`${this.clock.now()} after ${after}: ${key} distrusts ${name}`);
      }
    }
  }

  /** An empty cluster with the namespace. */
  static async create(): Promise<CertificateWorld> {
    const clock = new VirtualClock();
    const world = new CertificateWorld(await createCluster({ clock, seed: 1 }), clock);
    const metadata = { name: NAMESPACE };
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata };
    await world.run(world.admin.create(resourceTypes.namespaces, metadata, { body }));
    return world;
  }

  /** Lets virtual time run until `promise` is done. */
  async run<T>(promise: Promise<T>): Promise<T> {
    const state = { isDone: false };
    const ended = promise.finally(() => {
      state.isDone = true;
    });
    ended.catch(() => undefined);
    await this.clock.runUntil(() => state.isDone, { maxVirtual: minutes(60) });
    return ended;
  }

  /** Starts a replica; it runs as virtual time does. */
  start(options: ReplicaOptions = {}): Replica {
    this.#count += 1;
    const replica = new RunningReplica(this, `operator-${this.#count}`, options);
    this.replicas.push(replica);
    return replica;
  }

  /** Starts a replica and waits until it is ready. */
  async ready(options: ReplicaOptions = {}): Promise<Replica> {
    const replica = this.start(options);
    await this.clock.runUntil(() => replica.isReady() || replica.failure() !== undefined, {
      maxVirtual: minutes(10),
    });
    const failure = replica.failure();
    if (failure !== undefined) throw failure;
    return replica;
  }

  /** A new pair as the operator makes them; virtual time waits for it. */
  async issue(overrides: Partial<Parameters<typeof issueSelfSigned>[0]> = {}): Promise<IssuedPair> {
    this.clock.activity.begin('issue');
    try {
      const usual = { dnsNames: [DNS_NAME], organization: 'Grafana Labs' };
      const { expiration, clock } = this;
      return await issueSelfSigned({ ...usual, expiration, now: clock.now(), ...overrides });
    } finally {
      this.clock.activity.end('issue');
    }
  }

  /** Creates a webhook configuration labelled for this operator, unless `overrides` say otherwise. */
  async createConfiguration(
    name: string,
    overrides: {
      readonly kind?: WebhookKind;
      readonly labels?: Readonly<Record<string, string>>;
      readonly caBundle?: string;
      readonly webhooks?: number;
    } = {},
  ): Promise<KubernetesObject> {
    const { kind = 'validating', caBundle, webhooks = 1 } = overrides;
    const labels = overrides.labels ?? {
      'grafana.com/inject-rollout-operator-ca': 'true',
      'grafana.com/namespace': NAMESPACE,
    };
    const type = webhookTypes[kind];
    const bundle = caBundle === undefined ? {} : { caBundle: base64(caBundle) };
    const body = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: type.kind,
      metadata: { name, labels },
      webhooks: Array.from({ length: webhooks }, (_, index) => ({
        name: `hook-${index}.${name}.grafana.com`,
        clientConfig: {
          service: {
            name: 'rollout-operator',
            namespace: NAMESPACE,
            path: '/admission/no-downscale',
          },
          ...bundle,
        },
        rules: [],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      })),
    };
    return this.run(this.admin.create(type, {}, { body }));
  }

  /** Writes a CA bundle as somebody else would; empty: takes it away. */
  async setBundle(name: string, text: string, kind: WebhookKind = 'validating'): Promise<void> {
    const value = text === '' ? null : base64(text);
    const operation =
      value === null
        ? { op: 'remove', path: '/webhooks/0/clientConfig/caBundle' }
        : { op: 'replace', path: '/webhooks/0/clientConfig/caBundle', value };
    const body = { kind: 'json', operations: [operation] } as const;
    await this.run(this.admin.patch(webhookTypes[kind], { name }, { body }));
  }

  /** The CA bundles of a configuration, as text. */
  async bundles(name: string, kind: WebhookKind = 'validating'): Promise<readonly string[]> {
    const object = await this.run(this.admin.get(webhookTypes[kind], { name }));
    return bundlesIn(object);
  }

  /** The members of the Secret's data as text; undefined where there is no Secret. */
  async secret(): Promise<Readonly<Record<string, string>> | undefined> {
    try {
      const key = { namespace: NAMESPACE, name: SECRET };
      const object = await this.run(this.admin.get(resourceTypes.secrets, key));
      const data = (object['data'] ?? {}) as Readonly<Record<string, string>>;
      return Object.fromEntries(
        Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
      );
    } catch {
      return undefined;
    }
  }

  /** Creates the Secret with these members. */
  async createSecret(
    data: Readonly<Record<string, string>>,
    metadata: JsonObject = {},
  ): Promise<void> {
    const body = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: NAMESPACE, name: SECRET, ...metadata },
      data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)])),
    };
    await this.run(this.admin.create(resourceTypes.secrets, { namespace: NAMESPACE }, { body }));
  }

  async deleteSecret(): Promise<void> {
    const key = { namespace: NAMESPACE, name: SECRET };
    await this.run(this.admin.delete(resourceTypes.secrets, key, { preconditions: {} }));
  }

  /** Requests of replicas that write, such as `operator-1 create secrets 201`. */
  writes(): readonly string[] {
    return this.cluster.eventLog.calls
      .filter(({ client, verb }) => client.startsWith('operator') && !reads.has(verb))
      .map(
        ({ client, verb, resource, outcome }) =>
          `${client} ${verb} ${resource.replace(/\..*/, '')} ${outcome}`,
      );
  }

  async close(): Promise<void> {
    await this.run(Promise.all(this.replicas.map((replica) => replica.stop())));
    await this.cluster.close();
  }
}

function isTrusted(leaf: X509Certificate, bundle: string): boolean {
  return certificateBlocks(bundle).some(({ pem }) =>
    leaf.verify(new X509Certificate(pem).publicKey),
  );
}

const reads: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/** The CA bundles in a configuration, as text. */
export function bundlesIn(object: JsonObject): readonly string[] {
  const webhooks = (object['webhooks'] ?? []) as readonly JsonObject[];
  return webhooks.map(({ clientConfig }) => {
    const { caBundle } = clientConfig as { readonly caBundle?: string };
    return Buffer.from(caBundle ?? '', 'base64').toString();
  });
}

class RunningReplica implements Replica {
  readonly name: string;
  readonly log = new KeptLog({ keepsInfo: true });
  readonly registry = createMetricsRegistry();
  readonly transport: ClusterTransport;
  readonly served: X509Certificate[] = [];
  readonly #ending = new AbortController();
  readonly #ended: Promise<void>;
  #certificate: RunningCertificate | undefined;
  #isReady = false;
  #failure: Error | undefined;

  constructor(world: CertificateWorld, name: string, options: ReplicaOptions) {
    this.name = name;
    this.transport = world.cluster.transport({ client: name, user: name });
    this.#ended = this.#run(world, options).catch((error: unknown) => {
      this.#failure = errorOf(error);
    });
  }

  readonly certificate = (): RunningCertificate | undefined => this.#certificate;
  readonly isReady = (): boolean => this.#isReady;
  readonly failure = (): Error | undefined => this.#failure;

  async stop(): Promise<void> {
    this.#isReady = false;
    this.#ending.abort();
    await this.#ended;
  }

  async #run(world: CertificateWorld, options: ReplicaOptions): Promise<void> {
    const { dnsName = DNS_NAME, ahead = millis(0), updatesCaBundle = true } = options;
    const { namespace = NAMESPACE } = options;
    const { signal } = this.#ending;
    const clock = aheadOf(world.clock, ahead);
    const { transport, log, registry } = this;
    const client = createClient({ transport, clock, timeout: minutes(5), userAgent: this.name });
    const report = ({ message }: { readonly message: string }): void => log.warn(message);
    const common = { client, clock, namespace, report };
    const informers = {
      validating: createWebhookInformer({ ...common, kind: 'validating' }),
      mutating: createWebhookInformer({ ...common, kind: 'mutating' }),
    };
    const running = updatesCaBundle
      ? Object.values(informers).map((informer) => informer.run(signal))
      : [];
    const certificate = await openSelfSignedCertificate(
      {
        client,
        clock,
        log,
        metrics: createCertificateMetrics(registry),
        namespace,
        secretName: SECRET,
        dnsName,
        organization: 'Grafana Labs',
        expiration: world.expiration,
        configurations: updatesCaBundle ? informers : undefined,
        issue: (issuance) => world.issue(issuance),
      },
      signal,
    );
    this.#certificate = certificate;
    const keep = (): void => {
      this.served.push(new X509Certificate(certificate.source.current().cert));
      world.checkTrust(`${this.name} switched`);
    };
    keep();
    certificate.source.onChange(keep);
    void certificate.ready.then(() => {
      this.#isReady = !signal.aborted;
    });
    await Promise.all([certificate.run(signal), ...running]);
  }
}

/** The clock of a process that is ahead of the cluster's. */
function aheadOf(clock: VirtualClock, ahead: Millis): Clock {
  return {
    now: (): Instant => instant(clock.now() + ahead),
    monotonic: () => clock.monotonic(),
    timer: (...given) => clock.timer(...given),
    sleep: (...given) => clock.sleep(...given),
    yield: () => clock.yield(),
  };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
