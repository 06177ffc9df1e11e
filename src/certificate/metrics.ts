import type { Instant } from '#base/units.ts';
import type { MetricsRegistry } from '#telemetry/metrics.ts';
import type { WaitReason } from './plan.ts';

/** What can be seen of the certificate from outside. */
export interface CertificateMetrics {
  /** Shows when the served certificate expires. */
  setExpiry(notAfter: Instant): void;
  /** Shows why a switch of the certificate waits; undefined: nothing waits. */
  setWaiting(reason: WaitReason | undefined): void;
  /** Shows how many labelled webhook configurations lack a CA that they should carry. */
  setConfigurationsWithoutCa(count: number): void;
}

const waitReasons: readonly WaitReason[] = ['SecretRefused', 'CaNotPublished'];

/** Declares the gauges in `registry`; a process without TLS has none of them. */
export function createCertificateMetrics(registry: MetricsRegistry): CertificateMetrics {
  const expiry = registry.gauge({
    name: 'rollout_operator_certificate_expiry_timestamp_seconds',
    help: 'Unix time at which the served certificate expires.',
    labels: [],
  });
  const waiting = registry.gauge({
    name: 'rollout_operator_certificate_rotation_waiting',
    help: 'Why the certificate that the Secret names is not served yet: 1 with the reason, else absent.',
    labels: ['reason'],
  });
  const withoutCa = registry.gauge({
    name: 'rollout_operator_webhook_configurations_without_ca',
    help: 'Labelled webhook configurations whose CA bundle lacks a CA of this operator.',
    labels: [],
  });
  return {
    setExpiry: (notAfter) => expiry.set({}, notAfter / 1_000),
    setWaiting: (reason) => {
      for (const each of waitReasons) {
        if (each === reason) waiting.set({ reason: each }, 1);
        else waiting.remove({ reason: each });
      }
    },
    setConfigurationsWithoutCa: (count) => withoutCa.set({}, count),
  };
}
