import { X509Certificate } from 'node:crypto';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import { type Instant, instant, type Millis, millis, minutes } from '#base/units.ts';
import { createCertificateMetrics } from '#certificate/metrics.ts';
import { openSelfSignedCertificate } from '#certificate/self-signed/self-signed-certificate.ts';
import { createWebhookInformer } from '#certificate/webhook-configuration.ts';
import type { RunningCertificate } from '#certificate/x509/certificate-source.ts';
import type { IssuedPair, issueSelfSigned } from '#certificate/x509/issue.ts';
import type { VirtualClock } from '#cluster/clock/virtual-clock.ts';
import type { ClusterTransport } from '#cluster/cluster.ts';
import type { EmbeddedCluster } from '#cluster/create-cluster.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { KeptLog } from '#support/telemetry/kept-log.ts';
import { createMetricsRegistry, type MetricsRegistry } from '#telemetry/metrics.ts';

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

/** What a replica runs in. */
export interface ReplicaHost {
  readonly cluster: EmbeddedCluster;
  readonly clock: VirtualClock;
  /** Life of new certificates. */
  readonly expiration: Millis;
  /** A new pair as the operator makes them; virtual time waits for it. */
  issue(issuance: Parameters<typeof issueSelfSigned>[0]): Promise<IssuedPair>;
  /** Told after each change of what is served. */
  checkTrust(after: string): void;
}

/** A replica that runs as virtual time does. */
export class RunningReplica implements Replica {
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

  constructor(host: ReplicaHost, name: string, options: ReplicaOptions) {
    this.name = name;
    this.transport = host.cluster.transport({ client: name, user: name });
    this.#ended = this.#run(host, options).catch((error: unknown) => {
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

  async #run(host: ReplicaHost, options: ReplicaOptions): Promise<void> {
    const { dnsName = DNS_NAME, ahead = millis(0), updatesCaBundle = true } = options;
    const { namespace = NAMESPACE } = options;
    const { signal } = this.#ending;
    const clock = aheadOf(host.clock, ahead);
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
        expiration: host.expiration,
        configurations: updatesCaBundle ? informers : undefined,
        issue: (issuance) => host.issue(issuance),
      },
      signal,
    );
    this.#certificate = certificate;
    const keep = (): void => {
      this.served.push(new X509Certificate(certificate.source.current().cert));
      host.checkTrust(`${this.name} switched`);
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
