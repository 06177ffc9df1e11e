/**
 * The admission webhooks: one file each, a server that has bounds for all that it takes, and one way from a review to its
 * answer. What cannot be found out is denied; the budgets that evictions ask are rooms of their own.
 */
import { aborted } from '#base/async/aborted.ts';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import type { CertificateSource } from '#certificate/x509/certificate-source.ts';
import type { Config } from '#config/config.ts';
import type { EvictionBudgets } from '#disruption-budget/eviction/eviction-budgets.ts';
import type { Client } from '#kubernetes/client.ts';
import type { PodHttp } from '#pod-http/pod-http.ts';
import { routeLabel } from '#telemetry/http/http-route.ts';
import type { HttpServerMetrics } from '#telemetry/http/http-server-metrics.ts';
import type { BudgetMetrics } from '#telemetry/metrics/budget-metrics.ts';
import type { MetricsRegistry } from '#telemetry/metrics.ts';
import type { Tracing } from '#telemetry/tracing/tracing.ts';
import { ReplicaClaims } from './claim/replica-claims.ts';
import { zpdbValidation } from './custom-resource/zpdb-validation.ts';
import { noDownscale } from './downscale/no-downscale.ts';
import { podEviction } from './eviction/pod-eviction.ts';
import { annotationRecord, zoneTrackerRecord } from './prepare-downscale/downscale-record.ts';
import { GroupLocks } from './prepare-downscale/group-locks.ts';
import { prepareDownscale } from './prepare-downscale/prepare-downscale.ts';
import { ZoneTracker } from './prepare-downscale/zone-tracker.ts';
import { ConcurrencyLimit } from './review/concurrency-limit.ts';
import type { Webhook } from './review/review.ts';
import { handlersOf } from './review/review-handler.ts';
import { reviewCounter } from './review/review-metrics.ts';
import { sharedReads } from './review/shared-reads.ts';
import { type AdmissionServer, startAdmissionServer } from './server/admission-server.ts';
import { collectFailurePolicies } from './webhook-configuration/failure-policy.ts';

/** What {@link runAdmission} works with. */
export interface AdmissionOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: MetricsRegistry;
  /** Those of the plain server, too. */
  readonly httpMetrics: HttpServerMetrics;
  /** What evictions are judged by. */
  readonly evictionBudgets: EvictionBudgets;
  /** Those of rollouts and scale-downs, too. */
  readonly budgetMetrics: BudgetMetrics;
  /** One client each, so that no webhook can starve another. */
  readonly clients: {
    readonly noDownscale: Client;
    readonly prepareDownscale: Client;
    readonly eviction: Client;
    readonly configurations: Client;
  };
  /** Its own: calls of the controllers must not take the places of a review. */
  readonly podHttp: PodHttp;
  readonly certificate: CertificateSource;
  /** @default all interfaces */
  readonly host?: string;
  /** Names this process; new at every start. */
  readonly identity: string;
  /** Called with whether the Role refuses `verb` on the ConfigMap of the claims. */
  readonly onClaimsRefused?: (verb: string, isRefused: boolean) => void;
  /** Called with the port as soon as reviews are answered. */
  readonly onListening?: (port: number) => void;
  /** Those of custom resources, which only the API server asks. @default none */
  readonly further?: readonly Webhook[];
  /** Absent while nothing is traced. */
  readonly tracing?: Tracing;
}

/** Reviews of one webhook that may make calls, at once (D-30). */
const scaleReviews = 200;
const preparations = 50;
const podReads = 100;
/** Evictions that budgets judge at once: they only take room, as all that are allowed are stored together. */
const judgements = 2_000;

/**
 * Serves the admission webhooks until `signal` aborts, then drains: what is under way is answered, and what pods
 * still have to be notified of is sent.
 *
 * @throws {Error} one sentence, when the port cannot be listened on or the certificate is none
 */
export async function runAdmission(options: AdmissionOptions, signal: AbortSignal): Promise<void> {
  const background = new Set<Promise<void>>();
  const server = await startServer(options, background);
  options.log.info('webhooks served', { port: server.port });
  options.onListening?.(server.port);
  const { clock, log, registry, config, clients } = options;
  const { namespace } = config.kubernetes;
  const collected = collectFailurePolicies(
    { clock, log, registry, namespace, client: clients.configurations },
    signal,
  );
  try {
    const ended = Promise.race([server.failed, aborted(signal)]);
    await Promise.race([collected, ended]);
    await ended;
  } finally {
    await server.close();
  }
}

async function startServer(
  options: AdmissionOptions,
  background: Set<Promise<void>>,
): Promise<AdmissionServer> {
  const { config, clock, log, registry, httpMetrics, certificate, host, tracing } = options;
  const { tls, server, kubernetes } = config;
  const { requestTimeout } = tls;
  const { further = [] } = options;
  const webhooks = [...webhooksOf(options, background), ...further];
  const { clusterValidation } = server;
  const excludedPaths = [...clusterValidation.excludedPaths, ...further.map(({ path }) => path)];
  const routes = webhooks.map(({ path }) => routeLabel(path));
  const serving = {
    port: tls.port,
    ...(host !== undefined && { host }),
    certificate: certificate.current(),
    clock,
    log,
    metrics: httpMetrics,
    clusterValidation: { ...clusterValidation, excludedPaths, cluster: kubernetes.namespace },
    handlers: handlersOf(webhooks, {
      clock,
      log,
      requestTimeout,
      countReview: reviewCounter(registry, routes),
      ...(tracing !== undefined && { tracing }),
    }),
    requestTimeout,
    background: () => Promise.all(background),
  };
  const started = await startAdmissionServer(serving);
  const change = (): void => {
    started.setCertificate(certificate.current()).then(
      () => log.info('webhook certificate changed'),
      (error: unknown) => log.error('webhook certificate not changed', { err: errorOf(error) }),
    );
  };
  certificate.onChange(change);
  // It may have changed while the server began to listen.
  if (certificate.current() !== serving.certificate) change();
  return started;
}

function webhooksOf(options: AdmissionOptions, background: Set<Promise<void>>): readonly Webhook[] {
  const { config, clock, log, clients, podHttp, identity, onClaimsRefused } = options;
  const { zoneTracker, kubernetes } = config;
  const client = clients.prepareDownscale;
  const recorder = { client, clock, log };
  const { configMapName } = zoneTracker;
  return [
    noDownscale({
      client: sharedReads(clients.noDownscale, clock),
      clock,
      log,
      limit: new ConcurrencyLimit(scaleReviews),
    }),
    prepareDownscale({
      client: sharedReads(client, clock),
      podHttp,
      clock,
      log,
      locks: new GroupLocks(),
      groupClaims: new ReplicaClaims({
        ...recorder,
        namespace: kubernetes.namespace,
        identity,
        ...(onClaimsRefused !== undefined && { onRefused: onClaimsRefused }),
      }),
      limit: new ConcurrencyLimit(preparations),
      clusterDomain: kubernetes.clusterDomain,
      record: zoneTracker.isEnabled
        ? zoneTrackerRecord(new ZoneTracker({ client, clock, configMapName }), recorder)
        : annotationRecord(recorder),
      onBackground: (work) => {
        background.add(work);
        void work.finally(() => background.delete(work));
      },
    }),
    evictionWebhook(options),
    zpdbValidation(),
  ];
}

function evictionWebhook({
  clock,
  log,
  clients,
  evictionBudgets,
  budgetMetrics,
}: AdmissionOptions): Webhook {
  return podEviction({
    budgets: evictionBudgets,
    client: sharedReads(clients.eviction, clock),
    clock,
    log,
    metrics: budgetMetrics,
    limits: {
      reads: new ConcurrencyLimit(podReads),
      judgements: new ConcurrencyLimit(judgements),
    },
  });
}
