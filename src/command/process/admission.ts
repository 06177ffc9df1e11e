import type { Config } from '#config/config.ts';
import type { AdmissionSettings } from '#operator/admission.ts';
import { podHttpOf } from './pod-http.ts';

/** What the webhooks share with the rest of the process. */
export type AdmissionParts = Pick<AdmissionSettings, 'registry' | 'httpMetrics'> &
  Parameters<typeof podHttpOf>[1];

/**
 * Returns how the webhooks are served; undefined while `-server-tls.enabled` is false. Its `podHttp` is the caller's to
 * close.
 */
export function admissionOf(config: Config, parts: AdmissionParts): AdmissionSettings | undefined {
  if (!config.tls.isEnabled) return undefined;
  const { registry, httpMetrics, ...ports } = parts;
  const { POD_NAME, HOSTNAME: hostname } = ports.env;
  const podName = config.kubernetes.podName ?? POD_NAME;
  return { registry, httpMetrics, podHttp: podHttpOf(config, ports), podName, hostname };
}
