import {
  type FiringCase,
  of,
  outcomes,
  review,
  reviews,
  route,
  type SilentCase,
} from './alert-series.ts';

/** Webhooks and their certificate. Each alert fires here at least once. */
export const webhookFiring: readonly FiringCase[] = [
  {
    alert: 'RolloutOperatorWebhookErrors',
    series: {
      [of(`${reviews}_count`, { ...review, status_code: '200' })]: '0+54x60',
      [of(`${reviews}_count`, { ...review, status_code: '429' })]: '0+6x60',
    },
    at: 20,
    severity: 'critical',
    labels: { route: 'admission_no_downscale' },
    description:
      '10% of the reviews of admission_no_downscale in mimir are not answered with 200, or denied because it could not be determined whether they are allowed.',
  },
  {
    alert: 'RolloutOperatorWebhookErrors',
    when: 'the API server does not answer what a webhook has to know',
    series: {
      [of(`${reviews}_count`, { ...review, status_code: '200' })]: '0+60x60',
      [of(outcomes, { route, outcome: 'Allowed' })]: '0+30x60',
      [of(outcomes, { route, outcome: 'Denied' })]: '0+18x60',
      [of(outcomes, { route, outcome: 'DependencyFailed' })]: '0+6x60',
      [of(outcomes, { route, outcome: 'DeadlineExceeded' })]: '0+6x60',
    },
    at: 20,
    severity: 'critical',
    labels: { route },
    description:
      '20% of the reviews of admission_no_downscale in mimir are not answered with 200, or denied because it could not be determined whether they are allowed.',
  },
  {
    alert: 'RolloutOperatorWebhookSlow',
    series: {
      [of(`${reviews}_bucket`, { ...review, status_code: '200', le: '5' })]: '0x60',
      [of(`${reviews}_bucket`, { ...review, status_code: '200', le: '10' })]: '0+60x60',
      [of(`${reviews}_bucket`, { ...review, status_code: '200', le: '+Inf' })]: '0+60x60',
    },
    at: 20,
    severity: 'warning',
    labels: { route: 'admission_no_downscale' },
    description:
      'One review of admission_no_downscale in a hundred takes 9.95s in mimir; the API server waits 10 s.',
  },
  {
    alert: 'RolloutOperatorWebhookIgnored',
    series: {
      [of('kube_validating_webhook_failure_policy', {
        type: 'ValidatingWebhook',
        webhook: 'no-downscale-mimir.grafana.com',
        policy: 'Ignore',
      })]: '1x90',
    },
    at: 61,
    severity: 'warning',
    labels: { type: 'ValidatingWebhook', webhook: 'no-downscale-mimir.grafana.com' },
    description:
      'failurePolicy of no-downscale-mimir.grafana.com is Ignore, so what it guards is unguarded while the operator is away.',
  },
  {
    alert: 'RolloutOperatorCertificateExpiring',
    series: {
      [of('rollout_operator_certificate_expiry_timestamp_seconds', { instance: 'a' })]:
        '1000000x90',
      [of('rollout_operator_certificate_expiry_timestamp_seconds', { instance: 'b' })]:
        '9000000x90',
    },
    at: 61,
    severity: 'critical',
    labels: {},
    description: 'It expires in 11d 12h 45m 40s in mimir; then every review fails.',
  },
  {
    alert: 'RolloutOperatorCertificateRotationWaiting',
    series: {
      [of('rollout_operator_certificate_rotation_waiting', { reason: 'SecretRefused' })]: '1x90',
    },
    at: 61,
    severity: 'warning',
    labels: { reason: 'SecretRefused' },
    description: 'The change in mimir waits: SecretRefused.',
  },
  {
    alert: 'RolloutOperatorWebhookWithoutCa',
    series: { [of('rollout_operator_webhook_configurations_without_ca')]: '2x30' },
    at: 11,
    severity: 'critical',
    labels: {},
    description:
      '2 webhook configurations of mimir lack the CA of this operator, so calls to them fail.',
  },
  {
    alert: 'RolloutOperatorWebhookNotRouted',
    series: {
      [of('rollout_operator_webhook_reviews_not_routed', { reason: 'PodNotLabelled' })]: '1x30',
    },
    at: 11,
    severity: 'critical',
    labels: { reason: 'PodNotLabelled' },
    description: 'The Service of the webhooks in mimir does not select a replica: PodNotLabelled.',
  },
];

/** Webhooks and their certificate. Near to an alert, and no reason for it. */
export const webhookSilent: Readonly<Record<string, SilentCase>> = {
  'the webhooks of PhasedRollouts are as they are shipped': {
    alert: 'RolloutOperatorWebhookIgnored',
    series: Object.fromEntries(
      ['mphasedrollout-v1alpha1.kb.io', 'vphasedrollout-v1alpha1.kb.io'].map((webhook) => [
        of('kube_validating_webhook_failure_policy', { webhook, policy: 'Ignore' }),
        '1x90',
      ]),
    ),
    at: 61,
  },
  'probes fail, and no review does': {
    alert: 'RolloutOperatorWebhookErrors',
    series: {
      [of(`${reviews}_count`, { method: 'GET', route: 'ready', status_code: '500' })]: '0+60x60',
      [of(`${reviews}_count`, { ...review, status_code: '200' })]: '0+60x60',
    },
    at: 50,
  },
  'all is denied by rules, and by pods that are not prepared': {
    alert: 'RolloutOperatorWebhookErrors',
    series: {
      [of(outcomes, { route, outcome: 'Denied' })]: '0+60x60',
      [of(outcomes, { route, outcome: 'PodNotPrepared' })]: '0+60x60',
    },
    at: 50,
  },
  'the certificate has two weeks and a day': {
    alert: 'RolloutOperatorCertificateExpiring',
    series: { [of('rollout_operator_certificate_expiry_timestamp_seconds')]: '1300000x90' },
    at: 80,
  },
};
