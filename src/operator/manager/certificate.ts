import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { openClientAuthorities } from '#certificate/client-authorities.ts';
import { openFileCertificate } from '#certificate/file-certificate.ts';
import { FirstTrust } from '#certificate/first-trust.ts';
import { createCertificateMetrics } from '#certificate/metrics.ts';
import { openSelfSignedCertificate } from '#certificate/self-signed/self-signed-certificate.ts';
import { createWebhookInformer, type WebhookKind } from '#certificate/webhook-configuration.ts';
import type { RunningCertificate } from '#certificate/x509/certificate-source.ts';
import type { Config } from '#config/config.ts';
import type { Client } from '#kubernetes/client.ts';
import type { MetricsRegistry } from '#telemetry/metrics.ts';

/** What {@link openCertificate} works with. */
export interface CertificateOptions {
  readonly config: Config;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: MetricsRegistry;
}

/** A certificate, and whether evictions can have been answered before this process was trusted with them. */
export interface OpenedCertificate extends RunningCertificate {
  /** Reports whether nobody can have; absent where this process does not write the CA. */
  readonly isFirstTrusted?: () => boolean;
}

/**
 * Opens the certificate that the flags name: the self-signed one, else that of the files.
 *
 * @throws when there is none to serve with; the message says what to do
 */
export async function openCertificate(
  options: CertificateOptions,
  signal: AbortSignal,
): Promise<OpenedCertificate> {
  const { config, clock, log } = options;
  const { clientCa } = config.tls;
  if (clientCa === '') return openServed(options, signal);
  // First, as what cannot be read ends the process, and nothing is to be written before.
  const authorities = await openClientAuthorities({ file: clientCa, clock, log });
  return authorities.beside(await openServed(options, signal));
}

function openServed(options: CertificateOptions, signal: AbortSignal): Promise<OpenedCertificate> {
  const { config, clock, log, registry } = options;
  const { selfSigned, certFile, keyFile } = config.tls;
  if (selfSigned.isEnabled) return openSelfSigned(options, signal);
  const metrics = createCertificateMetrics(registry);
  return openFileCertificate({ certFile, keyFile, clock, log, metrics });
}

async function openSelfSigned(
  { config, client, clock, log, registry }: CertificateOptions,
  signal: AbortSignal,
): Promise<OpenedCertificate> {
  const { tls, kubernetes } = config;
  const { namespace } = kubernetes;
  const informerOf = (kind: WebhookKind): ReturnType<typeof createWebhookInformer> =>
    createWebhookInformer({
      client,
      clock,
      namespace,
      kind,
      report: ({ reason, message }) =>
        log.warn('informer', { resource: `${kind}webhookconfigurations`, reason, message }),
    });
  const configurations = tls.updatesCaBundle
    ? { validating: informerOf('validating'), mutating: informerOf('mutating') }
    : undefined;
  const trust =
    configurations &&
    new FirstTrust({
      configurations: configurations.validating,
      isAsked: (name) => name.startsWith('pod-eviction-'),
    });
  const certificate = await openSelfSignedCertificate(
    {
      client,
      clock,
      log,
      metrics: createCertificateMetrics(registry),
      namespace,
      ...tls.selfSigned,
      configurations,
    },
    signal,
  );
  return {
    ...certificate,
    ...(trust !== undefined && { isFirstTrusted: () => trust.isCertain }),
    run: async (ending) => {
      await Promise.all([
        certificate.run(ending),
        configurations?.validating.run(ending),
        configurations?.mutating.run(ending),
      ]);
    },
  };
}
