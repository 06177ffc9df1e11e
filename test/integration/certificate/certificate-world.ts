import { X509Certificate } from 'node:crypto';
import type { JsonObject } from '#base/json.ts';
import { type Millis, millis, minutes } from '#base/units.ts';
import { type WebhookKind, webhookTypes } from '#certificate/webhook-configuration.ts';
import { type IssuedPair, issueSelfSigned } from '#certificate/x509/issue.ts';
import { certificateBlocks } from '#certificate/x509/pem.ts';
import { VirtualClock } from '#cluster/clock/virtual-clock.ts';
import { createCluster, type EmbeddedCluster } from '#cluster/create-cluster.ts';
import type { Commit } from '#cluster/event-log.ts';
import type { Client } from '#kubernetes/client.ts';
import { createClient } from '#kubernetes/http-client.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import {
  DNS_NAME,
  NAMESPACE,
  type Replica,
  type ReplicaHost,
  type ReplicaOptions,
  RunningReplica,
  SECRET,
} from './certificate-replica.ts';

/** An embedded cluster in virtual time, and replicas that share one Secret there. */
export class CertificateWorld implements ReplicaHost {
  readonly clock: VirtualClock;
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

  /** Writes a CA bundle as another client would; empty: takes it away. */
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

  /** Changes the Secret as `kubectl patch --type=json` does. */
  async patchSecret(operations: readonly JsonObject[]): Promise<void> {
    const key = { namespace: NAMESPACE, name: SECRET };
    const body = { kind: 'json', operations } as const;
    await this.run(this.admin.patch(resourceTypes.secrets, key, { body }));
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

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
