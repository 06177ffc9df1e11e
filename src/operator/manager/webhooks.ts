import type { Webhook } from '#admission/review/review.ts';
import { handlersOf } from '#admission/review/review-handler.ts';
import { reviewCounter } from '#admission/review/review-metrics.ts';
import { type AdmissionServer, startAdmissionServer } from '#admission/server/admission-server.ts';
import { aborted } from '#base/async/aborted.ts';
import { errorOf } from '#base/error-of.ts';
import type { CertificateSource } from '#certificate/x509/certificate-source.ts';
import type { Config } from '#config/config.ts';
import type { WebhookFiles } from '#config/manager-config.ts';
import type { Client } from '#kubernetes/client.ts';
import { routeLabel } from '#telemetry/http/http-route.ts';
import { openCertificate } from './certificate.ts';
import { decoratedClient } from './client.ts';
import type { ManagerOptions } from './options.ts';
import { clusterValidation, type ManagerServerOptions } from './servers.ts';

/** What a manager serves to the API server. */
export interface Serving {
  readonly webhooks: readonly Webhook[];
  /** Resolves when they can answer; where it rejects they never can, and their caches say why. @default at once */
  readonly filled?: Promise<unknown>;
}

/**
 * Serves webhooks until `signal` aborts, where the command line wants them, and announces that this process is ready once they
 * can answer and are trusted; without them at once.
 *
 * @throws {Error} one sentence, when the certificate or the port cannot be used
 */
export async function serveWebhooks(
  options: ManagerOptions<{ readonly webhooks: WebhookFiles | undefined }>,
  { webhooks, filled = Promise.resolve() }: Serving,
  signal: AbortSignal,
): Promise<void> {
  const { door, config, log, readiness } = options;
  if (door.webhooks === undefined) {
    readiness.announce();
    return aborted(signal);
  }
  const client = decoratedClient(options);
  const serving = { ...options, client, webhooks, isReady: () => readiness.isReady() };
  const served = await openWebhooks(config, serving, signal).catch((error: unknown) => {
    if (signal.aborted) return undefined;
    throw error;
  });
  if (served === undefined) return;
  log.info('webhooks served', { port: served.port });
  const isFilled = filled.then(
    () => true,
    () => false,
  );
  const announced = Promise.all([served.ready, isFilled]).then(([, canAnswer]) => {
    if (canAnswer) readiness.announce();
  });
  await Promise.all([announced, served.run(signal)]);
}

/** Webhooks that are served. */
interface ServedWebhooks {
  /** The port of reviews. */
  readonly port: number;
  /** Resolves once the API server can be expected to trust the certificate, which takes {@link run}. */
  readonly ready: Promise<void>;
  /** Serves until `signal` aborts, then drains. */
  run(signal: AbortSignal): Promise<void>;
}

/** Opens the webhooks. @throws {Error} one sentence, when the certificate or the port cannot be used */
async function openWebhooks(
  config: Config,
  options: ManagerServerOptions & {
    readonly client: Client;
    readonly webhooks: readonly Webhook[];
  },
  signal: AbortSignal,
): Promise<ServedWebhooks> {
  const { log } = options;
  const certificate = await openCertificate({ ...options, config }, signal);
  const server = await serveReviews(config, certificate.source, options);
  certificate.source.onChange(() => {
    server.setCertificate(certificate.source.current()).then(
      () => log.info('webhook certificate changed'),
      (error: unknown) => log.error('webhook certificate not changed', { err: errorOf(error) }),
    );
  });
  return {
    port: server.port,
    ready: certificate.ready,
    run: async (ending) => {
      const failed = new AbortController();
      const watching = certificate.run(AbortSignal.any([ending, failed.signal]));
      try {
        await Promise.race([server.failed, watching, aborted(ending)]);
      } finally {
        failed.abort();
        await Promise.all([server.close(), watching]);
      }
    },
  };
}

function serveReviews(
  { tls: { requestTimeout, port } }: Config,
  source: CertificateSource,
  {
    clock,
    log,
    registry,
    httpMetrics: metrics,
    webhooks,
  }: ManagerServerOptions & { readonly webhooks: readonly Webhook[] },
): Promise<AdmissionServer> {
  const routes = webhooks.map(({ path }) => routeLabel(path));
  const countReview = reviewCounter(registry, routes);
  return startAdmissionServer({
    port,
    certificate: source.current(),
    clock,
    log,
    metrics,
    clusterValidation,
    handlers: handlersOf(webhooks, { clock, log, requestTimeout, countReview }),
    requestTimeout,
  });
}
