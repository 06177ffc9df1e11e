import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { Millis } from '#base/units.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import { withMissingFile } from '#telemetry/missing-file.ts';
import type { CertificateMetrics } from '../metrics.ts';
import type { WebhookConfigurationView, WebhookKind } from '../webhook-configuration.ts';
import type { RunningCertificate } from '../x509/certificate-source.ts';
import type { Issue } from '../x509/issue.ts';
import { BundlePublisher } from './bundle-publisher.ts';
import { type BundlePort, RotatingCertificate } from './rotating-certificate.ts';
import { SecretStore } from './secret-store.ts';

/** What {@link openSelfSignedCertificate} works with. */
export interface SelfSignedOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: CertificateMetrics;
  readonly namespace: string;
  /** `-server-tls.self-signed-cert.secret-name` */
  readonly secretName: string;
  /** Never empty. */
  readonly dnsName: string;
  readonly organization: string;
  readonly expiration: Millis;
  /**
   * The labelled webhook configurations, for the CA to be written into; run by their maker. Undefined
   * with `-webhooks.update-ca-bundle=false`: their writer takes the CAs from the Secret.
   */
  readonly configurations?:
    | Readonly<Record<WebhookKind, Informer<WebhookConfigurationView>>>
    | undefined;
  /** @default {@link issueSelfSigned}, loaded when the first certificate is made */
  readonly issue?: Issue;
}

/**
 * Opens the certificate of the Secret, made where there is none, renewed without a restart, and trusted by the labelled
 * webhook configurations.
 *
 * @throws when the Secret cannot be used or reached: the program cannot serve then, and ends with the message
 */
export async function openSelfSignedCertificate(
  options: SelfSignedOptions,
  signal: AbortSignal,
): Promise<RunningCertificate> {
  const { client, clock, log, metrics, namespace, configurations: informers } = options;
  const publisher =
    informers === undefined
      ? undefined
      : new BundlePublisher({ client, clock, log, metrics, informers });
  const rotation = new RotatingCertificate({
    ...options,
    store: new SecretStore(client, { namespace, name: options.secretName }),
    bundles: publisher ?? unmanaged,
    issue: options.issue ?? issueLazily,
  });
  const source = await rotation.start(signal);
  return {
    source,
    ready: publisher?.ready ?? Promise.resolve(),
    run: async (ending) => {
      await Promise.all([rotation.run(ending), publisher?.run(ending)]);
    },
  };
}

const unmanaged: BundlePort = Object.freeze({
  publication: { kind: 'unmanaged' } as const,
  want: () => undefined,
  onChange: () => undefined,
});

const issueLazily: Issue = async (issuance) => {
  const { issueSelfSigned } = await import('../x509/issue.ts').catch(withMissingFile);
  return issueSelfSigned(issuance);
};
